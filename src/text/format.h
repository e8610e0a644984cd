#pragma once
// Numbers as people read them. Never used for JSON.
#include <cstdint>
#include <string>

namespace vramscope {

std::string format_bytes(std::int64_t bytes);  // "0 B", "512 B", "1.50 KiB", "-3.80 MiB", "193.62 GiB"
// "312 ns", "4.43 us", "12.345 ms", "500 ms", "1.234 s", "5 s", "2 min 05 s", "1 h 02 min"
std::string format_duration(std::int64_t nanoseconds);
std::string format_count(std::int64_t count);  // "926,121"
std::string format_share(double share);        // 0.396 -> "39.6 %"; NaN -> tr("N/A")
// PyTorch's own cells (torch/autograd/profiler_util.py), in the spelling of current versions: "4.426ms",
// "-512 B", "3.80 MB". Memory counts in steps of 1024 bytes.
std::string format_torch_time(double microseconds);
std::string format_torch_memory(std::int64_t bytes);

}  // namespace vramscope
