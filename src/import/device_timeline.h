#pragma once
// Memory in use by GPU over time, from samples that need not tell every GPU at every moment: a GPU keeps its level
// until the next one is told, and has none before its first.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/category_timeline.h"
#include "model/device_log.h"

namespace vramscope {

// `Key`: what the source calls a GPU.
class DeviceTimeline {
 public:
  using Key = std::uint64_t;

  // A further moment; times earlier than the last are passed over, with what is told of them. False then.
  bool begin(std::int64_t time_ns);
  // Of the moment that began last.
  void set(Key gpu, std::int64_t bytes) { level_[gpu] = bytes; }
  // Behind the last set() of a moment.
  void end();
  bool empty() const { return times_.empty(); }
  // `name_of` gives the name of a GPU's category. What was gathered is given away.
  template <typename NameOf>
  CategoryTimeline take(NameOf name_of) {
    CategoryTimeline timeline;
    timeline.time_ns = std::move(times_);
    for (auto& [gpu, values] : used_) {
      timeline.categories.push_back(name_of(gpu));
      values.resize(timeline.time_ns.size(), values.empty() ? 0 : values.back());
      timeline.bytes.push_back(std::move(values));
    }
    used_.clear();
    return timeline;
  }

 private:
  Column<std::int64_t> times_;
  std::map<Key, std::int64_t> level_;
  std::map<Key, Column<std::int64_t>> used_;
};

// Every how many moments of a log its timeline takes one, so that it stays within 256 MiB: 1 but for logs of months.
std::uint32_t timeline_step(const DeviceLog& log);
// Of a log: "GPU 0" and so on; without times by number of sample.
CategoryTimeline timeline_of(const DeviceLog& log);

}  // namespace vramscope
