#pragma once
// Why a program ended: plain data. src/report makes the sentences.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/finding.h"

namespace vramscope {

enum class EndKind : std::uint8_t {
  success,
  on_request,         // a signal that the user, or whoever sent it through us, asked it to end by
  gpu_out_of_memory,  // its own error, or the curve
  host_out_of_memory,
  shared_memory,  // /dev/shm
  driver,         // the driver or the device failed
  device_error,   // an error of CUDA, HIP or their libraries
  communication,  // NCCL, RCCL
  worker,         // a process that it depended on ended
  exception,      // Python's
  signal,
  exit_code,  // nothing else is known
  unknown     // not even that: no child of ours
};

enum class Certainty : std::uint8_t { certain, likely };

// The process in whose end the end of the whole began.
struct EndedWorker {
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> rank;
  std::string name;  // the kernel's bytes; empty: unknown
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// Memory of a device in the last minute.
struct EndCurve {
  int gpu = 0;
  std::string gpu_uuid;
  std::optional<std::int64_t> total_bytes;
  std::vector<std::pair<std::int64_t, std::int64_t>> points;  // time before the last sample in ns (0 or less), bytes
};

// Texts from the program and the kernel are their bytes: whoever shows them makes them harmless.
struct EndReason {
  EndKind kind = EndKind::unknown;
  Certainty certainty = Certainty::certain;
  std::int32_t pid = 0;
  std::string program;
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool has_dumped_core = false;
  Message summary;  // why; empty where nothing is to be said but how it ended
  std::vector<Message> details;
  std::vector<Evidence> evidence;  // the strongest first
  std::vector<Message> fixes;      // in the order in which to try them
  std::string fix_command;         // a line of shell; may be empty
  std::string doc;                 // the rule that knows more: "out-of-memory"; may be empty
  std::optional<EndedWorker> worker;
  std::vector<std::string> last_lines;  // of its output
  std::optional<EndCurve> curve;
};

}  // namespace vramscope
