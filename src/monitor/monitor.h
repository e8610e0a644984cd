#pragma once
// What is remembered of the samples of a watch: curves, growth, who came and went. Everything that speaks of more than
// one sample asks here: verdicts, alerts, lines of `watch`, the reasons why a program ended.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/growth_watch.h"
#include "monitor/recent_mean.h"
#include "monitor/series_history.h"
#include "sampling/live_sample.h"

namespace vramscope {

// Of a GPU or a MIG device; kept when it is lost.
struct DeviceHistory {
  std::string uuid;
  int index = 0;
  std::optional<int> parent_index;  // of a MIG device: the index of its GPU
  std::string name;
  bool is_lost = false;
  std::optional<std::int64_t> lost_since_ns;
  std::optional<std::int64_t> memory_total_bytes;
  std::optional<std::int64_t> memory_reserved_bytes;
  SeriesHistory memory_used;  // bytes
  RecentMean utilisation;     // percent
  GrowthWatch growth;
  std::optional<std::int64_t> xid_last;
};

// Memory of one process on one device.
struct HolderHistory {
  std::int64_t id = 0;  // rises with each new one
  ProcessKey key;
  std::string device_uuid;
  std::string name;     // of the process
  std::string user;     // empty: unknown
  std::string command;  // empty: unknown
  SeriesHistory memory_used{SeriesHistory::kBriefBuckets};
  GrowthWatch growth;
  std::int64_t first_seen_ns = 0;
  std::int64_t last_seen_ns = 0;
  std::optional<std::int64_t> gone_since_ns;  // it holds nothing on this device any more
  std::optional<std::int64_t> idle_since_ns;  // its share of the device has been 0 since then; empty: busy or unknown
  // Its allocator has kept kWorthOfCache or more without use since then, and at least so much.
  std::optional<std::int64_t> idle_cache_since_ns;
  std::int64_t least_idle_cache_bytes = 0;
};

class Monitor {
 public:
  // Holders that are gone are forgotten after this time.
  static constexpr std::int64_t kKeepGoneNs = 10LL * 60 * 1'000'000'000;

  static constexpr std::int64_t kWorthOfCache = std::int64_t{1} << 30;  // bytes; a little is always kept

  // Samples in the order of time.
  void add(const LiveSample& sample);

  std::int64_t first_time_ns() const { return first_time_ns_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }
  std::int64_t sample_count() const { return sample_count_; }
  // In the order of the backend's list.
  const std::vector<DeviceHistory>& devices() const { return devices_; }
  const DeviceHistory* find_device(std::string_view uuid) const;
  // In the order in which they were first seen. Those that are gone too, for kKeepGoneNs.
  const std::vector<HolderHistory>& holders() const { return holders_; }
  const HolderHistory* find_holder(const ProcessKey& key, std::string_view device_uuid) const;
  // Until the device is full, at the rate at which its memory grows; empty when it does not grow or its size is
  // unknown.
  std::optional<std::int64_t> time_until_full_ns(const DeviceHistory& device) const;

 private:
  void add_device(const LiveSample& sample, std::size_t place);
  void add_holder(const LiveSample& sample, const std::string& uuid, const DeviceProcess& process);

  std::vector<DeviceHistory> devices_;
  std::vector<HolderHistory> holders_;
  std::size_t next_holder_ = 0;
  std::int64_t last_id_ = 0;
  std::int64_t first_time_ns_ = 0;
  std::int64_t last_time_ns_ = 0;
  std::int64_t sample_count_ = 0;
};

}  // namespace vramscope
