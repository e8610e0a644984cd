#include <algorithm>

#include "analysis/allocator_sizes.h"
#include "report/fact_lines.h"
#include "report/phrases.h"
#include "report/snapshot_text.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kMostStreams = 6;

std::string share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? format_share(static_cast<double>(part) / static_cast<double>(whole)) : std::string(tr("N/A"));
}

// What requests go to: with several streams or pools a request finds the free blocks of its own alone.
std::string own_blocks(const Source& source, const SnapshotDevice& facts) {
  if (facts.use.by_stream.size() < 2) return {};
  const StringId pool = main_pool(*facts.device);
  return filled(pool == 0 ? tr("of stream {stream}") : tr("of stream {stream} and pool {pool}"),
                fmt::arg("stream", main_stream(*facts.device)),
                fmt::arg("pool", printable(source.trace.strings.view(pool))));
}

std::string facts_of(const Source& source, const SnapshotDevice& facts) {
  const SegmentUse& use = facts.use;
  const std::string own = own_blocks(source, facts);
  FactLines lines(Align::right);
  lines.add(tr("Reserved"), format_bytes(use.reserved_bytes.all),
            counted(NN_("in {count} segment", "in {count} segments"), use.segments.all));
  lines.add(tr("Active"), format_bytes(use.active_bytes.all),
            counted(NN_("in {count} block, rounded sizes", "in {count} blocks, rounded sizes"), use.active_blocks.all));
  if (use.rounding_bytes) {
    lines.add(tr("Lost to rounding"), format_bytes(*use.rounding_bytes),
              filled(tr("{share} of the active bytes"),
                     fmt::arg("share", share_of(*use.rounding_bytes, use.active_bytes.all))));
  }
  if (use.pending_free_bytes > 0) {
    lines.add(tr("Freed, still in use"), format_bytes(use.pending_free_bytes),
              tr("another stream has not passed it yet"));
  }
  lines.add(tr("Free in used segments"), format_bytes(use.free_in_used_segments_bytes),
            use.free_pages_bytes > 0 ? filled(tr("whole pages of {bytes}, which torch.cuda.empty_cache() gives back"),
                                              fmt::arg("bytes", format_bytes(use.free_pages_bytes)))
                                     : std::string(tr("cannot be given back to the driver")));
  lines.add(tr("Free segments"), format_bytes(use.free_segments_bytes),
            use.free_segments > 0 ? counted(NN_("{count} segment; torch.cuda.empty_cache() gives it back",
                                                "{count} segments; torch.cuda.empty_cache() gives them back"),
                                            use.free_segments)
                                  : std::string());
  lines.add(tr("Largest free block"), format_bytes(use.largest_free_block_bytes));
  lines.add(tr("Largest request"), format_bytes(use.largest_request_bytes),
            own.empty() ? std::string(tr("that would succeed now without new memory from the driver"))
                        : filled(tr("{blocks}, that would succeed now without new memory from the driver"),
                                 fmt::arg("blocks", own)));
  if (use.torch_fragmentation) {
    lines.add(tr("Fragmentation"), format_share(*use.torch_fragmentation),
              tr("as _memory_viz.py of PyTorch counts it"));
  }
  return lines.text();
}

// What could still be met from the free blocks inside used segments.
std::string size_classes_text(const Source& source, const SnapshotDevice& facts) {
  const SegmentUse& use = facts.use;
  TextTable table;
  table.columns = {{tr("Blocks up to"), Align::right},
                   {tr("Free"), Align::right},
                   {tr("Free bytes"), Align::right},
                   {tr("Requests that fit"), Align::right, Shrink::no, 1},
                   {tr("In use"), Align::right, Shrink::no, 3},
                   {tr("Bytes in use"), Align::right, Shrink::no, 2}};
  for (const SizeClass& each : use.size_classes) {
    if (each.free_blocks == 0 && each.active_blocks == 0) continue;
    table.rows.push_back({format_bytes(each.request_bytes), format_count(each.free_blocks),
                          format_bytes(each.free_bytes), format_count(each.could_be_met),
                          format_count(each.active_blocks), format_bytes(each.active_bytes)});
  }
  if (table.rows.empty() || use.free_bytes == 0) return {};
  std::string text =
      "\n" + wrap(paint(tr("Blocks by size"), Colour::bold), line_columns(), 2) + render(table, table_columns(), 2);
  if (const std::string own = own_blocks(source, facts); !own.empty()) {
    text += wrap(filled(tr("Requests that fit are those {blocks}."), fmt::arg("blocks", own)), line_columns(), 2);
  }
  return text;
}

std::string streams_text(const Source& source, const SegmentUse& use) {
  if (use.by_stream.size() < 2) return {};
  TextTable table;
  table.columns = {{tr("Stream"), Align::right},   {tr("Pool"), Align::left},
                   {tr("Reserved"), Align::right}, {tr("Active"), Align::right, Shrink::no, 2},
                   {tr("Free"), Align::right},     {tr("Largest free block"), Align::right, Shrink::no, 1}};
  const std::size_t shown = std::min(kMostStreams, use.by_stream.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SegmentUse::StreamUse& each = use.by_stream[i];
    table.rows.push_back({std::to_string(each.stream), printable(source.trace.strings.view(each.pool)),
                          format_bytes(each.reserved_bytes), format_bytes(each.active_bytes),
                          format_bytes(each.free_bytes), format_bytes(each.largest_free_block_bytes)});
  }
  std::string text =
      "\n" + wrap(paint(tr("By stream and pool"), Colour::bold), line_columns(), 2) + render(table, table_columns(), 2);
  if (shown < use.by_stream.size()) {
    const auto rest = static_cast<std::int64_t>(use.by_stream.size() - shown);
    text += wrap(filled(tr("and {count} more"), fmt::arg("count", format_count(rest))), line_columns(), 2);
  }
  return text;
}

}  // namespace

std::string segments_text(const Source& source, const SnapshotDevice& facts) {
  if (facts.device->segments.empty()) return {};
  std::string text = wrap(paint(tr("Segments and blocks"), Colour::bold), line_columns(), 2) + facts_of(source, facts);
  if (const std::int64_t odd = inconsistent_segments(*facts.device); odd > 0) {
    text += wrap(counted(NN_("In {count} segment the file's own sums differ from its blocks.",
                             "In {count} segments the file's own sums differ from their blocks."),
                         odd),
                 line_columns(), 2);
  }
  return text + size_classes_text(source, facts) + streams_text(source, facts.use);
}

}  // namespace vramscope
