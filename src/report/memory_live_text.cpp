#include "report/memory_live_text.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/frames.h"
#include "analysis/memory_sums.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kTopRows = 10;
constexpr std::size_t kMostFrames = 12;  // of a stack that is printed in full

struct LiveRow {
  std::string what;
  std::string where;
  std::vector<StringId> stack;
  std::int64_t bytes = 0;
  std::int64_t count = -1;  // -1: not known
};

struct LiveSet {
  const Source& source;
  FoundMoment moment;
  std::int64_t level_bytes = 0;  // of the curve
  bool is_relative = false;
  std::int64_t live_bytes = 0;  // made in the recording
  std::int64_t live_count = 0;
  std::optional<std::int64_t> before_bytes;
  std::vector<LiveRow> rows;

  // What a share is a share of.
  std::int64_t whole_bytes() const { return before_bytes ? level_bytes : live_bytes; }
  std::string share(std::int64_t bytes) const {
    const std::int64_t whole = whole_bytes();
    return whole > 0 ? format_share(static_cast<double>(bytes) / static_cast<double>(whole)) : std::string();
  }
};

std::string op_name(const std::string& name) {
  return name == kOutsideAnyOp ? tr("[outside any op]") : printable(name);
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : text;
}

// "aten::linear › empty": the operator that the user called and the one that allocated. What the autograd engine
// puts before every backward operator, and the second namespace, would only take room.
std::string op_text(const LiveGroup& group) {
  if (group.outer_op.empty() || group.outer_op == group.op) return op_name(group.op);
  return printable(without_prefix(group.outer_op, "autograd::engine::evaluate_function: ")) +
         (terminal().utf8 ? " › " : " > ") + op_name(std::string(without_prefix(group.op, "aten::")));
}

const char* dots() {
  return terminal().utf8 ? "…" : "...";
}

// The frame in at most `columns` where that can be: first the outer folders go ("…/bert/modeling_bert.py(786):
// forward"), then all of them, then the function; the file and the line are what leads to the place.
std::string short_frame(const std::string& frame, std::size_t columns) {
  if (display_width(frame) <= columns) return frame;
  const std::size_t line = std::min(frame.find('('), frame.size());
  for (std::size_t cut = frame.find('/', 1); cut < line; cut = frame.find('/', cut + 1)) {
    std::string text = dots() + frame.substr(cut);
    if (display_width(text) <= columns) return text;
  }
  const std::size_t folder = frame.rfind('/', line);
  const std::string file = folder == std::string::npos ? frame : frame.substr(folder + 1);
  if (display_width(file) <= columns) return file;
  return file.substr(0, file.find("): ") == std::string::npos ? file.size() : file.find("): ") + 1);
}

// The user's innermost frame; without one the innermost module of the network.
std::string where_text(const Trace& trace, const std::vector<StringId>& stack) {
  StringId frame = first_user_frame(trace.strings, stack);
  if (frame == 0) {
    const auto module = std::find_if(stack.begin(), stack.end(), [&](StringId each) {
      return trace.strings.view(each).substr(0, 10) == "nn.Module:";
    });
    if (module != stack.end()) frame = *module;
  }
  return printable(trace.strings.view(frame));
}

std::string step_text(const Trace& trace, std::uint32_t step) {
  if (step == kNone) return trace.steps.empty() ? tr("[no steps are marked]") : tr("[outside any step]");
  return fmt::format(fmt::runtime(tr("step {number}")), fmt::arg("number", trace.steps[step].number));
}

LiveRow row_of(const Trace& trace, const LiveGroup& group, LiveBy by) {
  LiveRow row;
  row.bytes = group.bytes;
  row.count = group.count;
  if (by == LiveBy::step) {
    row.what = step_text(trace, group.step);
    return row;
  }
  if (by != LiveBy::stack) row.what = op_text(group);
  if (by != LiveBy::op) row.stack = trace.stack_of_memory(group.first_event);
  if (by != LiveBy::op) row.where = where_text(trace, row.stack);
  return row;
}

// Without a choice, stacks that differ only inside libraries are one row.
void merge_places(std::vector<LiveRow>& rows) {
  absl::flat_hash_map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<LiveRow> merged;
  for (LiveRow& row : rows) {
    const auto [place, is_new] = places.try_emplace(std::pair(row.what, row.where), merged.size());
    if (is_new) {
      merged.push_back(std::move(row));
    } else {
      merged[place->second].bytes = add_bytes(merged[place->second].bytes, row.bytes);
      merged[place->second].count += row.count;
    }
  }
  rows = std::move(merged);
}

