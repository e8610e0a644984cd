#pragma once
// GPUs that were opened for smi, and which of them are meant.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/smi/arguments.h"
#include "cli/commands/smi/output.h"
#include "devices/backend.h"

namespace vramscope {

class SmiSession {
 public:
  SmiSession(std::unique_ptr<DeviceSource> opened, const SmiOptions& with, SmiOutput& into)
      : source(std::move(opened)), options(with), output(into), started_ns_(smi_monotonic_ns()) {}

  const std::unique_ptr<DeviceSource> source;
  const SmiOptions& options;
  SmiOutput& output;
  std::vector<std::size_t> chosen;  // places of GPUs in the list of samples
  int code = 0;                     // of a GPU that does not answer

  // A sample of all devices. The first one also finds the chosen GPUs and tells on stderr which cannot be opened.
  const std::vector<DeviceSample>& sample(const Wanted& wanted);
  // No GPU is meant; then nvidia-smi says so and ends with 6.
  bool is_empty() const { return chosen.empty() && code == 0; }

 private:
  void choose(const std::vector<DeviceSample>& samples);
  std::int64_t started_ns_;
  bool was_chosen_ = false;
};

// Whether one of the words of -i means this GPU: index, serial number, UUID, PCI bus id.
bool is_smi_gpu(const DeviceSample& gpu, const std::vector<std::string>& ids);

// What the functions below return when no GPU is meant.
inline constexpr int kNoSuchGpu = -1;

// How a loop over samples ends.
int end_of_smi(const SmiSession& session, bool could_write);

int run_smi_summary(SmiSession& session);
int run_smi_full_query(SmiSession& session);
int run_smi_query(SmiSession& session);
int run_smi_device_table(SmiSession& session);
int run_smi_process_table(SmiSession& session);

}  // namespace vramscope
