#include "report/allocator_summary.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "analysis/memory_sums.h"
#include "fmt/format.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSmallRequest = 1024 * 1024;  // larger requests come from the large pool

SummaryRow row_of(const char* key, const char* title, bool is_bytes, const ByPool& current) {
  SummaryRow row{key, title, is_bytes, {}, {}, {}};
  row.all.current = current.all;
  row.large.current = current.large;
  row.small.current = current.small;
  return row;
}

// A level over the log, from zero on.
struct Running {
  std::int64_t level = 0, peak = 0, gained = 0, lost = 0;
  void gain(std::int64_t amount) {
    level = add_bytes(level, amount);
    gained = add_bytes(gained, amount);
    peak = std::max(peak, level);
  }
  void lose(std::int64_t amount) {
    level = subtract_bytes(level, amount);
    lost = add_bytes(lost, amount);
  }
};

struct RunningPools {
  Running all, large, small;
  void gain(bool is_small, std::int64_t amount) {
    all.gain(amount);
    (is_small ? small : large).gain(amount);
  }
  void lose(bool is_small, std::int64_t amount) {
    all.lose(amount);
    (is_small ? small : large).lose(amount);
  }
};

void fill(SummaryCells& cells, const Running& running) {
  cells.peak = running.peak;
  cells.allocated = running.gained;
  cells.freed = running.lost;
}

void fill(SummaryRow& row, const RunningPools& pools) {
  fill(row.all, pools.all);
  fill(row.large, pools.large);
  fill(row.small, pools.small);
}

// Whether the log shows everything since the allocator had nothing.
bool is_complete(const SnapshotDevice& facts) {
  const Replay& replay = facts.replay;
  return facts.device->log.size() > 0 && replay.baseline_count == 0 && replay.baseline_reserved_bytes == 0 &&
         replay.mismatch == EndMismatch::none && replay.frees_without_alloc == 0 && replay.allocs_over_live == 0;
}

void fill_from_log(AllocatorSummary& summary, const SnapshotDevice& facts, SummaryRow& requested, SummaryRow& active,
                   SummaryRow& reserved) {
  struct Change {
    std::uint32_t entry;
    bool is_gain;
    std::int64_t bytes;
  };
  std::vector<Change> changes;
  for (const Allocation& allocation : facts.replay.allocations) {
    changes.push_back({allocation.begin, true, allocation.bytes});
    if (allocation.end != kNone) changes.push_back({allocation.end, false, allocation.bytes});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.entry < b.entry; });
  RunningPools bytes;
  RunningPools blocks;
  for (const Change& change : changes) {
    const bool is_small = change.bytes <= kSmallRequest;
    if (change.is_gain) {
      bytes.gain(is_small, change.bytes);
      blocks.gain(is_small, 1);
    } else {
      bytes.lose(is_small, change.bytes);
      blocks.lose(is_small, 1);
    }
  }
  fill(requested, bytes);
  fill(active, blocks);
  Running segments;
  const AllocatorLog& log = facts.device->log;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const AllocatorAction action = log.action[i];
    const std::int64_t size = log.bytes[i] == kUnknown ? 0 : log.bytes[i];
    if (action == AllocatorAction::segment_alloc || action == AllocatorAction::segment_map) segments.gain(size);
    if (action == AllocatorAction::segment_free || action == AllocatorAction::segment_unmap) segments.lose(size);
  }
  fill(reserved.all, segments);
  summary.ooms = facts.replay.ooms;
}

// Blocks and segments above max_split_size, which is off unless it was set.
void count_oversize(AllocatorSummary& summary, const SnapshotDevice& facts, const MemoryState& state) {
  const auto setting = state.settings.find("max_split_size");
  if (setting == state.settings.end()) return;
  std::int64_t limit = 0;
  const char* const end = setting->second.data() + setting->second.size();
  if (std::from_chars(setting->second.data(), end, limit).ptr != end) return;
  if (limit <= 0 || limit == kLargestSum) {
    summary.oversize_allocations = {0, 0, 0, 0};
    summary.oversize_segments = {0, 0, 0, 0};
    return;
  }
  std::int64_t blocks = 0;
  std::int64_t segments = 0;
  for (const Block& block : facts.device->blocks) {
    if (block.state == BlockState::allocated && block.bytes >= limit) ++blocks;
  }
  for (const Segment& segment : facts.device->segments) {
    if (segment.total_bytes >= limit) ++segments;
  }
  summary.oversize_allocations.current = blocks;
  summary.oversize_segments.current = segments;
}

// "12345 KiB": in the unit in which `scale_bytes` has at most six digits or so, cut down as PyTorch does.
std::string size_cell(std::optional<std::int64_t> bytes, std::optional<std::int64_t> scale_bytes) {
  constexpr std::array<const char*, 6> kUnits{"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!bytes) return fmt::format("{:>6}    ", "N/A");
  double scale = static_cast<double>(scale_bytes.value_or(*bytes));
  std::int64_t shown = *bytes;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && scale >= 768.0 * 1024.0) {
    ++unit;
    shown /= 1024;
    scale /= 1024.0;
  }
  return fmt::format("{:6d} {}", shown, kUnits[unit]);
}

