#pragma once
// `nvidia-smi -q` and `-q -x`: walks over the tree of smi_tree.h. Never translated.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/smi_tree.h"

namespace vramscope {

// What is told of one GPU. Lists that no walk needs may be left empty.
struct SmiGpuFacts {
  const DeviceSample* gpu = nullptr;
  std::vector<const DeviceSample*> migs;
  std::vector<const DeviceProcess*> processes;  // in the order of output
  std::function<std::string(const DeviceProcess&)> process_name;
  Result<std::vector<AccountedProcess>> accounted = std::vector<AccountedProcess>();
  Result<std::vector<SupportedClocks>> supported_clocks = std::vector<SupportedClocks>();
  Result<std::vector<std::uint64_t>> single_bit_pages = std::vector<std::uint64_t>();
  Result<std::vector<std::uint64_t>> double_bit_pages = std::vector<std::uint64_t>();
  std::map<std::int64_t, Result<RecentSamples>> recent;  // by RecentKind
};

struct SmiMachineFacts {
  std::int64_t unix_ns = 0;
  std::string driver, cuda;
  std::size_t gpu_count = 0;  // in the machine, however many are shown
};

// "Wed Jun 24 10:26:49 2026": local time.
std::string smi_moment(std::int64_t unix_ns);

// What stands before the GPUs, a GPU, and what stands behind them. `displays` 0: everything.
void append_smi_query_head(std::string& out, const SmiMachineFacts& machine);
void append_smi_query_gpu(std::string& out, const SmiGpuFacts& facts, SmiDisplays displays);

// `with_dtd`: the document type in the document itself rather than by the name of NVIDIA's file.
void append_smi_xml_head(std::string& out, const SmiMachineFacts& machine, bool with_dtd);
void append_smi_xml_gpu(std::string& out, const SmiGpuFacts& facts);
void append_smi_xml_tail(std::string& out);

// The document type of the XML.
std::string smi_dtd();

}  // namespace vramscope
