#pragma once
// The samples of a recording as a log of devices. Not thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/device_log_builder.h"
#include "recording/records.h"

namespace vramscope::recorded {

class RecordedLog {
 public:
  void add_subject(recording::SubjectId id, recording::SubjectKind kind, std::string_view key,
                   recording::SubjectId parent);
  void set_attribute(recording::SubjectId subject, std::string_view name, std::string_view value);
  void add_series(recording::SeriesId id, recording::SubjectId subject, std::string_view metric);
  // A chunk of them. `offset_ns`: what to add to their times for unix time.
  void add_samples(const std::vector<recording::Sample>& samples, std::int64_t offset_ns);
  // Empty where there are no devices or no moments.
  std::optional<DeviceLog> take();

 private:
  // A process as the host sees it, or its use of a device; both have one key.
  struct Process {
    std::optional<std::uint32_t> device;
    LogUse use;
  };
  // Where a sample of a series goes.
  struct Target {
    recording::SubjectId subject = recording::kNoId;
    std::optional<Metric> metric;      // of a device
    bool is_used = false;              // of a use: its memory
    std::optional<std::size_t> share;  // of a use: its place in LogUse::share_percent
  };
  void take_sample(const recording::Sample& sample);
  void end_moment();

  DeviceLogBuilder builder_;
  std::unordered_map<recording::SubjectId, std::uint32_t> devices_;
  std::map<recording::SubjectId, Process> processes_;
  std::unordered_map<recording::SeriesId, Target> series_;
  std::map<std::string, std::uint32_t> process_ids_;  // key -> DeviceLog::processes
  std::map<recording::SubjectId, LogUse> uses_;       // of the moment that is open
  std::optional<std::int64_t> open_ns_;               // its time
};

}  // namespace vramscope::recorded
