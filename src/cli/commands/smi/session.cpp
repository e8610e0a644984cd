#include "cli/commands/smi/session.h"

#include <algorithm>
#include <cstdio>

#include "report/smi_text.h"

namespace vramscope {

namespace {

constexpr int kGpuIsLost = 15, kUnknownError = 999, kOther = 255;

// The code with which the GPU could not be opened, 0 when it could. What was opened has a name or a UUID.
int open_code(const DeviceSample& gpu) {
  if (gpu.values.is_known(Metric::name) || gpu.values.is_known(Metric::uuid)) return 0;
  const MetricValue& name = gpu.values[Metric::name];
  if (gpu.is_lost || name.state == ValueState::lost) return kGpuIsLost;
  if (name.state == ValueState::failed) return static_cast<int>(name.number);
  return name.state == ValueState::no_permission ? 4 : 0;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return out;
}

// "00000000:0C:00.0", "0000:0c:00.0", "0C:00.0" and "0C:00" are one place.
bool is_bus_id(std::string_view known, std::string_view asked) {
  if (asked.find(':') == asked.npos || known.empty()) return false;
  std::string full = upper(asked);
  if (full.find('.') == full.npos) full += ".0";
  const auto colons = std::count(full.begin(), full.end(), ':');
  if (colons == 1) full.insert(0, "0:");
  const std::size_t domain = full.find(':');
  constexpr std::size_t kDigits = 8;
  if (domain < kDigits) full.insert(0, kDigits - domain, '0');
  return full == upper(known);
}

}  // namespace

bool is_smi_gpu(const DeviceSample& gpu, const std::vector<std::string>& ids) {
  if (ids.empty()) return true;
  const std::string_view uuid = gpu.text(Metric::uuid);
  const std::string_view serial = gpu.text(Metric::serial);
  const std::string_view bus_id = gpu.text(Metric::pci_bus_id);
  return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
    return id == std::to_string(gpu.index) || (!uuid.empty() && upper(id) == upper(uuid)) ||
           (!serial.empty() && id == serial) || is_bus_id(bus_id, id);
  });
}

void SmiSession::choose(const std::vector<DeviceSample>& samples) {
  for (std::size_t place = 0; place < samples.size(); ++place) {
    const DeviceSample& gpu = samples[place];
    if (gpu.parent || !is_smi_gpu(gpu, options.ids)) continue;
    const int problem = open_code(gpu);
    if (problem == 0) {
      chosen.push_back(place);
      continue;
    }
    std::fputs(smi_device_error(gpu.index, problem).c_str(), stderr);
    code = problem == kUnknownError || problem > kOther ? kOther : problem;
  }
}

const std::vector<DeviceSample>& SmiSession::sample(const Wanted& wanted) {
  const std::vector<DeviceSample>& samples = source->sample(wanted, smi_monotonic_ns() - started_ns_);
  if (!was_chosen_) choose(samples);
  was_chosen_ = true;
  for (const std::size_t place : chosen) {
    if (place < samples.size() && samples[place].is_lost) code = kGpuIsLost;
  }
  return samples;
}

int end_of_smi(const SmiSession& session, bool could_write) {
  if (could_write || session.output.is_closed()) return session.code;
  std::perror("vramscope");
  return kOther;
}

}  // namespace vramscope
