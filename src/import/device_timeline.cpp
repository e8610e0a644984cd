#include "import/device_timeline.h"

namespace vramscope {

bool DeviceTimeline::begin(std::int64_t time_ns) {
  if (!times_.empty() && time_ns < times_.back()) return false;
  times_.push_back(time_ns);
  return true;
}

void DeviceTimeline::end() {
  for (const auto& [gpu, bytes] : level_) {
    Column<std::int64_t>& column = used_[gpu];
    column.resize(times_.size() - 1, 0);
    column.push_back(bytes);
  }
}

std::uint32_t timeline_step(const DeviceLog& log) {
  constexpr std::uint64_t kMostValues = std::uint64_t{1} << 25;
  std::uint64_t gpus = 0;
  for (const LogDevice& device : log.devices) gpus += device.parent ? 0u : 1u;
  return static_cast<std::uint32_t>(1 + gpus * log.moments / kMostValues);
}

CategoryTimeline timeline_of(const DeviceLog& log) {
  const std::uint32_t step = timeline_step(log);
  struct Reading {
    std::size_t device;
    const LogSeries* series;
    std::size_t run;  // the next to begin
  };
  std::vector<Reading> readings;
  for (std::size_t d = 0; d < log.devices.size(); ++d) {
    if (log.devices[d].parent) continue;
    for (const LogSeries& series : log.devices[d].series) {
      if (series.metric == Metric::memory_used) readings.push_back({d, &series, 0});
    }
  }
  DeviceTimeline made;
  for (std::uint32_t moment = 0; moment < log.moments; ++moment) {
    bool has_level = false;
    bool is_begun = false;
    for (std::size_t i = 0; i < readings.size(); ++i) {
      Reading& reading = readings[i];
      const LogSeries& series = *reading.series;
      bool is_known = reading.run > 0 && series.state[reading.run - 1] == ValueState::known;
      if (reading.run < series.moment.size() && series.moment[reading.run] == moment) {
        is_known = series.state[reading.run] == ValueState::known;
        ++reading.run;
      }
      if (!is_known) continue;
      if (step > 1 && moment % step != 0 && moment + 1 < log.moments) continue;
      has_level = true;
      if (!is_begun) is_begun = made.begin(log.time_ns.empty() ? std::int64_t{moment} : log.time_ns[moment]);
      if (is_begun) made.set(reading.device, series.value[reading.run - 1]);
    }
    if (has_level && is_begun) made.end();
  }
  CategoryTimeline timeline =
      made.take([&](DeviceTimeline::Key gpu) { return "GPU " + std::to_string(shown_index(log, gpu)); });
  timeline.is_sample_numbers = log.clock == LogClock::none;
  timeline.is_relative = log.clock == LogClock::time_of_day || log.clock == LogClock::none;
  return timeline;
}

}  // namespace vramscope
