#include "report/nvtop_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "report/json.h"

namespace vramscope {

namespace {

using Value = std::optional<std::string>;
using Members = std::vector<std::pair<const char*, Value>>;

std::string quoted(std::string_view text) {
  JsonWriter json;
  json.value(text);
  std::string out = json.text();
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

Value with_unit(std::optional<std::int64_t> number, std::string_view unit, std::int64_t divisor = 1) {
  if (!number) return std::nullopt;
  return fmt::format("{}{}", *number / divisor, unit);
}

Value text_or_null(std::string_view text) {
  return text.empty() ? Value() : Value(std::string(text));
}

Value temperature(const DeviceSample& device, bool fahrenheit) {
  const auto celsius = device.number(Metric::temperature_gpu);
  if (!celsius || !fahrenheit) return with_unit(celsius, "C");
  return fmt::format("{}F", std::lround(32 + static_cast<double>(*celsius) * 1.8));
}

Value share(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return fmt::format("{:.0f}%", std::floor(static_cast<double>(*part) * 100 / static_cast<double>(*whole)));
}

Members members_of(const DeviceSample& device, const NvtopOptions& options) {
  const auto number = [&](Metric metric) { return device.number(metric); };
  const auto used = number(Metric::memory_used), total = number(Metric::memory_total);
  return {{"device_name", text_or_null(device.text(Metric::name))},
          {"gpu_clock", with_unit(number(Metric::clocks_current_sm), "MHz")},
          {"mem_clock", with_unit(number(Metric::clocks_current_memory), "MHz")},
          {"temp", temperature(device, options.fahrenheit)},
          {"fan_speed", with_unit(number(Metric::fan_speed), "%")},
          {"power_draw", with_unit(number(Metric::power_draw), "W", 1000)},
          {"gpu_util", with_unit(number(Metric::utilization_gpu), "%")},
          {"encode", with_unit(number(Metric::utilization_encoder), "%")},
          {"decode", with_unit(number(Metric::utilization_decoder), "%")},
          {"mem_util", share(used, total)},
          {"mem_total", with_unit(total, "")},
          {"mem_used", with_unit(used, "")},
          {"mem_free", with_unit(number(Metric::memory_free), "")}};
}

const char* kind_of(ProcessType type) {
  if (type == ProcessType::graphics) return "graphic";
  return type == ProcessType::compute ? "compute" : "graphic & compute";
}

Members members_of(const LiveSample& sample, const DeviceSample& device, const DeviceProcess& process) {
  const HostProcess* host = sample.find(process.pid);
  const bool is_seen = host != nullptr && host->presence == Presence::seen;
  Value command, user;
  if (is_seen) command = host->process.command ? *host->process.command : host->process.name;
  if (is_seen && host->process.user) user = *host->process.user;
  return {{"pid", std::to_string(process.pid)},
          {"cmdline", std::move(command)},
          {"kind", kind_of(process.type)},
          {"user", std::move(user)},
          {"gpu_usage", with_unit(process.sm_percent, "%")},
          {"gpu_mem_bytes_alloc", with_unit(process.used_bytes, "")},
          {"gpu_mem_usage", share(process.used_bytes, device.number(Metric::memory_total))},
          {"encode", with_unit(process.encoder_percent, "%")},
          {"decode", with_unit(process.decoder_percent, "%")}};
}

std::string lines_of(const Members& members, std::string_view indent) {
  std::string text;
  for (const auto& [name, value] : members) {
    if (!text.empty()) text += ",\n";
    text += fmt::format("{}\"{}\": {}", indent, name, value ? quoted(*value) : "null");
  }
  return text;
}

}  // namespace

std::string nvtop_json(const LiveSample& sample, const NvtopOptions& options) {
  std::string text;
  for (const DeviceSample& device : sample.devices()) {
    if (device.parent) continue;  // nvtop knows GPUs alone
    text += text.empty() ? "  {\n" : ",\n  {\n";
    text += lines_of(members_of(device, options), "   ");
    if (options.with_processes) {
      std::string list;
      for (const DeviceProcess& process : device.processes) {
        list += list.empty() ? "     {\n" : ",\n     {\n";
        list += lines_of(members_of(sample, device, process), "       ") + "\n     }";
      }
      text += ",\n   \"processes\" : [\n" + list + (list.empty() ? "" : "\n") + "   ]";
    }
    text += "\n  }";
  }
  return "[\n" + text + (text.empty() ? "" : "\n") + "]\n";
}

}  // namespace vramscope
