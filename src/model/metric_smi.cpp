#include "model/metric_smi.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace vramscope {

namespace {

void append_number(std::string& out, const char* format, std::int64_t number) {
  char text[40];
  const int size = std::snprintf(text, sizeof text, format, static_cast<long long>(number));
  if (size > 0) out.append(text, static_cast<std::size_t>(size));
}

// Two decimals of a number in thousandths, as printf("%.2f") rounds them.
void append_two_decimals(std::string& out, std::int64_t thousandths) {
  char text[40];
  const int size = std::snprintf(text, sizeof text, "%.2f", static_cast<double>(thousandths) / 1000.0);
  if (size > 0) out.append(text, static_cast<std::size_t>(size));
}

template <std::size_t N>
void append_word(std::string& out, const std::array<std::string_view, N>& words, std::int64_t number) {
  if (number >= 0 && static_cast<std::uint64_t>(number) < N) {
    out += words[static_cast<std::size_t>(number)];
  } else {
    out += "Unknown";
  }
}

constexpr std::array<std::string_view, 2> kEnabled = {"Disabled", "Enabled"};
constexpr std::array<std::string_view, 2> kActive = {"Not Active", "Active"};
constexpr std::array<std::string_view, 2> kYesNo = {"No", "Yes"};
constexpr std::array<std::string_view, 2> kTrueFalse = {"False", "True"};
constexpr std::array<std::string_view, 4> kComputeMode = {"Default", "Exclusive_Thread", "Prohibited",
                                                          "Exclusive_Process"};
constexpr std::array<std::string_view, 3> kOperationMode = {"All On", "Compute", "Low Double Precision"};
constexpr std::array<std::string_view, 3> kAddressing = {"None", "HMM", "ATS"};
constexpr std::array<std::string_view, 6> kRecovery = {"None",      "Reset",           "Reboot",
                                                       "Drain P2P", "Drain and Reset", "Recover IMEX Domain"};
constexpr std::array<std::string_view, 4> kFabricState = {"N/A", "Not Started", "In Progress", "Completed"};
constexpr std::array<std::string_view, 4> kHealth = {"N/A", "Healthy", "Unhealthy", "Limited Capacity"};
constexpr std::array<std::string_view, 3> kPeerType = {"N/A", "Direct Connected", "Switch Connected"};

constexpr std::array<std::string_view, 2> kOnOff = {"Off", "On"};
constexpr std::array<std::string_view, 2> kLowerEnabled = {"disabled", "enabled"};
constexpr std::array<std::string_view, 5> kVirtualization = {"None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"};
constexpr std::array<std::string_view, 2> kHostVgpu = {"Non SR-IOV", "SR-IOV"};
// Bits of NVML_PCIE_ATOMICS_CAP_*, each word with the space that nvidia-smi puts behind it.
constexpr std::array<std::string_view, 7> kAtomics = {"FETCHADD_32 ", "FETCHADD_64 ", "SWAP_32 ", "SWAP_64 ",
                                                      "CAS_32 ",      "CAS_64 ",      "CAS_128 "};

void append_atomics(std::string& out, std::int64_t mask) {
  if (mask == 0) out += "N/A";
  for (std::size_t bit = 0; bit < kAtomics.size(); ++bit) {
    if ((mask >> bit & 1) != 0) out += kAtomics[bit];
  }
}

void append_moment(std::string& out, std::int64_t microseconds) {
  constexpr std::int64_t kSecond = 1'000'000, kMillisecond = 1000;
  const auto seconds = static_cast<std::time_t>(microseconds / kSecond);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[48];
  const std::size_t size = std::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &local);
  out.append(text, size);
  append_number(out, ".%03lld", microseconds % kSecond / kMillisecond);
}

void append_choice(std::string& out, SmiPrint print, std::int64_t number) {
  switch (print) {
    case SmiPrint::enabled:
      return append_word(out, kEnabled, number);
    case SmiPrint::active:
      return append_word(out, kActive, number);
    case SmiPrint::yes_no:
      return append_word(out, kYesNo, number);
    case SmiPrint::true_false:
      return append_word(out, kTrueFalse, number);
    case SmiPrint::compute_mode:
      return append_word(out, kComputeMode, number);
    case SmiPrint::operation_mode:
      return append_word(out, kOperationMode, number);
    case SmiPrint::addressing:
      return append_word(out, kAddressing, number);
    case SmiPrint::recovery:
      return append_word(out, kRecovery, number);
    case SmiPrint::fabric_state:
      return append_word(out, kFabricState, number);
    case SmiPrint::health:
      return append_word(out, kHealth, number);
    case SmiPrint::peer_type:
      return append_word(out, kPeerType, number);
    case SmiPrint::on_off:
      return append_word(out, kOnOff, number);
    case SmiPrint::lower_enabled:
      return append_word(out, kLowerEnabled, number);
    case SmiPrint::virtualization:
      return append_word(out, kVirtualization, number);
    case SmiPrint::host_vgpu:
      return append_word(out, kHostVgpu, number);
    default:
      return append_number(out, "%lld", number);
  }
}

void append_hex(std::string& out, SmiPrint print, std::int64_t number) {
  switch (print) {
    case SmiPrint::hex:
      return append_number(out, "0x%llX", number);
    case SmiPrint::hex2:
      return append_number(out, "0x%02llX", number);
    case SmiPrint::hex4:
      return append_number(out, "0x%04llX", number);
    case SmiPrint::hex8:
      return append_number(out, "0x%08llX", number);
    case SmiPrint::hex16:
      return append_number(out, "0x%016llX", number);
    case SmiPrint::hex_lower:
      return append_number(out, "0x%llx", number);
    case SmiPrint::hex16_lower:
      return append_number(out, "0x%016llx", number);
    case SmiPrint::bare_hex:
      return append_number(out, "%llX", number);
    case SmiPrint::bare_hex2:
      return append_number(out, "%02llX", number);
    case SmiPrint::bare_hex4:
      return append_number(out, "%04llX", number);
    case SmiPrint::bare_hex8:
      return append_number(out, "%08llX", number);
    default:
      return append_choice(out, print, number);
  }
}

