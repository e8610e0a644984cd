#pragma once
// What nvidia-smi prints besides tables: the list of GPUs, versions, errors, help. Never translated.
#include <string>
#include <string_view>
#include <vector>

#include "devices/backend.h"
#include "report/smi_columns.h"

namespace vramscope {

// -L: GPUs with their MIG devices, of the places in `chosen`.
std::string smi_gpu_list(const std::vector<DeviceSample>& samples, const std::vector<std::size_t>& chosen);
// --version. `library`: the version of NVML; any may be empty.
std::string smi_version(std::string_view driver, std::string_view library, std::string_view cuda);

// The type of a process as its tables show it: "C", "G", "C+G", "M+C" for a client of the Multi-Process Service.
std::string_view smi_process_type(const DeviceProcess& process);

// Why NVML does not start, in nvidia-smi's words. `library`: the version of NVML, for the code that needs it.
std::string smi_start_error(int code, std::string_view library);
// "Unable to determine the device handle for GPU1: Unknown Error"
std::string smi_device_error(int index, int code);
// A field that does not exist; an option that does not exist.
std::string smi_field_error(std::string_view field);
std::string smi_option_error(std::string_view option);

std::string smi_help();
std::string smi_device_table_help();
std::string smi_process_table_help();
// --help-query-gpu and the others.
std::string smi_query_help(SmiQuery query);

}  // namespace vramscope
