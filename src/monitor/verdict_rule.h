#pragma once
// A verdict looks at the latest sample and at what is remembered, and says what is wrong with a GPU now. One .cpp in
// verdicts/ that defines `verdict_<file name>()` adds one. Pure: no I/O, no clock, no locale.
#include <vector>

#include "model/values.h"
#include "model/verdict.h"
#include "monitor/monitor.h"
#include "sampling/live_sample.h"

namespace vramscope {

struct VerdictInput {
  const LiveSample& sample;
  const Monitor& monitor;  // after it took that sample
};

struct VerdictRule {
  const char* id;     // "memory-high"
  const char* about;  // English msgid, one line: what it looks for
  void (*judge)(const VerdictInput& input, std::vector<Verdict>& verdicts);
};

// Every verdict there is, by id.
const std::vector<VerdictRule>& verdict_rules();
// What all of them say, worst first, then by GPU.
std::vector<Verdict> judge(const VerdictInput& input);

// --- for the rules ------------------------------------------------------------------------------------------------

// A verdict about a device with the arguments {gpu} (its index), {name} and, of a MIG device, {mig}.
Verdict about_device(const LiveSample& sample, const DeviceSample& device, const char* id, Severity severity);
// The same about a process on it, with {pid}, {process}, {user}, {used} besides.
Verdict about_process(const LiveSample& sample, const DeviceSample& device, const DeviceProcess& process,
                      const char* id, Severity severity);
// What of its memory a device can give: total without what the driver reserves. Empty when unknown.
std::optional<std::int64_t> usable_bytes(const DeviceSample& device);
std::optional<double> used_share(const DeviceSample& device);
const DeviceHistory* history_of(const VerdictInput& input, const DeviceSample& device);
// Adds what holds most of its memory to the evidence, at most three processes.
void add_largest_holders(const LiveSample& sample, const DeviceSample& device, Verdict& verdict);
// "python3 train.py" or "pid 4242", safe to print.
std::string process_name(const LiveSample& sample, std::int64_t pid);
// False for devices that the kernel's DRM drivers show: NVIDIA's tools do not know them.
bool is_nvidias(const DeviceSample& device);
bool has_mig_devices(const LiveSample& sample, const DeviceSample& device);

}  // namespace vramscope