LiveSet live_set(const Source& source, const SourceMemory& facts, const DeviceMemory& memory, const FoundMoment& moment,
                 const MemoryOptions& options) {
  LiveSet set{source, moment, memory.level_after(moment.count), memory.kind == CurveKind::relative, 0, 0, {}, {}};
  const std::vector<LiveBlock> blocks = live_after(source.trace, facts.pairs, memory, moment.count);
  set.live_bytes = sum_of(blocks);
  set.live_count = static_cast<std::int64_t>(blocks.size());
  set.before_bytes = before_recording_bytes(memory, moment.count, set.live_bytes);
  LiveBy by = options.by.value_or(LiveBy::outer_op_and_stack);
  if (by == LiveBy::op_and_stack) by = LiveBy::outer_op_and_stack;
  for (const LiveGroup& group : group_live(source.trace, blocks, by)) {
    set.rows.push_back(row_of(source.trace, group, by));
  }
  if (by == LiveBy::outer_op_and_stack) merge_places(set.rows);
  if (set.before_bytes && *set.before_bytes > 0) {
    LiveRow before;
    before.what = tr("[before the recording]");
    before.bytes = *set.before_bytes;
    set.rows.push_back(std::move(before));
  }
  std::stable_sort(set.rows.begin(), set.rows.end(),
                   [](const LiveRow& a, const LiveRow& b) { return a.bytes > b.bytes; });
  return set;
}

std::string title_of(const LiveSet& set, const MemoryOptions& options) {
  const auto fill = [&](const char* text) {
    return fmt::format(fmt::runtime(text), fmt::arg("time", time_since_start(set.source, set.moment.time_ns)),
                       fmt::arg("step", options.at ? options.at->value : 0));
  };
  switch (options.at.value_or(Moment{}).kind) {
    case MomentKind::peak:
      return fill(tr("Live at the peak ({time})"));
    case MomentKind::end:
      return fill(tr("Live at the end ({time})"));
    case MomentKind::step:
      return fill(tr("Live at the end of step {step} ({time})"));
    case MomentKind::since_start:
    case MomentKind::clock:
      break;
  }
  return fill(tr("Live at {time}"));
}

std::string sentence_of(const LiveSet& set) {
  const auto fill = [&](std::string_view both) {
    return fmt::format(fmt::runtime(tr_n(both, static_cast<long>(set.live_count))),
                       fmt::arg("level", format_bytes(set.level_bytes)), fmt::arg("live", format_bytes(set.live_bytes)),
                       fmt::arg("count", format_count(set.live_count)),
                       fmt::arg("before", format_bytes(set.before_bytes.value_or(0))));
  };
  if (set.before_bytes && *set.before_bytes == 0)
    return fill(NN_("{level}, all made in the recording ({count} block).",
                    "{level}, all made in the recording ({count} blocks)."));
  if (set.before_bytes) {
    return fill(NN_("{level}: {live} made in the recording ({count} block), {before} from before it.",
                    "{level}: {live} made in the recording ({count} blocks), {before} from before it."));
  }
  if (set.is_relative)
    return fill(NN_("{live} made in the recording ({count} block); what was there before is unknown.",
                    "{live} made in the recording ({count} blocks); what was there before is unknown."));
  return fill(NN_("{level} by the profiler's totals, {live} made in the recording ({count} block).",
                  "{level} by the profiler's totals, {live} made in the recording ({count} blocks)."));
}

std::string rest_text(const LiveSet& set, std::size_t shown) {
  std::int64_t bytes = 0;
  for (std::size_t i = shown; i < set.rows.size(); ++i) bytes = add_bytes(bytes, set.rows[i].bytes);
  return dots() + fmt::format(fmt::runtime(tr(" {count} more with {bytes} together; --top 0 shows all.")),
                              fmt::arg("count", format_count(static_cast<std::int64_t>(set.rows.size() - shown))),
                              fmt::arg("bytes", format_bytes(bytes)));
}

std::string count_text(const LiveRow& row) {
  return row.count < 0 ? std::string() : format_count(row.count);
}

