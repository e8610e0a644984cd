#include "analysis/device_filter.h"

#include <algorithm>
#include <charconv>

namespace vramscope {

bool DeviceFilter::wants_memory(const MemoryDevice& device) const {
  if (all) return true;
  if (device.is_cpu()) return cpu;
  if (cpu || device.index != index) return false;
  if (type.empty()) return true;
  const std::string name = device.name();
  const std::string_view own = std::string_view(name).substr(0, name.find(':'));
  constexpr std::int32_t kHip = 6;
  return own == type || (type == "hip" && device.type == kHip);
}

std::optional<DeviceFilter> parse_device(std::string_view text) {
  DeviceFilter filter;
  filter.all = false;
  if (text == "cpu") {
    filter.cpu = true;
    return filter;
  }
  std::string_view number = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    filter.type = text.substr(0, colon);
    number = text.substr(colon + 1);
    if (filter.type.empty()) return std::nullopt;
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), filter.index);
  if (error != std::errc() || end != number.data() + number.size() || filter.index < 0) return std::nullopt;
  return filter;
}

bool is_in_trace(const DeviceFilter& filter, const Trace& trace) {
  if (filter.all || filter.cpu) return true;
  const auto& devices = trace.memory_devices;
  if (std::any_of(devices.begin(), devices.end(), [&](const MemoryDevice& d) { return filter.wants_memory(d); })) {
    return true;
  }
  for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
    if (is_device_work(trace.kind(i)) && trace.device_of(i) == filter.index) return true;
  }
  return false;
}

std::string_view device_label(const Trace& trace) {
  for (const MemoryDevice& device : trace.memory_devices) {
    switch (device.type) {
      case 1:
      case 6:
        return "CUDA";
      case 12:
        return "XPU";
      case 13:
        return "MPS";
      case 19:
        return "MTIA";
      case 20:
        return "PrivateUse1";
      default:
        break;
    }
  }
  for (const Category& category : trace.categories) {
    const std::string_view name = trace.strings.view(category.name);
    if (name.find("mtia") != std::string_view::npos) return "MTIA";
    if (name.find("xpu") != std::string_view::npos) return "XPU";
    if (name.find("privateuse1") != std::string_view::npos) return "PrivateUse1";
  }
  return "CUDA";
}

}  // namespace vramscope
