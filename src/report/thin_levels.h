#pragma once
// Fewer points of a curve given by a function, which still show its shape.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace vramscope {

// At most `most` (at least 1) of the positions [0, count), ascending: every one when they fit; otherwise `peak`, then
// the first and the last, and of equal stretches the lowest and the highest.
std::vector<std::size_t> thin_levels(std::size_t count, std::size_t peak, std::size_t most,
                                     const std::function<std::int64_t(std::size_t)>& level);

}  // namespace vramscope
