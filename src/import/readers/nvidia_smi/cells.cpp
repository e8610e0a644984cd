#include "import/readers/nvidia_smi/cells.h"

#include <charconv>

#include "model/metric_smi.h"

namespace vramscope::nvidia_smi {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;  // no value of a metric is larger, bytes too

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal number at the front in units of 1/`scale`, to the nearest; `rest`: what follows it.
std::optional<std::int64_t> take_decimal(std::string_view text, std::int64_t scale, std::string_view& rest) {
  bool is_negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::int64_t value = 0;
  while (!text.empty() && is_digit(text[0])) {
    value = value * 10 + (text[0] - '0');
    if (value > kMost) return std::nullopt;
    text.remove_prefix(1);
  }
  if (value > kMost / scale) return std::nullopt;
  value *= scale;
  if (text.size() > 1 && text[0] == '.' && is_digit(text[1])) {
    text.remove_prefix(1);
    double part = static_cast<double>(scale);
    double fraction = 0;
    while (!text.empty() && is_digit(text[0])) {
      part /= 10;
      fraction += part * (text[0] - '0');
      text.remove_prefix(1);
    }
    value += static_cast<std::int64_t>(fraction + 0.5);
  }
  rest = trimmed(text);
  return is_negative ? -value : value;
}

struct Factor {
  std::string_view unit;
  std::int64_t factor;
};

std::optional<std::int64_t> factor_of(std::string_view unit, const std::vector<Factor>& factors) {
  for (const Factor& each : factors) {
    if (each.unit == unit) return each.factor;
  }
  return std::nullopt;
}

// Units by the metric's own; the first is nvidia-smi's. A number is counted in the unit behind it.
const std::vector<Factor>& factors_of(const MetricInfo& info) {
  static const std::vector<Factor> bytes = {{"MiB", 1 << 20}, {"MB", 1 << 20}, {"GiB", 1 << 30}, {"GB", 1 << 30},
                                            {"KiB", 1 << 10}, {"KB", 1 << 10}, {"B", 1},         {"bytes", 1},
                                            {"M", 1 << 20},   {"G", 1 << 30}};
  // NVML counts in KB of 1024 bytes, as src/devices takes it.
  static const std::vector<Factor> rates = {{"KB/s", 1 << 10}, {"MB/s", 1 << 20}, {"GB/s", 1 << 30}, {"B/s", 1}};
  static const std::vector<Factor> watts = {{"W", 1000}, {"mW", 1}, {"kW", 1'000'000}};
  static const std::vector<Factor> joules = {{"mJ", 1}, {"J", 1000}};
  static const std::vector<Factor> hertz = {{"MHz", 1}, {"Mhz", 1}, {"GHz", 1000}};
  static const std::vector<Factor> celsius = {{"C", 1},
                                              {"c", 1},
                                              {"\xc2\xb0"
                                               "C",
                                               1},
                                              {"'C", 1}};
  static const std::vector<Factor> percent = {{"%", 1}};
  static const std::vector<Factor> milliseconds = {{"ms", 1}, {"s", 1000}};
  static const std::vector<Factor> microseconds = {{"us", 1}, {"ms", 1000}, {"s", 1'000'000}};
  static const std::vector<Factor> count = {{"", 1}, {"x", 1}, {"bank(s)", 1}};
  switch (info.unit) {
    case MetricUnit::bytes:
      return bytes;
    case MetricUnit::bytes_per_second:
      return rates;
    case MetricUnit::milliwatts:
      return watts;
    case MetricUnit::millijoules:
      return joules;
    case MetricUnit::megahertz:
      return hertz;
    case MetricUnit::celsius:
      return celsius;
    case MetricUnit::percent:
      return percent;
    case MetricUnit::milliseconds:
      return milliseconds;
    case MetricUnit::microseconds:
      return microseconds;
    default:
      return count;
  }
}

// A number that stands with its unit, or without: then in `unit`, else in the first of `factors`.
std::optional<std::int64_t> measured(std::string_view text, std::string_view unit, const std::vector<Factor>& factors) {
  std::string_view behind;
  if (!take_decimal(text, 1, behind)) return std::nullopt;
  std::optional<std::int64_t> factor;
  if (!behind.empty()) {
    factor = factor_of(behind, factors);
  } else {
    factor = factor_of(unit, factors);
    if (!factor) factor = factors.front().factor;
  }
  return factor ? take_decimal(text, *factor, behind) : std::nullopt;
}

std::optional<std::int64_t> hexadecimal(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> flag(std::string_view text) {
  constexpr std::string_view kYes[] = {"Enabled", "Active", "Yes", "True", "On", "1", "yes", "enabled"};
  constexpr std::string_view kNo[] = {"Disabled", "Not Active", "No", "False", "Off", "0", "no", "disabled"};
  for (const std::string_view each : kYes) {
    if (text == each) return 1;
  }
  for (const std::string_view each : kNo) {
    if (text == each) return 0;
  }
  return std::nullopt;
}

bool is_hexadecimal(SmiPrint print) {
  return print == SmiPrint::hex || print == SmiPrint::hex2 || print == SmiPrint::hex4 || print == SmiPrint::hex8 ||
         print == SmiPrint::hex16;
}

std::optional<std::int64_t> number_of(const MetricInfo& info, std::string_view text, std::string_view unit) {
  if (is_hexadecimal(info.print)) return hexadecimal(text);
  if (info.unit == MetricUnit::flag) return flag(text);
  if (info.unit == MetricUnit::choice) {
    if (const auto number = parse_smi_word(info.print, text)) return number;
    return info.print == SmiPrint::true_false ? flag(text) : std::nullopt;
  }
  return measured(text, unit, factors_of(info));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

bool is_blank_uuid(std::string_view uuid) {
  return uuid.find_first_of("123456789abcdefABCDEF", std::min<std::size_t>(uuid.find('-'), uuid.size())) == uuid.npos;
}

std::optional<Cell> parse_marker(std::string_view text) {
  text = trimmed(text);
  if (text == "N/A" || text == "-" || text == "Not Supported" || text == "Not Found" || text == "None (N/A)" ||
      text == "Not available in WDDM driver model" || text == "Not Available" || text == "Unknown") {
    return Cell{ValueState::not_supported, 0, {}};
  }
  if (text == "ERR!" || text == "Unknown Error" || text == "Error") return Cell{ValueState::failed, 999, {}};
  if (text == "Insufficient Permissions") return Cell{ValueState::no_permission, 0, {}};
  if (text == "GPU is lost") return Cell{ValueState::lost, 15, {}};
  if (text == "GPU requires reset") return Cell{ValueState::failed, 16, {}};
  if (text == "Function Not Found") return Cell{ValueState::failed, 13, {}};
  if (text.find("deprecated") != text.npos || text.substr(0, 10) == "Deprecated") {
    return Cell{ValueState::not_supported, 0, {}};
  }
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    const auto inner = parse_marker(text.substr(1, text.size() - 2));
    return inner ? inner : Cell{ValueState::failed, 999, {}};
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_bytes(std::string_view text, std::string_view unit) {
  const auto bytes = measured(trimmed(text), unit, factors_of(info_of(Metric::memory_used)));
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  text = trimmed(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Cell parse_cell(const MetricInfo& info, std::string_view text, std::string_view unit) {
  text = trimmed(text);
  // A word that is a value of this metric comes first: "None" and "N/A" are some of their choices.
  if (info.unit == MetricUnit::choice || info.unit == MetricUnit::flag) {
    if (text == "N/A" || text == "[N/A]") return {ValueState::not_supported, 0, {}};
    if (const auto number = number_of(info, text, unit)) return {ValueState::known, *number, {}};
  }
  if (const auto marker = parse_marker(text)) return *marker;
  if (text.empty()) return info.unit == MetricUnit::text ? Cell{ValueState::known, 0, text} : Cell{};
  if (info.unit == MetricUnit::text) return {ValueState::known, 0, text};
  const auto number = number_of(info, text, unit);
  if (!number) return {};
  const bool may_be_negative = info.unit == MetricUnit::celsius || info.unit == MetricUnit::mask;
  if (*number < 0 && !may_be_negative) return {};
  return {ValueState::known, *number, {}};
}

}  // namespace vramscope::nvidia_smi
