#pragma once
// What a line of a program's output says about its end. Pure; any text is safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope {

enum class SignKind : std::uint8_t {
  device_error,   // of CUDA, HIP or one of its libraries; never for want of memory
  communication,  // NCCL, RCCL, the process group
  worker,         // a data loader's worker, a rank, a spawned process ended badly
  no_memory,      // host memory: MemoryError, std::bad_alloc, ENOMEM
  crash,          // "Segmentation fault" and the like
  exception       // Python's: the end of a traceback
};

// Of a device_error: what to do depends on it.
enum class DeviceFault : std::uint8_t {
  other,
  assertion,       // device-side assert
  illegal_access,  // illegal or misaligned address
  launch_failure,  // "unspecified launch failure"
  ecc,             // uncorrectable memory error
  lost,            // the GPU does not answer any more
  no_kernel,       // built for other GPUs
  busy,            // exclusive mode, or all in use
  library          // a status code of cuBLAS, cuDNN, …
};

struct OutputSign {
  SignKind kind = SignKind::exception;
  DeviceFault fault = DeviceFault::other;
  bool is_timeout = false;  // of communication
  std::string text;         // the line, without escape sequences; at most kSignBytes
  std::string detail;       // the part of it that names the error: "an illegal memory access was encountered"
  // Of a worker; what the line tells.
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> rank;
  std::optional<int> exit_code;
  std::optional<int> signal;
  // Of an exception.
  std::string type;             // "torch.cuda.OutOfMemoryError"
  std::string frame;            // innermost: "train.py:42 in step"; of the program's own files where there is one
  std::int64_t first_line = 0;  // where its traceback, or the first of those that led to it, begins
  // Set by the scan.
  int stream = 1;
  std::int64_t line = 0;  // 1-based, of its stream
  std::int64_t time_ns = 0;
  std::int64_t count = 1;  // equal ones in a row
};

inline constexpr std::size_t kSignBytes = 500;

// Whether the line has words that a sign has: cheap, and may be wrong.
bool may_hold_sign(std::string_view line);
// `line`: without escape sequences. `before`: some of what stands in front of it, which may name the rank.
std::optional<OutputSign> read_sign(std::string_view line, std::string_view before);

// 11 of "Segmentation fault", 9 of "Killed" and of "SIGKILL".
std::optional<int> signal_by_name(std::string_view words);

}  // namespace vramscope
