#include "monitor/verdict_rule.h"

#include <algorithm>

#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"
#include "verdict_table.h"

namespace vramscope {

const std::vector<VerdictRule>& verdict_rules() {
  static const std::vector<VerdictRule> sorted = [] {
    std::vector<VerdictRule> table = verdict_table();
    std::sort(table.begin(), table.end(),
              [](const VerdictRule& a, const VerdictRule& b) { return std::string_view(a.id) < b.id; });
    return table;
  }();
  return sorted;
}

std::vector<Verdict> judge(const VerdictInput& input) {
  std::vector<Verdict> all;
  for (const VerdictRule& rule : verdict_rules()) rule.judge(input, all);
  std::stable_sort(all.begin(), all.end(), [](const Verdict& a, const Verdict& b) {
    if (a.finding.severity != b.finding.severity) return a.finding.severity > b.finding.severity;
    return a.gpu.value_or(-1) < b.gpu.value_or(-1);
  });
  return all;
}

namespace {

// "?": nobody knows; reports make words of it.
std::string user_of(const HostProcess* host) {
  const bool has_user = host != nullptr && host->process.user && !host->process.user->empty();
  return has_user ? printable(*host->process.user) : "?";
}

}  // namespace

std::string process_name(const LiveSample& sample, std::int64_t pid) {
  const HostProcess* host = sample.find(pid);
  constexpr std::size_t kColumns = 60;
  const std::string name(host == nullptr ? std::string_view() : shown_name(*host));
  return name.empty() ? "pid " + std::to_string(pid) : elide_middle(printable(name), kColumns);
}

Verdict about_device(const LiveSample& sample, const DeviceSample& device, const char* id, Severity severity) {
  Verdict verdict;
  verdict.finding.rule = id;
  verdict.finding.severity = severity;
  verdict.finding.confidence = 1;
  const DeviceSample& gpu = device.parent ? sample.devices()[static_cast<std::size_t>(*device.parent)] : device;
  verdict.gpu = gpu.index;
  verdict.gpu_uuid = std::string(device.text(Metric::uuid));
  std::string gpu_name = std::to_string(gpu.index);
  if (device.parent) gpu_name += " MIG " + std::to_string(device.index);
  // One that was lost from the start has told no name.
  std::string name = printable(device.text(Metric::name));
  if (name.empty()) name = "GPU " + gpu_name;
  verdict.finding.arguments = {{"gpu", text_value(std::move(gpu_name))}, {"name", text_value(std::move(name))}};
  return verdict;
}

Verdict about_process(const LiveSample& sample, const DeviceSample& device, const DeviceProcess& process,
                      const char* id, Severity severity) {
  Verdict verdict = about_device(sample, device, id, severity);
  verdict.pid = process.pid;
  Arguments& arguments = verdict.finding.arguments;
  arguments.emplace_back("pid", text_value(std::to_string(process.pid)));
  arguments.emplace_back("process", text_value(process_name(sample, process.pid)));
  const HostProcess* host = sample.find(process.pid);
  arguments.emplace_back("user", text_value(user_of(host)));
  arguments.emplace_back("used", process.used_bytes ? bytes_value(*process.used_bytes) : text_value("N/A"));
  if (process.used_bytes) {
    verdict.finding.evidence.push_back({N_("memory held"), bytes_value(*process.used_bytes), {}});
  }
  if (host != nullptr && host->age_ns) {
    verdict.finding.evidence.push_back({N_("age of the process"), time_value(*host->age_ns), {}});
  }
  if (host != nullptr && host->process.ppid && *host->process.ppid > 0) {
    Evidence parent{N_("parent"), text_value(std::to_string(*host->process.ppid)), {}};
    if (host->parent_name && !host->parent_name->empty())
      parent.where = {"{name}", {{"name", text_value(printable(*host->parent_name))}}};
    verdict.finding.evidence.push_back(std::move(parent));
  }
  return verdict;
}

std::optional<std::int64_t> usable_bytes(const DeviceSample& device) {
  const auto total = device.number(Metric::memory_total);
  if (!total || *total <= 0) return std::nullopt;
  const std::int64_t usable = *total - device.number(Metric::memory_reserved).value_or(0);
  return usable > 0 ? std::optional(usable) : std::nullopt;
}

std::optional<double> used_share(const DeviceSample& device) {
  const auto usable = usable_bytes(device);
  const auto used = device.number(Metric::memory_used);
  if (!usable || !used) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*usable);
}

const DeviceHistory* history_of(const VerdictInput& input, const DeviceSample& device) {
  return input.monitor.find_device(device_key(input.sample, device));
}

void add_largest_holders(const LiveSample& sample, const DeviceSample& device, Verdict& verdict) {
  constexpr std::size_t kMost = 3;
  const DeviceSample& gpu = device.parent ? sample.devices()[static_cast<std::size_t>(*device.parent)] : device;
  std::vector<const DeviceProcess*> holders;
  for (const DeviceProcess& process : gpu.processes) {
    const bool is_here = !device.parent || process.gpu_instance == device.gpu_instance;
    if (process.used_bytes && is_here) holders.push_back(&process);
  }
  std::sort(holders.begin(), holders.end(),
            [](const DeviceProcess* a, const DeviceProcess* b) { return *a->used_bytes > *b->used_bytes; });
  if (holders.size() > kMost) holders.resize(kMost);
  for (const DeviceProcess* process : holders) {
    const HostProcess* host = sample.find(process->pid);
    verdict.finding.evidence.push_back({N_("held by a process"),
                                        bytes_value(*process->used_bytes),
                                        {N_("{pid} {process}, {user}"),
                                         {{"pid", text_value(std::to_string(process->pid))},
                                          {"process", text_value(process_name(sample, process->pid))},
                                          {"user", text_value(user_of(host))}}}});
  }
}

bool is_nvidias(const DeviceSample& device) {
  const std::string_view driver = device.text(Metric::kernel_driver);
  return driver.empty() || driver == "nvidia";
}

bool has_mig_devices(const LiveSample& sample, const DeviceSample& device) {
  const auto place = &device - sample.devices().data();
  return std::any_of(sample.devices().begin(), sample.devices().end(),
                     [&](const DeviceSample& other) { return other.parent && *other.parent == place; });
}

}  // namespace vramscope
