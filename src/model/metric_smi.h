#pragma once
// Values and headers as `nvidia-smi --query-gpu --format=csv` writes them. Never translated.
// Source: its output of drivers 466 to 595.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/metric.h"

namespace vramscope {

// Whole MiB, rounded up. In 17 real captures of drivers 570 to 595 used, free and reserved add up to none, one or two
// MiB more than the total; nvidia-smi of drivers 510 to 537 rounded down, and they add up to one or two less (12).
std::int64_t smi_mebibytes(std::int64_t bytes);
// The unit behind a header, without brackets: "MiB", "%", "W"; empty for none.
std::string_view smi_unit(const MetricInfo& info);
// Appends "memory.used [MiB]". `asked`: the name that the user wrote, kept in the header.
void append_smi_header(std::string& out, const MetricInfo& info, std::string_view asked);
// Appends the value: "211 MiB", "[N/A]". `with_unit` is false for `nounits`.
// A metric of ours that nvidia-smi does not have is written with its plain number or text.
void append_smi_cell(std::string& out, const MetricValues& values, Metric metric, bool with_unit);
// The number that append_smi_cell() writes as this word: "Enabled", "P8", "E. Process" is Exclusive_Process. Nullopt
// for other words, and for prints without words.
std::optional<std::int64_t> parse_smi_word(SmiPrint print, std::string_view word);

// Appends the value as `nvidia-smi -q` writes it: "45 C", "16x", words of failure and "N/A" without brackets. `print`:
// in which form; `none` for that of the metric.
void append_smi_query_value(std::string& out, const MetricValues& values, Metric metric,
                            SmiPrint print = SmiPrint::none);
// "GPU is lost", "Unknown Error", "N/A": what stands there in place of an unknown value.
std::string_view smi_missing_words(const MetricValue& value);
// NVML's code (nvmlReturn_t) in place of a list: "N/A", "Not Found".
std::string_view smi_missing_words(int code);

}  // namespace vramscope
