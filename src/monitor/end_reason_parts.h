#pragma once
// The pieces of explain_end(). Each tells its reason, or nothing where its evidence is missing.
#include <optional>
#include <string>
#include <vector>

#include "monitor/end_reason.h"

namespace vramscope {

// What several of them ask.
class EndView {
 public:
  explicit EndView(const EndFacts& facts);

  const EndFacts& facts;
  // Signs of the last minute, in order; where ranks wait for each other, of the last quarter of an hour.
  std::vector<const OutputSign*> signs;
  // The exception that ended it, if one did.
  const OutputSign* exception = nullptr;
  bool has_ranks = false;  // several processes wrote to the output

  bool is_killed() const;  // it, or a process that it depended on, got SIGKILL
  // Signal of its end, also where a shell tells it as an exit code; not that of a worker.
  std::optional<int> signal() const;
  bool is_recent(std::int64_t time_ns) const;
  const OutputSign* first(SignKind kind) const;
  bool has_process(std::optional<std::int32_t> pid) const { return pid && facts.names.count(*pid) != 0; }
  std::string name_of(std::int32_t pid) const;
  // The worker that a sign, a death or the kernel names; nothing for the program itself.
  std::optional<EndedWorker> worker() const;
  std::optional<EndedWorker> worker(std::int32_t pid, std::optional<int> signal) const;
};

using EndRule = std::optional<EndReason> (*)(const EndView& view);
std::optional<EndReason> killed_for_host_memory(const EndView& view);
std::optional<EndReason> own_gpu_out_of_memory(const EndView& view);
std::optional<EndReason> own_host_out_of_memory(const EndView& view);
std::optional<EndReason> shared_memory_full(const EndView& view);
std::optional<EndReason> driver_failed(const EndView& view);
std::optional<EndReason> device_error(const EndView& view);
std::optional<EndReason> worker_ended(const EndView& view);
std::optional<EndReason> communication_failed(const EndView& view);
std::optional<EndReason> python_exception(const EndView& view);
std::optional<EndReason> gpu_full_by_curve(const EndView& view);
std::optional<EndReason> plain_signal(const EndView& view);

// Of the device that it used last, or filled.
std::optional<EndCurve> end_curve(const EndFacts& facts);
// The device that was full in the last seconds while the program's memory on it rose more than that of others.
const DeviceHistory* filled_device(const EndFacts& facts);

// "output, line 12".
Evidence from_output(const char* what, const std::string& text, std::int64_t line);
Evidence from_kernel(const std::string& text);

}  // namespace vramscope
