// What the driver remembers of processes while accounting mode is on, also of those that have ended.
#include <algorithm>

#include "devices/backends/nvml/device.h"

namespace vramscope::nvml {

namespace {

constexpr std::size_t kMostPids = 65536;

std::optional<std::int64_t> known(unsigned percent) {
  constexpr unsigned kMostPercent = 100;  // not available is all bits set
  if (percent > kMostPercent) return std::nullopt;
  return percent;
}

int read_pids(const Functions& call, Handle device, std::vector<unsigned>& pids) {
  pids.resize(1024);
  int code = kInsufficientSize;
  for (int attempt = 0; attempt < 4 && code == kInsufficientSize; ++attempt) {
    auto count = static_cast<unsigned>(pids.size());
    code = call.accounting_pids(device, &count, pids.data());
    const std::size_t most = code == kSuccess ? pids.size() : kMostPids;
    pids.resize(std::min<std::size_t>(count, most));
  }
  return code;
}

}  // namespace

int read_accounted(const Functions& call, Handle device, std::vector<AccountedProcess>& out) {
  if (call.accounting_pids == nullptr || call.accounting_stats == nullptr) return kFunctionNotFound;
  std::vector<unsigned> pids;
  const int code = read_pids(call, device, pids);
  if (code != kSuccess) return code;
  for (const unsigned pid : pids) {
    AccountingStats stats{};
    // An entry may have been overwritten by a newer process since the list was made.
    if (call.accounting_stats(device, pid, &stats) != kSuccess) continue;
    AccountedProcess process;
    process.pid = pid;
    process.gpu_percent = known(stats.gpu);
    process.memory_percent = known(stats.memory);
    if (stats.max_memory >> 63 == 0) process.max_memory_bytes = static_cast<std::int64_t>(stats.max_memory);
    if (stats.time_ms >> 63 == 0) process.time_ms = static_cast<std::int64_t>(stats.time_ms);
    process.is_running = stats.is_running != 0;
    out.push_back(process);
  }
  return kSuccess;
}

}  // namespace vramscope::nvml
