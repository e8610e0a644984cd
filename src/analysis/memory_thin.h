#pragma once
// Fewer points of a curve that still show its shape.
#include <cstddef>
#include <vector>

#include "analysis/memory_curve.h"

namespace vramscope {

// At most `most` (at least 1) positions in DeviceMemory::events, ascending: every one when they fit; otherwise the
// peak, then the first and the last, and of equal stretches of events the lowest and the highest.
std::vector<std::size_t> thin_curve(const DeviceMemory& memory, std::size_t most);

}  // namespace vramscope
