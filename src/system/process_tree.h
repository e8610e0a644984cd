#pragma once
// Who started whom.
#include <cstdint>
#include <optional>
#include <vector>

#include "system/process.h"
#include "system/roots.h"

namespace vramscope {

// Children, their children and so on of `pid`, ascending, without `pid`. From /proc/PID/task/*/children where the
// kernel has it, else from the parents of all processes. Processes that start or end meanwhile may be missing; a
// process whose parent has ended belongs to init (or a subreaper) and is missing.
std::vector<std::int32_t> descendants(const Roots& roots, std::int32_t pid);

// The same from the parents alone: for kernels built without the list of children.
std::vector<std::int32_t> descendants_by_parent(const Roots& roots, std::int32_t pid);

// Was it left behind by the process that started it? True when its parent changed while it was watched. At first sight:
// true when its parent is a process that adopts orphans (pid 1 of the machine or of a container, a user's systemd, a
// container's shim), while its session belongs to a third process; false for what a system service left on purpose.
// Unknown when its parent is.
std::optional<bool> is_orphan(const Roots& roots, const Process& process);

}  // namespace vramscope
