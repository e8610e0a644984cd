#include "import/readers/rocm_smi/fields.h"

#include <algorithm>
#include <iterator>

#include "import/readers/nvidia_smi/cells.h"

namespace vramscope::rocm_smi {

namespace {

// The junction is hotter than the edge; where both are told the edge is the GPU's temperature (parser.cpp).
constexpr Field kFields[] = {
    {"vram total memory (b)", Metric::memory_total, "B"},
    {"vram total used memory (b)", Metric::memory_used, "B"},
    {"gpu use (%)", Metric::utilization_gpu, "%"},
    {"gpu memory use (%)", Metric::utilization_memory, "%"},
    {"gpu memory read/write activity (%)", Metric::utilization_memory, "%"},
    {"temperature (sensor edge) (c)", Metric::temperature_gpu, "C"},
    {"temperature (sensor junction) (c)", Metric::temperature_gpu, "C"},
    {"temperature (sensor memory) (c)", Metric::temperature_memory, "C"},
    {"average graphics package power (w)", Metric::power_draw, "W"},
    {"average socket graphics package power (w)", Metric::power_draw, "W"},
    {"current socket graphics package power (w)", Metric::power_draw, "W"},
    {"max graphics package power (w)", Metric::enforced_power_limit, "W"},
    {"fan speed (%)", Metric::fan_speed, "%"},
    {"fan level", Metric::fan_speed, "%"},
    {"sclk clock speed", Metric::clocks_current_sm, "MHz"},
    {"sclk clock level", Metric::clocks_current_sm, "MHz"},
    {"mclk clock speed", Metric::clocks_current_memory, "MHz"},
    {"mclk clock level", Metric::clocks_current_memory, "MHz"},
    {"card series", Metric::name, ""},
    {"device name", Metric::name, ""},
    {"pci bus", Metric::pci_bus_id, ""},
};

constexpr Field kColumns[] = {
    {"temp", Metric::temperature_gpu, "C"},
    {"power", Metric::power_draw, "W"},
    {"avgpwr", Metric::power_draw, "W"},
    {"sclk", Metric::clocks_current_sm, "MHz"},
    {"mclk", Metric::clocks_current_memory, "MHz"},
    {"fan", Metric::fan_speed, "%"},
    {"pwrcap", Metric::enforced_power_limit, "W"},
    {"gpu%", Metric::utilization_gpu, "%"},
};

constexpr Field kXpuFields[] = {
    {"gpu utilization (%)", Metric::utilization_gpu, "%"},
    {"gpu power (w)", Metric::power_draw, "W"},
    {"gpu frequency (mhz)", Metric::clocks_current_sm, "MHz"},
    {"gpu core temperature (celsius degree)", Metric::temperature_gpu, "C"},
    {"gpu memory temperature (celsius degree)", Metric::temperature_memory, "C"},
    {"gpu memory bandwidth utilization (%)", Metric::utilization_memory, "%"},
    {"gpu memory used (mib)", Metric::memory_used, "MiB"},
};

template <std::size_t N>
const Field* find(const Field (&fields)[N], std::string_view name) {
  const std::string plain = plain_name(name);
  const auto* const found =
      std::find_if(std::begin(fields), std::end(fields), [&](const Field& field) { return field.name == plain; });
  return found == std::end(fields) ? nullptr : found;
}

}  // namespace

const Field* rocm_field(std::string_view name) {
  return find(kFields, name);
}

// "Temp (DieEdge)": what stands behind it tells the sensor.
const Field* rocm_column(std::string_view name) {
  return find(kColumns, name.substr(0, name.find('(')));
}

const Field* xpu_field(std::string_view name) {
  return find(kXpuFields, name);
}

std::string plain_name(std::string_view name) {
  name = nvidia_smi::trimmed(name);
  while (!name.empty() && name.back() == ':') name.remove_suffix(1);
  std::string plain(name);
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return plain;
}

std::string_view plain_value(std::string_view value) {
  value = nvidia_smi::trimmed(value);
  const std::size_t open = value.find('(');
  if (open != value.npos && value.back() == ')') value = value.substr(open + 1, value.size() - open - 2);
  const std::string plain = plain_name(value);
  if (plain == "n/a" || plain == "unsupported" || plain == "not supported") return "N/A";
  return value;
}

}  // namespace vramscope::rocm_smi
