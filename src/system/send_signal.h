#pragma once
// A signal to a process that somebody has looked at, and to no other.
#include <optional>

#include "base/result.h"
#include "system/process.h"
#include "system/roots.h"

namespace vramscope {

// To the process with this pid and this start time. An Error when it has ended, when another process has its pid now,
// or when the kernel does not allow it. Where the kernel has pidfds (Linux 5.3) the pid cannot change hands between the
// check and the signal.
std::optional<Error> send_signal(const ProcessKey& key, int number, const Roots& roots = {});

}  // namespace vramscope
