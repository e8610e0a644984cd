#include <algorithm>
#include <charconv>

#include "analysis/frames.h"
#include "analysis/memory_sums.h"
#include "report/phrases.h"
#include "report/snapshot_text.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kTopStacks = 6;
constexpr std::size_t kTopRows = 12;
constexpr std::size_t kMoreFrames = 3;

const char* dots() {
  return terminal().utf8 ? "…" : "...";
}

// Python's, unlike a native one.
bool is_script_frame(const Source& source, StringId frame) {
  return source.trace.strings.view(frame).find(".py(") != std::string_view::npos;
}

std::string title_of(const SnapshotDevice& facts, const Holders& holders, const SnapshotMoment& moment) {
  const std::string when =
      holders.count == 0 ? std::string(tr("before the log")) : entry_text(facts, holders.count - 1);
  switch (moment.kind) {
    case SnapshotMomentKind::snapshot:
      return tr("Who holds the memory when the snapshot was taken");
    case SnapshotMomentKind::peak:
      return filled(tr("Who holds the memory at the peak ({when})"), fmt::arg("when", when));
    case SnapshotMomentKind::end:
      return tr("Who holds the memory at the end of the log");
    case SnapshotMomentKind::oom:
      return filled(tr("Who holds the memory when the allocation fails ({when})"),
                    fmt::arg("when", entry_text(facts, holders.count)));
    case SnapshotMomentKind::entry:
    case SnapshotMomentKind::since_start:
    case SnapshotMomentKind::clock:
      break;
  }
  return filled(tr("Who holds the memory after {when}"), fmt::arg("when", when));
}

std::string sentence_of(const Holders& holders) {
  std::string text =
      filled(tr_n(NN_("{bytes} as asked for, in {count} allocation.", "{bytes} as asked for, in {count} allocations."),
                  static_cast<long>(holders.allocations)),
             fmt::arg("bytes", format_bytes(holders.bytes)), fmt::arg("count", format_count(holders.allocations)));
  if (holders.rounded_bytes > 0) {
    text += " " + filled(tr("{bytes} of it is known as rounded sizes alone."),
                         fmt::arg("bytes", format_bytes(holders.rounded_bytes)));
  }
  return text;
}

std::string share_of(const Holders& holders, const HeldGroup& group) {
  if (holders.bytes <= 0) return {};
  return format_share(static_cast<double>(group.bytes) / static_cast<double>(holders.bytes));
}

std::string stacks_text(const Source& source, const Holders& holders, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const HeldGroup& group = holders.groups[i];
    const std::string head = fmt::format("{}  {}  ", format_bytes(group.bytes), share_of(holders, group)) +
                             counted(NN_("{count} allocation", "{count} allocations"), group.count);
    text += wrap(paint(head, Colour::bold), line_columns(), 2, 2);
    text += short_stack(source, group.stack, kMoreFrames, 6);
  }
  return text;
}

const char* key_title(HeldBy by) {
  switch (by) {
    case HeldBy::frame:
      return tr("Your code");
    case HeldBy::stream:
      return tr("Stream");
    case HeldBy::pool:
      return tr("Pool");
    case HeldBy::size:
      return tr("Size of each");
    case HeldBy::category:
      return tr("Category");
    case HeldBy::context:
      return tr("Compile context");
    case HeldBy::stack:
      break;
  }
  return tr("Stack");
}

std::string key_text(const Source& source, const HeldGroup& group, HeldBy by) {
  if (by == HeldBy::frame) {
    return group.frame == 0 ? tr("[no frame of your code]") : printable(source.trace.strings.view(group.frame));
  }
  if (by == HeldBy::size) {
    std::int64_t bytes = 0;
    const char* const end = group.key.data() + group.key.size();
    if (std::from_chars(group.key.data(), end, bytes).ptr == end && !group.key.empty()) return format_bytes(bytes);
  }
  return group.key.empty() ? tr("[not told]") : printable(group.key);
}