void append_known(std::string& out, SmiPrint print, std::int64_t number) {
  switch (print) {
    case SmiPrint::mebibytes:
      return append_number(out, "%lld", smi_mebibytes(number));
    case SmiPrint::watts:
      return append_two_decimals(out, number);
    case SmiPrint::percent2:
      return append_number(out, "%lld.00", number);
    case SmiPrint::pstate:
      return append_number(out, "P%lld", number);
    case SmiPrint::lanes:
      return append_number(out, "%lldx", number);
    case SmiPrint::tight_percent:
      return append_number(out, "%lld.00%%", number);
    case SmiPrint::kibibytes_a_second:
      return append_number(out, "%lld", number / 1024);
    case SmiPrint::atomics:
      return append_atomics(out, number);
    case SmiPrint::moment:
      return append_moment(out, number);
    default:
      return append_hex(out, print, number);
  }
}

// NVML's error codes (nvmlReturn_t) that have words of their own in a cell.
std::string_view failure_words(std::int64_t code) {
  switch (code) {
    case 13:
      return "[Function Not Found]";
    case 15:
      return "[GPU is lost]";
    case 16:
      return "[GPU requires reset]";
    default:
      return "[Unknown Error]";
  }
}

std::string_view unit_of(SmiPrint print) {
  switch (print) {
    case SmiPrint::mebibytes:
      return "MiB";
    case SmiPrint::percent:
    case SmiPrint::percent2:
      return "%";
    case SmiPrint::watts:
      return "W";
    case SmiPrint::megahertz:
      return "MHz";
    case SmiPrint::milliseconds:
      return "ms";
    case SmiPrint::microseconds:
      return "us";
    case SmiPrint::celsius:
      return "C";
    case SmiPrint::banks:
      return "bank(s)";
    case SmiPrint::kibibytes_a_second:
      return "KB/s";
    default:
      return {};
  }
}

}  // namespace

std::int64_t smi_mebibytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1024 * 1024;
  return bytes / kMebibyte + (bytes % kMebibyte > 0 ? 1 : 0);
}

std::string_view smi_unit(const MetricInfo& info) {
  return unit_of(info.print);
}

void append_smi_header(std::string& out, const MetricInfo& info, std::string_view asked) {
  out += asked;
  if (info.print == SmiPrint::deprecated && info.name.substr(0, 7) == "clocks.") {
    out += " [MHz]";
    return;
  }
  const std::string_view unit = smi_unit(info);
  if (unit.empty()) return;
  out += " [";
  out += unit;
  out += ']';
}

void append_smi_cell(std::string& out, const MetricValues& values, Metric metric, bool with_unit) {
  const MetricInfo& info = info_of(metric);
  if (info.print == SmiPrint::deprecated) {
    out += "[Requested functionality has been deprecated]";
    return;
  }
  const MetricValue& value = values[metric];
  switch (value.state) {
    case ValueState::known:
      break;
    case ValueState::no_permission:
      out += "[Insufficient Permissions]";
      return;
    case ValueState::failed:
      out += failure_words(value.number);
      return;
    case ValueState::lost:
      out += failure_words(15);
      return;
    default:
      out += info.missing == SmiMissing::plain ? "N/A" : "[N/A]";
      return;
  }
  if (info.unit == MetricUnit::text) {
    out += values.text(metric);
    return;
  }
  append_known(out, info.print, value.number);
  const std::string_view unit = smi_unit(info);
  if (!with_unit || unit.empty()) return;
  out += ' ';
  out += unit;
}

std::optional<std::int64_t> parse_smi_word(SmiPrint print, std::string_view word) {
  if (word == "E. Process") word = "Exclusive_Process";
  if (word == "E. Thread") word = "Exclusive_Thread";
  if (word.empty() || word == "Unknown") return std::nullopt;
  constexpr std::int64_t kMostWords = 33;
  std::string written;
  for (std::int64_t number = 0; number < kMostWords; ++number) {
    written.clear();
    append_known(written, print, number);
    if (written == word) return number;
  }
  return std::nullopt;
}

std::string_view smi_missing_words(int code) {
  switch (code) {
    case 4:
      return "Insufficient Permissions";
    case 6:
      return "Not Found";
    case 15:
      return "GPU is lost";
    case 16:
      return "GPU requires reset";
    case 3:
    case 13:
      return "N/A";
    default:
      return "Unknown Error";
  }
}

std::string_view smi_missing_words(const MetricValue& value) {
  switch (value.state) {
    case ValueState::no_permission:
      return smi_missing_words(4);
    case ValueState::lost:
      return smi_missing_words(15);
    case ValueState::failed:
      return smi_missing_words(static_cast<int>(value.number));
    default:
      return "N/A";
  }
}

void append_smi_query_value(std::string& out, const MetricValues& values, Metric metric, SmiPrint print) {
  const MetricInfo& info = info_of(metric);
  const MetricValue& value = values[metric];
  if (value.state != ValueState::known) {
    out += smi_missing_words(value);
    return;
  }
  if (info.unit == MetricUnit::text) {
    out += values.text(metric);
    return;
  }
  const SmiPrint form = print == SmiPrint::none ? info.print : print;
  append_known(out, form, value.number);
  const std::string_view unit = unit_of(form);
  if (unit.empty()) return;
  out += ' ';
  out += unit;
}

}  // namespace vramscope
