#include "report/thin_levels.h"

#include <algorithm>
#include <numeric>

namespace vramscope {

std::vector<std::size_t> thin_levels(std::size_t count, std::size_t peak, std::size_t most,
                                     const std::function<std::int64_t(std::size_t)>& level) {
  if (count <= most) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::vector<std::size_t> kept = {std::min(peak, count - 1)};
  if (most > 1) kept.push_back(0);
  if (most > 2) kept.push_back(count - 1);
  const std::size_t stretches = most > 4 ? (most - 3) / 2 : 0;
  for (std::size_t s = 0; s < stretches; ++s) {
    std::size_t low = count * s / stretches;
    std::size_t high = low;
    for (std::size_t i = low; i < count * (s + 1) / stretches; ++i) {
      if (level(i) < level(low)) low = i;
      if (level(i) > level(high)) high = i;
    }
    kept.push_back(low);
    kept.push_back(high);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

}  // namespace vramscope