std::string table_text(const Source& source, const Holders& holders, std::size_t shown, HeldBy by) {
  TextTable table;
  const bool is_number = by == HeldBy::size || by == HeldBy::stream;
  table.columns = {{tr("Bytes"), Align::right},
                   {tr("Share"), Align::right, Shrink::no, 2},
                   {tr("Allocations"), Align::right, Shrink::no, 3},
                   {key_title(by), is_number ? Align::right : Align::left, Shrink::middle, 0, 12}};
  if (by != HeldBy::frame) table.columns.push_back({tr("Mostly at"), Align::left, Shrink::middle, 1, 14});
  for (std::size_t i = 0; i < shown; ++i) {
    const HeldGroup& group = holders.groups[i];
    table.rows.push_back(
        {format_bytes(group.bytes), share_of(holders, group), format_count(group.count), key_text(source, group, by)});
    if (by == HeldBy::frame) continue;
    table.rows.back().push_back(printable(source.trace.strings.view(user_frame(source, group.stack))));
  }
  return render(table, table_columns(), 2);
}

}  // namespace

std::string short_stack(const Source& source, StackId stack, std::size_t more, std::size_t indent) {
  const std::string margin(indent, ' ');
  const std::size_t columns = table_columns() > indent + 8 ? table_columns() - indent : 8;
  const auto line = [&](StringId frame, bool is_user) {
    const std::string shown = elide_middle(printable(source.trace.strings.view(frame)), columns, !terminal().utf8);
    return margin + (is_user ? paint(shown, Colour::cyan) : shown) + "\n";
  };
  const std::vector<StringId> frames = readable_frames(source, stack);
  if (frames.empty()) return margin + tr("[no stack recorded]") + "\n";
  const StringId own = user_frame(source, stack);
  std::string text = own == 0 ? std::string() : line(own, true);
  std::size_t shown = 0;
  // Beside the user's own frame the callers tell more than the inside of a library.
  const bool has_script = std::any_of(frames.begin(), frames.end(),
                                      [&](StringId frame) { return frame != own && is_script_frame(source, frame); });
  for (const StringId frame : frames) {
    if (frame == own || (has_script && !is_script_frame(source, frame))) continue;
    if (shown == more) break;
    text += line(frame, is_user_frame(source.trace.strings.view(frame)));
    ++shown;
  }
  const std::size_t told = shown + (own == 0 ? 0 : 1);
  if (told < frames.size()) {
    text +=
        margin + dots() +
        counted(NN_(" {count} more frame", " {count} more frames"), static_cast<std::int64_t>(frames.size() - told)) +
        "\n";
  }
  return text;
}

std::string holders_text(const Source& source, const SnapshotDevice& facts, const MemoryOptions& options) {
  const SnapshotMoment moment = options.snapshot.at.value_or(SnapshotMoment{});
  const HeldBy by = options.snapshot.by.value_or(HeldBy::stack);
  const std::optional<Holders> holders = holders_at(source, facts, moment, by);
  if (!holders) return wrap(tr("The log of this device has no such moment."), line_columns(), 2);
  std::string text = wrap(paint(title_of(facts, *holders, moment), Colour::bold), line_columns(), 2);
  text += wrap(sentence_of(*holders), line_columns(), 2);
  if (holders->groups.empty()) return text;
  const std::size_t most = options.top.value_or(by == HeldBy::stack ? kTopStacks : kTopRows);
  const std::size_t shown = std::min(most, holders->groups.size());
  text += by == HeldBy::stack ? stacks_text(source, *holders, shown) : table_text(source, *holders, shown, by);
  if (shown == holders->groups.size()) return text;
  std::int64_t rest = 0;
  for (std::size_t i = shown; i < holders->groups.size(); ++i) rest = add_bytes(rest, holders->groups[i].bytes);
  return text + wrap(dots() + filled(tr(" {count} more with {bytes} together; --top 0 shows all."),
                                     fmt::arg("count",
                                              format_count(static_cast<std::int64_t>(holders->groups.size() - shown))),
                                     fmt::arg("bytes", format_bytes(rest))),
                     line_columns(), 2);
}

}  // namespace vramscope