std::string table_text(const LiveSet& set, std::size_t shown, LiveBy by) {
  TextTable table;
  table.columns = {{tr("Bytes"), Align::right, Shrink::no},
                   {tr("Share"), Align::right, Shrink::no, 1},
                   {tr("Blocks"), Align::right, Shrink::no, 2},
                   {by == LiveBy::step ? tr("Allocated in") : tr("Operator"), Align::left, Shrink::middle, 0, 12}};
  const bool has_where =
      std::any_of(set.rows.begin(), set.rows.end(), [](const LiveRow& row) { return !row.where.empty(); });
  if (has_where) table.columns.push_back({tr("Your code"), Align::left, Shrink::middle, 0, 14});
  constexpr std::size_t kNumbers = 32;  // columns that the bytes, share and blocks take
  const std::size_t frame_columns =
      terminal().columns > 2 * kNumbers ? (terminal().columns - kNumbers) / 2 : kNumbers / 2;
  for (std::size_t i = 0; i < shown; ++i) {
    const LiveRow& row = set.rows[i];
    table.rows.push_back({format_bytes(row.bytes), set.share(row.bytes), count_text(row), row.what});
    if (has_where) table.rows.back().push_back(short_frame(row.where, frame_columns));
  }
  return render(table, table_columns(), 2);
}

// Every stack under its bytes: what people paste into an editor.
std::string stacks_text(const LiveSet& set, std::size_t shown) {
  const StringPool& strings = set.source.trace.strings;
  const std::size_t width = table_columns() - 6;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const LiveRow& row = set.rows[i];
    std::string head = format_bytes(row.bytes) + "  " + set.share(row.bytes);
    if (row.count >= 0) {
      head += "  " + fmt::format(fmt::runtime(tr_n("{count} block", "{count} blocks", static_cast<long>(row.count))),
                                 fmt::arg("count", format_count(row.count)));
    }
    text += wrap(paint(head, Colour::bold) + (row.what.empty() ? "" : "  ") + row.what, line_columns(), 2, 2);
    if (row.stack.empty() && row.what.empty()) text += std::string("      ") + tr("[no stack recorded]") + "\n";
    for (std::size_t f = 0; f < std::min(row.stack.size(), kMostFrames); ++f) {
      const std::string_view frame = strings.view(row.stack[f]);
      const std::string line = elide_middle(printable(frame), width, !terminal().utf8);
      text += "      " + (is_user_frame(frame) ? paint(line, Colour::cyan) : line) + "\n";
    }
    if (row.stack.size() > kMostFrames) {
      text += std::string("      ") + dots() +
              fmt::format(fmt::runtime(tr_n(" {count} more frame", " {count} more frames",
                                            static_cast<long>(row.stack.size() - kMostFrames))),
                          fmt::arg("count", row.stack.size() - kMostFrames)) +
              "\n";
    }
  }
  return text;
}

// For one of several sources: the verb refuses a moment that no source has.
std::string outside_sentence(const MemoryOptions& options) {
  if (options.at && options.at->kind != MomentKind::step) return tr("The moment lies outside this recording.");
  return fmt::format(fmt::runtime(tr("The recording has no step {number}.")),
                     fmt::arg("number", options.at ? options.at->value : 0));
}

}  // namespace

std::string time_since_start(const Source& source, std::int64_t time_ns) {
  const std::int64_t start_ns = source.start_ns.value_or(time_ns);
  return format_duration(subtract_bytes(time_ns, start_ns));
}

std::string live_text(const Source& source, const SourceMemory& facts, const DeviceMemory& memory,
                      const MemoryOptions& options) {
  if (!memory.has_addresses()) {
    return wrap(tr("What was live cannot be told: the trace has no addresses (PyTorch writes them from 1.11 on)."),
                line_columns(), 2);
  }
  const std::optional<FoundMoment> moment = find_moment(source, memory, options.at.value_or(Moment{}));
  if (!moment) return wrap(outside_sentence(options), line_columns(), 2);
  const LiveSet set = live_set(source, facts, memory, *moment, options);
  const std::string title = title_of(set, options);
  const std::string sentence = sentence_of(set);
  const bool fits = display_width(title) + display_width(sentence) + 4 <= terminal().columns;
  std::string text = fits ? "  " + paint(title, Colour::bold) + "  " + sentence + "\n"
                          : wrap(paint(title, Colour::bold), line_columns(), 2) + wrap(sentence, line_columns(), 2);
  if (set.rows.empty()) return text;
  const std::size_t shown = std::min(set.rows.size(), options.top.value_or(kTopRows));
  const LiveBy by = options.by.value_or(LiveBy::op_and_stack);
  text += by == LiveBy::stack ? stacks_text(set, shown) : table_text(set, shown, by);
  if (shown < set.rows.size()) text += wrap(rest_text(set, shown), line_columns(), 2);
  return text;
}

}  // namespace vramscope
