#include "analysis/table_figures.h"

#include <algorithm>
#include <map>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

std::optional<std::int64_t> value_of(const AllocatorStats& sample, const char* key) {
  const auto found = sample.values.find(key);
  if (found == sample.values.end() || found->second < 0) return std::nullopt;
  return found->second;
}

// Whether it rose.
bool count(Counter& counter, const std::optional<std::int64_t>& value) {
  if (!value) return false;
  const std::int64_t before = counter.last && *counter.last <= *value ? *counter.last : 0;
  const std::int64_t rise = counter.last ? *value - before : 0;
  counter.rise = add_bytes(counter.rise, rise);
  counter.last = value;
  return rise > 0;
}

void take_figures(TableFigures& figures, const AllocatorStats& sample) {
  figures.line = sample.line;
  figures.allocated_bytes = value_of(sample, "allocated_bytes.all.current");
  figures.reserved_bytes = value_of(sample, "reserved_bytes.all.current");
  figures.pieces_bytes = value_of(sample, "inactive_split_bytes.all.current");
}

}  // namespace

std::vector<TableFigures> table_figures(const Source& source) {
  std::map<std::int32_t, TableFigures> by_device;
  std::map<std::int32_t, bool> has_risen;
  for (const AllocatorStats& sample : source.allocator_stats) {
    TableFigures& figures = by_device[sample.device];
    figures.device = sample.device;
    const bool has_failed = count(figures.ooms, value_of(sample, "num_ooms"));
    const bool has_retried = count(figures.retries, value_of(sample, "num_alloc_retries"));
    bool& risen = has_risen[sample.device];
    if (has_failed || has_retried || !risen) take_figures(figures, sample);
    risen = risen || has_failed || has_retried;
  }
  std::vector<TableFigures> all;
  for (const auto& [device, figures] : by_device) all.push_back(figures);
  return all;
}

bool is_in_pieces(const TableFigures& figures) {
  constexpr std::int64_t kNotableBytes = std::int64_t{256} << 20;
  constexpr std::int64_t kNotablePart = 5;
  return figures.pieces_bytes && figures.reserved_bytes && *figures.reserved_bytes > 0 &&
         *figures.pieces_bytes >= kNotableBytes && *figures.pieces_bytes >= *figures.reserved_bytes / kNotablePart;
}

}  // namespace vramscope
