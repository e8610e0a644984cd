#pragma once
// Rows of nvidia-smi's CSV. Never translated.
#include <cstdint>
#include <functional>
#include <string>

#include "report/smi_columns.h"

namespace vramscope {

struct SmiRows {
  SmiQuery query = SmiQuery::gpu;
  std::vector<SmiColumn> columns;
  bool with_units = true;
};

// "2026/07/14 08:12:53.353": local time, `unix_ns` since 1970.
std::string smi_timestamp(std::int64_t unix_ns);
// Name of a process, as a cell: "/usr/bin/python3", "[Not Found]".
using SmiProcessName = std::function<std::string(const DeviceProcess&)>;

void append_smi_gpu_row(std::string& out, const SmiRows& rows, const DeviceSample& gpu, std::string_view timestamp);
// A row for each process with a compute context.
void append_smi_compute_rows(std::string& out, const SmiRows& rows, const DeviceSample& gpu, std::string_view timestamp,
                             const SmiProcessName& name);
void append_smi_accounted_rows(std::string& out, const SmiRows& rows, const DeviceSample& gpu,
                               std::string_view timestamp, const std::vector<AccountedProcess>& processes);

// What nvidia-smi calls one of NVML's error codes: "Unknown Error".
std::string_view smi_code_words(int code);

}  // namespace vramscope
