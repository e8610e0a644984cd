#pragma once
// The choice of one device on the command line: "cuda:0", "0", "cpu".
#include <optional>
#include <string_view>

#include "model/trace.h"

namespace vramscope {

struct DeviceFilter {
  bool all = true;          // no choice made: everything
  bool cpu = false;         // the host alone
  std::int32_t index = -1;  // otherwise this device
  std::string_view type;    // "cuda" (AMD's too, as in PyTorch), "hip", …; empty: any type

  // Does work that ran on device `index` count?
  bool wants_work(std::int32_t device) const { return all || (!cpu && device == index); }
  // Does memory of a device other than the CPU count? CPU memory is left out of no table by this.
  bool wants_memory(const MemoryDevice& device) const;
};

// nullopt when the text is no device. The text must outlive the filter.
std::optional<DeviceFilter> parse_device(std::string_view text);

// Does anything in the trace belong to the chosen device?
bool is_in_trace(const DeviceFilter& filter, const Trace& trace);

// The name that PyTorch gives the devices of the trace in its tables: "CUDA" (NVIDIA and AMD), "XPU", "MTIA", …
std::string_view device_label(const Trace& trace);

}  // namespace vramscope
