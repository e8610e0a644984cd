#include <algorithm>

#include "report/phrases.h"
#include "report/snapshot_text.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kTopChurn = 3;

std::string mismatch_sentence(const Replay& replay) {
  const auto fill = [&](const char* text) {
    return filled(text, fmt::arg("log", format_bytes(replay.end_bytes)),
                  fmt::arg("held", format_bytes(replay.end_blocks_bytes)));
  };
  switch (replay.mismatch) {
    case EndMismatch::none:
      return {};
    case EndMismatch::no_log:
      return tr("No allocation was logged on this device: torch.cuda.memory._record_memory_history() keeps a log.");
    case EndMismatch::freed_after_log:
      return fill(
          tr("The log ends with {log} live, the segments hold {held} (both as asked for): memory was freed "
             "after the last entry, as when an error unwinds the program before the snapshot is written. "
             "--at end and --at oom look at the log."));
    case EndMismatch::log_incomplete:
      return fill(
          tr("The log ends with {log} live, the segments hold {held} (both as asked for): the log misses "
             "allocations, so its curve is too low."));
  }
  return {};
}

std::string churn_sentence(const SnapshotDevice& facts) {
  const Churn& churn = facts.churn;
  if (churn.short_lived == 0) return {};
  return filled(
      tr_n(NN_("Churn: {count} of {all} allocation was freed within {entries} entries ({bytes} as asked for).",
               "Churn: {count} of {all} allocations were freed within {entries} entries ({bytes} as asked "
               "for)."),
           static_cast<long>(facts.replay.allocs)),
      fmt::arg("count", format_count(churn.short_lived)), fmt::arg("all", format_count(facts.replay.allocs)),
      fmt::arg("entries", format_count(churn.window_entries)),
      fmt::arg("bytes", format_bytes(churn.short_lived_bytes)));
}

std::string driver_sentence(const SnapshotDevice& facts) {
  const Churn& churn = facts.churn;
  if (churn.segment_allocs == 0 && churn.segment_frees == 0) return {};
  std::string text = filled(tr("Driver: segments taken: {taken} ({taken_bytes}), given back: {given} ({given_bytes})."),
                            fmt::arg("taken", format_count(churn.segment_allocs)),
                            fmt::arg("taken_bytes", format_bytes(churn.segment_alloc_bytes)),
                            fmt::arg("given", format_count(churn.segment_frees)),
                            fmt::arg("given_bytes", format_bytes(churn.segment_free_bytes)));
  if (churn.segments_taken_again > 0) {
    text += " " + filled(tr_n(NN_("{count} was taken again soon after one of its size had been given back ({bytes}).",
                                  "{count} were taken again soon after one of their size had been given back "
                                  "({bytes})."),
                              static_cast<long>(churn.segments_taken_again)),
                         fmt::arg("count", format_count(churn.segments_taken_again)),
                         fmt::arg("bytes", format_bytes(churn.segments_taken_again_bytes)));
  }
  return text;
}

std::string frame_list(const Source& source, const std::vector<ChurnGroup>& groups) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kTopChurn, groups.size()); ++i) {
    StringId frame = user_frame(source, groups[i].stack);
    if (frame == 0) {
      const std::vector<StringId> frames = readable_frames(source, groups[i].stack);
      if (!frames.empty()) frame = frames.front();
    }
    const std::string where = frame == 0 ? tr("[no stack recorded]") : printable(source.trace.strings.view(frame));
    const std::string line = format_bytes(groups[i].bytes) + "  " +
                             counted(NN_("{count} allocation", "{count} allocations"), groups[i].count) + "  " + where;
    text += "    " + elide_middle(line, table_columns() - 4, !terminal().utf8) + "\n";
  }
  return text;
}

}  // namespace

std::string log_notes_text(const Source& source, const SnapshotDevice& facts) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += wrap(sentence, line_columns(), 2, 2);
  };
  if (facts.replay.mismatch != EndMismatch::none) {
    text += wrap(paint(mismatch_sentence(facts.replay), Colour::yellow), line_columns(), 2, 2);
  }
  if (const std::string churn = churn_sentence(facts); !churn.empty()) {
    add(churn);
    text += frame_list(source, facts.churn.groups);
  }
  add(driver_sentence(facts));
  if (facts.churn.segments_taken_again > 0) text += frame_list(source, facts.churn.segment_groups);
  if (facts.replay.frees_without_alloc > 0) {
    add(counted(NN_("{count} free was of memory allocated before the log.",
                    "{count} frees were of memory allocated before the log."),
                facts.replay.frees_without_alloc));
  }
  if (facts.replay.allocs_over_live > 0) {
    add(counted(NN_("{count} allocation was at an address that was still live: its free was not recorded.",
                    "{count} allocations were at addresses that were still live: their frees were not recorded."),
                facts.replay.allocs_over_live));
  }
  return text;
}

}  // namespace vramscope
