#pragma once
// Something that changed while one watched.
#include <cstdint>
#include <optional>
#include <string>

#include "model/finding.h"

namespace vramscope {

enum class ChangeKind : std::uint8_t {
  process_start,  // it began to hold memory of a device
  process_end,    // it holds none any more
  growing_so_far,
  growing,
  levelled_off,   // it grew, or seemed to, and does not any more
  memory_high,    // above 90 %
  memory_normal,  // below 85 % again
  gpu_lost,
  gpu_back,
  driver_error,      // a new Xid
  driver_silent,     // a call of the driver lasts for seconds
  driver_answers,    // and came back after all
  processes_hidden,  // the list of processes cannot be had any more
  verdict,           // an illness that `status` would show
  verdict_over       // the same has passed; the message is that of the illness
};
struct Change {
  ChangeKind kind = ChangeKind::process_start;
  Severity severity = Severity::info;
  std::int64_t time_ns = 0;       // of the sample
  std::int64_t real_time_ns = 0;  // unix
  Message message;                // {gpu}, {process}, {pid}, {used} …
  std::optional<int> gpu;
  std::string gpu_uuid;
  std::optional<std::int64_t> pid;
};

}  // namespace vramscope