std::string count_cell(std::optional<std::int64_t> count, std::optional<std::int64_t> scale_count) {
  constexpr std::array<char, 3> kUnits{' ', 'K', 'M'};
  if (!count) return fmt::format("{:>7}   ", "N/A");
  double scale = static_cast<double>(scale_count.value_or(*count));
  std::int64_t shown = *count;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && scale >= 750.0 * 1000.0) {
    ++unit;
    shown /= 1000;
    scale /= 1000.0;
  }
  return fmt::format("{:7d} {} ", shown, kUnits[unit]);
}

std::string line_of(const char* title, const SummaryCells& cells, const SummaryCells& scale, bool is_bytes) {
  const auto cell = is_bytes ? size_cell : count_cell;
  return fmt::format("| {:<21} | {} | {} | {} | {} |\n", title, cell(cells.current, scale.current),
                     cell(cells.peak, scale.peak), cell(cells.allocated, scale.allocated),
                     cell(cells.freed, scale.freed));
}

std::string rule_line(char stroke) {
  return "|" + std::string(kSummaryColumns - 2, stroke) + "|\n";
}

std::string number_or_unknown(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "N/A";
}

void add_values(std::vector<std::pair<std::string, std::int64_t>>& values, const std::string& prefix,
                const SummaryCells& cells) {
  if (cells.current) values.emplace_back(prefix + "current", *cells.current);
  if (cells.peak) values.emplace_back(prefix + "peak", *cells.peak);
  if (cells.allocated) values.emplace_back(prefix + "allocated", *cells.allocated);
  if (cells.freed) values.emplace_back(prefix + "freed", *cells.freed);
}

}  // namespace

AllocatorSummary summarise(const SnapshotDevice& facts, const MemoryState& state) {
  const SegmentUse& use = facts.use;
  AllocatorSummary summary;
  summary.device = facts.device->index;
  summary.rows = {row_of("allocated_bytes", "Allocated memory", true, use.allocated_bytes),
                  row_of("active_bytes", "Active memory", true, use.active_bytes),
                  row_of("requested_bytes", "Requested memory", true, use.requested_bytes),
                  row_of("reserved_bytes", "GPU reserved memory", true, use.reserved_bytes),
                  row_of("inactive_split_bytes", "Non-releasable memory", true, use.inactive_split_bytes),
                  row_of("allocation", "Allocations", false, use.allocations),
                  row_of("active", "Active allocs", false, use.active_blocks),
                  row_of("segment", "GPU reserved segments", false, use.fixed_segments),
                  row_of("inactive_split", "Non-releasable allocs", false, use.inactive_splits)};
  constexpr std::size_t kRequested = 2;
  constexpr std::size_t kReserved = 3;
  constexpr std::size_t kActive = 6;
  if (!use.rounding_bytes && use.active_blocks.all > 0) {  // torch 2.0 wrote no requests
    summary.rows[kRequested].all.current.reset();
    summary.rows[kRequested].large.current.reset();
    summary.rows[kRequested].small.current.reset();
  }
  if (is_complete(facts)) {
    fill_from_log(summary, facts, summary.rows[kRequested], summary.rows[kActive], summary.rows[kReserved]);
  }
  count_oversize(summary, facts, state);
  return summary;
}

std::string summary_table(const AllocatorSummary& summary, bool is_abbreviated) {
  std::string text = rule_line('=');
  const std::string device = summary.device < 0 ? "host" : std::to_string(summary.device);
  text += fmt::format("|{:18}PyTorch CUDA memory summary, device ID {:<18}|\n", "", device);
  text += rule_line('-');
  text += fmt::format("|{:12}CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  |\n", "",
                      number_or_unknown(summary.ooms), "", number_or_unknown(summary.retries));
  text += rule_line('=');
  text += "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  for (const SummaryRow& row : summary.rows) {
    text += rule_line('-') + line_of(row.title, row.all, row.all, row.is_bytes);
    if (is_abbreviated) continue;
    text += line_of("      from large pool", row.large, row.all, row.is_bytes);
    text += line_of("      from small pool", row.small, row.all, row.is_bytes);
  }
  text += rule_line('-');
  text += line_of("Oversize allocations", summary.oversize_allocations, summary.oversize_allocations, false);
  text += rule_line('-');
  text += line_of("Oversize GPU segments", summary.oversize_segments, summary.oversize_segments, false);
  return text + rule_line('=');
}

std::vector<std::pair<std::string, std::int64_t>> summary_values(const AllocatorSummary& summary) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  for (const SummaryRow& row : summary.rows) {
    const std::string key = row.key;
    add_values(values, key + ".all.", row.all);
    add_values(values, key + ".large_pool.", row.large);
    add_values(values, key + ".small_pool.", row.small);
  }
  add_values(values, "oversize_allocations.", summary.oversize_allocations);
  add_values(values, "oversize_segments.", summary.oversize_segments);
  if (summary.ooms) values.emplace_back("num_ooms", *summary.ooms);
  if (summary.retries) values.emplace_back("num_alloc_retries", *summary.retries);
  return values;
}

}  // namespace vramscope
