#pragma once
// Makes a DeviceLog of what is told moment by moment: by devices that are looked at, or by a recording. A value holds
// until another is told. Not thread-safe.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/device_log.h"

namespace vramscope {

class DeviceLogBuilder {
 public:
  // What is set belongs to the moment that began last; what is set before the first, to the first. A time that falls
  // is taken as that of the moment before; with the same time as before no moment begins.
  void begin_moment(std::int64_t time_ns);

  // The new device's place in DeviceLog::devices.
  std::uint32_t add_device(LogDevice device);
  LogDevice& device(std::uint32_t at) { return log_.devices[at]; }
  // Any metric that is no text. `value`: the number, or, of a failed one, the driver's error code.
  void set(std::uint32_t device, Metric metric, ValueState state, std::int64_t value);
  void set_text(std::uint32_t device, Metric metric, std::string_view text);

  // The moment lists processes, be it none.
  void list_processes();
  std::uint32_t add_process(LogProcess process);
  LogProcess& process(std::uint32_t at) { return log_.processes[at]; }
  void add_use(const LogUse& use);

  bool empty() const { return log_.moments == 0 || log_.devices.empty(); }
  // `clock`: what the times count from. The builder is of no use afterwards.
  DeviceLog take(LogClock clock, std::string part);

 private:
  void add_run(std::uint32_t device, Metric metric, ValueState state, std::int64_t value);
  std::uint32_t now() const { return log_.moments == 0 ? 0 : log_.moments - 1; }

  DeviceLog log_;
  std::vector<std::vector<std::uint16_t>> places_;  // of each device: metric -> place in LogDevice::series + 1
  std::map<std::string, std::int64_t, std::less<>> text_ids_;
};

}  // namespace vramscope
