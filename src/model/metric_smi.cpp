#include "model/metric_smi.h"

#include <array>
#include <cstdio>

namespace vramscope {

namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;

// To the nearest: in real output used, free and reserved add up to one MiB more than the total.
std::int64_t mebibytes(std::int64_t bytes) {
  return bytes / kMebibyte + (bytes % kMebibyte >= kMebibyte / 2 ? 1 : 0);
}

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
    default:
      return append_number(out, "%lld", number);
  }
}

void append_known(std::string& out, SmiPrint print, std::int64_t number) {
  switch (print) {
    case SmiPrint::mebibytes:
      return append_number(out, "%lld", mebibytes(number));
    case SmiPrint::watts:
      return append_two_decimals(out, number);
    case SmiPrint::percent2:
      return append_number(out, "%lld.00", number);
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
    case SmiPrint::pstate:
      return append_number(out, "P%lld", number);
    default:
      return append_choice(out, print, number);
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

}  // namespace

std::string_view smi_unit(const MetricInfo& info) {
  switch (info.print) {
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
    default:
      return {};
  }
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

}  // namespace vramscope
