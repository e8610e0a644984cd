#pragma once
// One failed allocation, as an error message, a log or an allocator's log tells it. Plain data; what the source does
// not tell is empty.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramscope {

struct ProcessMemory {
  std::int64_t pid = 0;
  std::int64_t bytes = 0;  // on this device, contexts and libraries included
};

struct OutOfMemory {
  std::string framework;               // "pytorch", "tensorflow", "jax", "cuda", "vllm", …: fixed words
  std::optional<std::int32_t> device;  // index
  std::optional<std::int64_t> asked_bytes;
  std::optional<std::int64_t> total_bytes;      // of the device
  std::optional<std::int64_t> free_bytes;       // the driver's figure at that moment
  std::optional<std::int64_t> allocated_bytes;  // by this process's allocator
  std::optional<std::int64_t> reserved_bytes;   // by this process's allocator, allocated ones included
  std::optional<std::int64_t> process_bytes;    // of this process, contexts and libraries included
  std::optional<std::int64_t> allowed_bytes;    // a cap: set_per_process_memory_fraction, gpu_memory_utilization, …
  std::optional<std::int64_t> largest_hole_bytes;  // largest free block that this request could use
  std::optional<std::int64_t> driver_bytes;        // what the allocator would ask the driver for; empty: what was asked
  std::optional<std::int64_t> private_pool_bytes;  // of the allocated ones, in private pools (CUDA graphs)
  std::optional<std::int64_t> program_bytes;       // what a compiled program needs in all, by its compiler
  std::optional<std::int64_t> asked_tokens;        // length of a request to a language model
  std::optional<std::int64_t> fitting_tokens;      // the longest that its cache holds
  std::vector<ProcessMemory> others;               // processes that the message names; in a container this one, too
  std::string device_type = "cuda";                // "cuda" (ROCm, too), "xpu", "npu", …: in front of the index
  std::string settings_variable;   // that the message names for the allocator's settings; empty where it does not
  std::string allocator_settings;  // what the log shows before the message that this variable was set to; else empty
  std::int64_t count = 1;          // equal messages in a row are one event
  std::int64_t offset = 0;         // byte in the file of the first
  std::int64_t line = 0;           // 1-based; 0 where the source has no lines
  std::string text;                // the message as found, at most 2 KiB; empty where there was none
};

}  // namespace vramscope
