#include "cli/commands/watch/program.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "cli/inputs.h"
#include "fmt/format.h"
#include "report/phrases.h"
#include "report/watch_lines.h"
#include "system/child.h"
#include "system/memory_events.h"
#include "text/catalogue.h"
#include "text/curve.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// How often the kernel killed for want of host memory: where the program counts, and on the whole machine.
struct HostKills {
  std::optional<MemoryCgroup> cgroup;
  std::optional<std::int64_t> in_cgroup, on_host;
};

void count_kills(const Roots& roots, HostKills& kills) {
  if (kills.cgroup) {
    if (const auto memory = read_cgroup_memory(*kills.cgroup)) kills.in_cgroup = memory->oom_kills;
  }
  kills.on_host = read_host_memory(roots).oom_kills;
}

// What was sent to us alone is passed on; what the terminal sends has reached the program already.
void pass_on(const Descriptor& signals, Child& child) {
  signalfd_siginfo info{};
  while (read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_code <= 0) child.send(static_cast<int>(info.ssi_signo));
  }
}

// The device that the program filled, within the last seconds; null for none.
const DeviceHistory* filled_device(const Monitor& monitor, const std::set<std::int64_t>& pids) {
  constexpr double kFull = 0.95;
  for (const DeviceHistory& device : monitor.devices()) {
    const bool is_used =
        std::any_of(monitor.holders().begin(), monitor.holders().end(), [&](const HolderHistory& holder) {
          return holder.device_uuid == device.uuid && pids.count(holder.key.pid) != 0;
        });
    if (!is_used || !device.memory_total_bytes) continue;
    const auto range = device.memory_used.range_since(monitor.last_time_ns() - 10 * kSecondNs);
    const std::int64_t usable = *device.memory_total_bytes - device.memory_reserved_bytes.value_or(0);
    if (range && static_cast<double>(range->second) >= kFull * static_cast<double>(usable)) return &device;
  }
  return nullptr;
}

std::string curve_text(const DeviceHistory& device, std::int64_t since_ns) {
  CurveLine line;
  for (const TimedValue& point : device.memory_used.points_since(since_ns)) {
    line.points.emplace_back(point.time_ns, static_cast<double>(point.value));
  }
  if (line.points.size() < 2) return {};
  CurveOptions options;
  options.width = std::min<std::size_t>(table_columns(), 80);
  options.height = 6;
  options.ascii = !terminal().utf8;
  options.format_value = [](double bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); };
  options.format_time = [](std::int64_t ns) { return format_duration(ns / kSecondNs * kSecondNs); };
  return plot({line}, {}, options);
}

std::string how_it_ended(const ChildEnd& end, const std::string& name, std::int64_t lasted_ns) {
  const std::string time =
      lasted_ns < kSecondNs ? format_duration(lasted_ns) : format_duration(lasted_ns / kSecondNs * kSecondNs);
  if (end.signal != 0) {
    return filled(tr("{program} was killed by signal {number} ({name}) after {time}."), fmt::arg("program", name),
                  fmt::arg("number", end.signal), fmt::arg("name", std::string("SIG") + sigabbrev_np(end.signal)),
                  fmt::arg("time", time));
  }
  if (end.exit_code == 0) {
    return filled(tr("{program} ended well after {time}."), fmt::arg("program", name), fmt::arg("time", time));
  }
  return filled(tr("{program} ended with exit code {code} after {time}."), fmt::arg("program", name),
                fmt::arg("code", end.exit_code), fmt::arg("time", time));
}

bool rose(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& after) {
  return before && after && *after > *before;
}

