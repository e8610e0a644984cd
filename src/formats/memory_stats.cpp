#include "formats/memory_stats.h"

#include <algorithm>
#include <cstddef>

namespace vramscope::memory_stats {

namespace {

constexpr Row kRows[] = {
    {"Allocated memory", "allocated_bytes", true, true},
    {"Active memory", "active_bytes", true, true},
    {"Requested memory", "requested_bytes", true, true},
    {"GPU reserved memory", "reserved_bytes", true, true},
    {"Reserved memory", "reserved_bytes", true, true},
    {"Non-releasable memory", "inactive_split_bytes", true, true},
    {"Allocations", "allocation", false, true},
    {"Active allocs", "active", false, true},
    {"GPU reserved segments", "segment", false, true},
    {"Reserved segments", "segment", false, true},
    {"Non-releasable allocs", "inactive_split", false, true},
    {"Oversize allocations", "oversize_allocations", false, false},
    {"Oversize GPU segments", "oversize_segments", false, false},
    {"Oversize segments", "oversize_segments", false, false},
};

constexpr std::string_view kSingle[] = {"num_alloc_retries", "num_ooms",        "num_sync_all_streams",
                                        "num_device_alloc",  "num_device_free", "max_split_size"};
constexpr std::string_view kPools[] = {"all", "large_pool", "small_pool"};

template <typename List>
bool has(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

}  // namespace

bool is_dotted_key(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos || !has(kColumns, name.substr(last + 1))) return false;
  std::string_view stem = name.substr(0, last);
  const std::size_t middle = stem.rfind('.');
  const bool has_pool = middle != std::string_view::npos;
  if (has_pool) {
    if (!has(kPools, stem.substr(middle + 1))) return false;
    stem = stem.substr(0, middle);
  }
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return row.stem == stem && row.has_pools == has_pool; });
}

bool is_key(std::string_view name) {
  return has(kSingle, name) || is_dotted_key(name);
}

const Row* row_of(std::string_view label) {
  for (const Row& row : kRows) {
    if (row.label == label) return &row;
  }
  return nullptr;
}

std::string_view pool_of(std::string_view label) {
  if (label == "from large pool") return "large_pool";
  if (label == "from small pool") return "small_pool";
  return {};
}

}  // namespace vramscope::memory_stats
