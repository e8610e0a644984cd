#include "analysis/process_series.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

std::optional<std::int64_t> end_of_logs(const Source& source) {
  std::optional<std::int64_t> end;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    for (std::size_t i = device.log.size(); i > 0; --i) {
      if (device.log.time_ns[i - 1] == kUnknown) continue;
      end = std::max(end.value_or(device.log.time_ns[i - 1]), device.log.time_ns[i - 1]);
      break;
    }
  }
  return end;
}

// Snapshots by the end of their logs, where all have one.
std::vector<const Source*> in_order(const Case& input, bool& is_by_time) {
  std::vector<std::pair<std::optional<std::int64_t>, const Source*>> found;
  for (const Source& source : input.sources) {
    if (source.memory_state) found.push_back({end_of_logs(source), &source});
  }
  is_by_time = std::all_of(found.begin(), found.end(), [](const auto& each) { return each.first.has_value(); });
  if (is_by_time) {
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  std::vector<const Source*> sources;
  for (const auto& each : found) sources.push_back(each.second);
  return sources;
}

bool is_used(const AllocatorDevice& device, const Segment& segment) {
  for (std::uint32_t i = segment.first_block; i < segment.last_block; ++i) {
    if (is_active(device.blocks[i].state)) return true;
  }
  return false;
}

}  // namespace

std::int64_t live_bytes(const AllocatorDevice& device) {
  std::int64_t bytes = 0;
  for (const Block& block : device.blocks) {
    if (!is_active(block.state)) continue;
    bytes = add_bytes(bytes, block.requested_bytes == kUnknown ? block.bytes : block.requested_bytes);
  }
  return bytes;
}

bool is_same_process(const AllocatorDevice& earlier, const AllocatorDevice& later) {
  absl::flat_hash_set<std::uint64_t> addresses;
  for (const Segment& segment : later.segments) addresses.insert(segment.address);
  std::size_t used = 0;
  std::size_t kept = 0;
  for (const Segment& segment : earlier.segments) {
    if (segment.address == kUnknownAddress || !is_used(earlier, segment)) continue;
    ++used;
    if (addresses.contains(segment.address)) ++kept;
  }
  return used > 0 && kept * 2 >= used;
}

std::vector<ProcessSeries> process_series(const Case& input) {
  bool is_by_time = false;
  std::vector<ProcessSeries> all;
  for (const Source* source : in_order(input, is_by_time)) {
    for (const AllocatorDevice& device : source->memory_state->devices) {
      const auto same = [&](const ProcessSeries& series) {
        return series.device == device.index && is_same_process(*series.devices.back(), device);
      };
      auto series = std::find_if(all.begin(), all.end(), same);
      if (series == all.end()) {
        all.push_back({device.index, is_by_time, {}, {}, {}});
        series = all.end() - 1;
      }
      series->sources.push_back(source);
      series->devices.push_back(&device);
      series->live_bytes.push_back(live_bytes(device));
    }
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& series) { return series.sources.size() < 2; }),
            all.end());
  return all;
}

}  // namespace vramscope