// Why, as far as the kernel's counters and the curve of memory tell.
std::string why(const ChildEnd& end, const HostKills& before, const HostKills& after, const DeviceHistory* full) {
  if (rose(before.in_cgroup, after.in_cgroup)) {
    return filled(
        tr("The kernel killed for want of host memory: the limit of the control group {folder} was reached. Give "
           "it more memory, or use fewer loader workers and smaller batches on the CPU."),
        fmt::arg("folder", printable(before.cgroup->folders.front())));
  }
  if (end.signal == SIGKILL && rose(before.on_host, after.on_host)) {
    return tr(
        "The kernel killed for want of host memory at that time; `sudo dmesg | grep -i \"killed process\"` names the "
        "process.");
  }
  if (full != nullptr) {
    const auto last = full->memory_used.last();
    return filled(tr("Likely out of GPU memory: {used} of {total} on GPU {gpu} were in use just before. If its output "
                     "names an out-of-memory error, `vramscope diagnose` on that text explains it."),
                  fmt::arg("used", format_bytes(last ? last->value : 0)),
                  fmt::arg("total", format_bytes(*full->memory_total_bytes)), fmt::arg("gpu", full->index));
  }
  if (end.signal == SIGKILL) {
    return tr(
        "Who sent it cannot be known: a scheduler, `kill -9`, or a daemon that saves memory (systemd-oomd, "
        "earlyoom). The kernel's own counters show no kill for want of memory.");
  }
  return {};
}

void tell_end(WatchSession& session, const ChildEnd& end, const std::string& name, const std::string& reason,
              std::int64_t lasted_ns, const DeviceHistory* device) {
  const bool is_well = end.shell_code() == 0;
  const Severity severity = is_well ? Severity::info : Severity::error;
  const std::string how = how_it_ended(end, name, lasted_ns);
  session.teller().tell_end(end.exit_code, end.signal, how, reason, severity);
  if (Recorder* recorder = session.recorder()) {
    recorder->add_event(recording::EventKind::exit_reason, session.monitor().last_time_ns(), 0, end.shell_code(),
                        reason.empty() ? how : how + " " + reason);
  }
  if (is_well || device == nullptr) return;
  constexpr std::int64_t kLastNs = 60 * kSecondNs;
  const std::string curve = curve_text(*device, session.monitor().last_time_ns() - kLastNs);
  if (curve.empty()) return;
  session.teller().say(
      filled(tr("The last minute of the memory of GPU {gpu}:"), fmt::arg("gpu", device->index)) + "\n" + curve,
      Severity::info);
}

// The device whose curve is worth showing: the full one, else the first that the program used.
const DeviceHistory* shown_device(const Monitor& monitor, const std::set<std::int64_t>& pids,
                                  const DeviceHistory* full) {
  if (full != nullptr) return full;
  for (const HolderHistory& holder : monitor.holders()) {
    if (pids.count(holder.key.pid) != 0) return monitor.find_device(holder.device_uuid);
  }
  return nullptr;
}

}  // namespace

ExitCode watch_program(const WatchOptions& options, WatchSession& session, const Descriptor& signals) {
  const Roots roots;
  int start_code = 0;
  auto child = Child::start(options.command, start_code);
  if (!child) {
    fail(child.error());
    return static_cast<ExitCode>(start_code);
  }
  const std::int64_t began_ns = monotonic_now_ns();
  HostKills before;
  before.cgroup = find_memory_cgroup(roots, child->pid());
  count_kills(roots, before);
  while (true) {
    session.follow_tree(child->pid());
    session.sample_if_due();  // once at least, however short the program is
    if (child->poll_end()) break;
    pollfd ready[2] = {{signals.get(), POLLIN, 0}, {child->descriptor(), POLLIN, 0}};
    const int wait_ms = child->descriptor() >= 0 ? session.wait_ms() : std::min(session.wait_ms(), 50);
    poll(ready, child->descriptor() >= 0 ? 2 : 1, wait_ms);
    if ((ready[0].revents & POLLIN) != 0) pass_on(signals, *child);
  }
  const ChildEnd end = *child->poll_end();
  HostKills after = before;
  count_kills(roots, after);
  const std::set<std::int64_t>& pids = session.followed();
  const bool is_well = end.shell_code() == 0;
  const DeviceHistory* full = is_well ? nullptr : filled_device(session.monitor(), pids);
  const std::string name = elide_middle(printable(options.command[0]), 40);
  tell_end(session, end, name, is_well ? std::string() : why(end, before, after, full), monotonic_now_ns() - began_ns,
           shown_device(session.monitor(), pids, full));
  session.finish();
  return static_cast<ExitCode>(end.shell_code());
}

}  // namespace vramscope
