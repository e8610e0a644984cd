#pragma once
// Joins what the parsers of nvidia-smi's layouts find into one DeviceLog: finds the device meant, keeps runs of equal
// values, counts trouble. Not thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/readers/nvidia_smi/cells.h"
#include "import/readers/nvidia_smi/times.h"
#include "model/source.h"

namespace vramscope::nvidia_smi {

// What a log tells of a GPU to say which one it means; all may be missing.
struct DeviceKey {
  std::optional<std::int64_t> index;
  std::string_view uuid, bus_id;
};

// In place of a device beyond the most that are kept: what is set of it is left out.
inline constexpr std::uint32_t kNoDevice = UINT32_MAX;

class LogBuilder {
 public:
  LogBuilder();

  // Ends the moment before. What is set belongs to the moment that is open; without one, one is opened.
  void begin_moment();
  // Of the open moment; the first time it is told counts.
  void set_time(const LogTime& time, std::int64_t offset);

  // The device that the key means, at its place in DeviceLog::devices: by bus id, else uuid, else index; a key without
  // any of them means the first device.
  std::uint32_t device(const DeviceKey& key);
  // A MIG device of the GPU, by its instances, which may be unknown, or its number.
  std::uint32_t mig_device(std::uint32_t gpu, std::optional<std::int64_t> index,
                           std::optional<std::int64_t> gpu_instance, std::optional<std::int64_t> compute_instance);

  void learn_uuid(std::uint32_t device, std::string_view uuid);
  // Where the log itself has told none.
  void set_index(std::uint32_t device, std::int64_t index) {
    if (device != kNoDevice && !log_.devices[device].index) log_.devices[device].index = index;
  }

  void set(std::uint32_t device, Metric metric, const Cell& cell);
  // Parses; a text that is no value of the metric is counted as odd_value.
  void set_text(std::uint32_t device, Metric metric, std::string_view text, std::string_view unit, std::int64_t offset);
  void set_driver(std::string_view version) { log_.driver_version = std::string(version); }
  void set_cuda(std::string_view version) { log_.cuda_version = std::string(version); }

  // The open moment lists processes, be it none.
  void list_processes();
  // `use.process` is found from pid and name.
  void add_use(LogUse use, std::int64_t pid, std::string_view name);

  void add_part(const char* part);  // "csv"
  void unknown_field(std::string_view name);
  void note(const char* trouble, std::int64_t offset, std::int64_t count = 1);
  bool is_empty() const { return log_.devices.empty() && log_.moments == 0; }

  // Fills format-independent parts of the source: device_log, memory_timeline, environment, events, times, trouble.
  void finish(Source& source);

 private:
  struct Slot {
    std::vector<std::uint16_t> place;    // metric -> place in LogDevice::series + 1
    std::vector<std::uint32_t> told_at;  // of each series: the moment that told it last
    std::string uuid, bus_id;            // normalised; empty when not told
  };
  void end_moment();
  std::uint32_t add_device();
  void learn(std::uint32_t at, const DeviceKey& key, const std::string& uuid, const std::string& bus_id);
  std::int64_t text_id(std::string_view text);
  void finish_times();
  void fill_source(Source& source);

  DeviceLog log_;
  std::vector<Slot> slots_;
  bool is_open_ = false;
  bool has_time_ = false;  // of the open moment
  std::optional<LogTime> first_time_;
  std::int64_t midnight_ns_ = 0;  // of time_of_day: how many days have gone by
  std::optional<std::int64_t> last_time_ns_;
  std::unordered_map<std::string, std::int64_t> text_ids_;
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> process_ids_;
  std::map<std::string, std::int64_t> unknown_;
  std::map<std::string, Trouble> trouble_;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> told_now_;  // device and series whose last run is a value
  std::vector<std::int64_t> told_;                                 // by metric: values told
};

}  // namespace vramscope::nvidia_smi
