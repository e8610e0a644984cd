#include "monitor/recent_mean.h"

#include <algorithm>

namespace vramscope {

void RecentMean::add(std::int64_t time_ns, std::int64_t value) {
  if (used_ > 0 && time_ns < last_ns_) return;
  last_ns_ = time_ns;
  if (used_ > 0 && time_ns - slots_[last_].begin_ns < kSlotNs) {
    Slot& slot = slots_[last_];
    slot.sum += value;
    ++slot.count;
    slot.highest = std::max(slot.highest, value);
    return;
  }
  if (used_ > 0) last_ = (last_ + 1) % kSlots;
  used_ = std::min(used_ + 1, kSlots);
  slots_[last_] = {time_ns, value, 1, value};
}

std::optional<RecentMean::Window> RecentMean::window() const {
  if (used_ == 0) return std::nullopt;
  Window window;
  window.highest = slots_[last_].highest;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < used_ && !window.is_whole; ++i) {
    const Slot& slot = from_end(i);
    sum += slot.sum;
    window.count += slot.count;
    window.highest = std::max(window.highest, slot.highest);
    window.since_ns = slot.begin_ns;
    window.is_whole = last_ns_ - slot.begin_ns >= kWindowNs && window.count >= kFewest;
  }
  window.mean = static_cast<double>(sum) / static_cast<double>(window.count);
  return window;
}

}  // namespace vramscope
