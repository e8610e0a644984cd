#include "report/snapshot_text.h"

#include <algorithm>

#include "analysis/memory_sums.h"
#include "report/allocator_summary.h"
#include "report/fact_lines.h"
#include "report/oom_text.h"
#include "report/paths.h"
#include "report/phrases.h"
#include "report/snapshot_growth.h"
#include "text/date.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kYear2000_ns = 946'684'800 * kSecond;  // earlier times are no dates
constexpr std::size_t kMostOoms = 5;                          // explained in full

std::string header(const Source& source, const std::vector<SnapshotDevice>& devices) {
  std::int64_t entries = 0;
  std::int64_t first_ns = kUnknown;
  std::int64_t last_ns = kUnknown;
  for (const SnapshotDevice& facts : devices) {
    entries += static_cast<std::int64_t>(facts.device->log.size());
    if (facts.replay.first_time_ns == kUnknown || facts.replay.last_time_ns == kUnknown) continue;
    first_ns = first_ns == kUnknown ? facts.replay.first_time_ns : std::min(first_ns, facts.replay.first_time_ns);
    last_ns = std::max(last_ns, facts.replay.last_time_ns);
  }
  const std::string log = entries == 0 ? std::string(tr("without a log"))
                                       : counted(NN_("{count} log entry", "{count} log entries"), entries);
  std::string text = paint(shown_path(source.path), Colour::bold) + "  " +
                     filled(tr("CUDA memory snapshot, {log}"), fmt::arg("log", log));
  if (first_ns != kUnknown) {
    text += filled(tr(" over {time}"), fmt::arg("time", format_duration(subtract_bytes(last_ns, first_ns))));
    if (last_ns > kYear2000_ns) text += filled(tr(", until {date}"), fmt::arg("date", format_utc(last_ns)));
  }
  text = wrap(text, line_columns(), 0, 2);
  std::string settings;
  for (const std::string& each : changed_settings(*source.memory_state)) {
    settings += (settings.empty() ? "" : ", ") + printable(each);
  }
  if (!settings.empty()) {
    text += wrap(filled(tr("Allocator settings in force: {list}"), fmt::arg("list", settings)), line_columns(), 2, 2);
  }
  return text;
}

// Why most people look at a snapshot at all: before everything else.
std::string failures(const std::vector<SnapshotDevice>& devices) {
  std::string text;
  for (const SnapshotDevice& facts : devices) {
    if (facts.ooms.empty()) continue;
    const OomEntry& last = facts.ooms.back();
    const std::string asked = last.event.asked_bytes ? format_bytes(*last.event.asked_bytes) : std::string(tr("N/A"));
    const std::string line = filled(
        tr("Out of memory on {device}, {bytes} asked for. {cause}"), fmt::arg("device", facts.device->name()),
        fmt::arg("bytes", asked), fmt::arg("cause", oom_cause_sentence(last.verdict.cause, Wording::chosen_language)));
    text += wrap(paint(line, Colour::red), line_columns(), 2, 2);
  }
  return text;
}

std::string peak_remark(const SnapshotDevice& facts) {
  const std::size_t count = facts.replay.peak_count;
  return count == 0 ? std::string(tr("as asked for, before the log"))
                    : filled(tr("as asked for, at {when}"), fmt::arg("when", entry_text(facts, count - 1)));
}

// What most people look for, in a few lines.
std::string headline(const SnapshotDevice& facts) {
  const SegmentUse& use = facts.use;
  FactLines lines(Align::right);
  lines.add(
      tr("Reserved"), format_bytes(use.reserved_bytes.all),
      counted(NN_("from the driver, in {count} segment", "from the driver, in {count} segments"), use.segments.all));
  lines.add(tr("Allocated"), format_bytes(use.allocated_bytes.all),
            counted(NN_("in {count} block, rounded sizes", "in {count} blocks, rounded sizes"), use.allocations.all));
  lines.add(tr("Free inside"), format_bytes(use.free_bytes),
            filled(tr("largest block {bytes}"), fmt::arg("bytes", format_bytes(use.largest_free_block_bytes))));
  if (facts.replay.allocs > 0 || facts.replay.frees > 0) {
    lines.add(tr("Peak of the log"), format_bytes(facts.replay.peak_bytes), peak_remark(facts));
  }
  if (!facts.ooms.empty()) {
    const OomEntry& last = facts.ooms.back();
    lines.add(tr("Out of memory"),
              last.event.asked_bytes ? format_bytes(*last.event.asked_bytes) : std::string(tr("N/A")),
              facts.ooms.size() == 1 ? std::string(tr("asked for in vain; explained below"))
                                     : counted(NN_("asked for in vain, the last of {count} times; explained below",
                                                   "asked for in vain, the last of {count} times; explained below"),
                                               static_cast<std::int64_t>(facts.ooms.size())));
  }
  return lines.text();
}

std::string summary_text(const SnapshotDevice& facts, const MemoryState& state) {
  // The host's allocator has no such table; where it does not fit the segments' lines tell the same.
  if (facts.device->index < 0) return {};
  if (terminal().fit == Fit::width && terminal().columns < kSummaryColumns) return {};
  const bool is_small = facts.device->log.size() == 0 && facts.use.active_blocks.all == 0;
  return "\n" + summary_table(summarise(facts, state), is_small);
}

std::string ooms_text(const SnapshotDevice& facts) {
  std::string text;
  const std::size_t shown = std::min(kMostOoms, facts.ooms.size());
  const std::size_t skipped = facts.ooms.size() - shown;
  if (skipped > 0) {
    text += "\n" + wrap(counted(NN_("{count} earlier failure is not shown; --json has all.",
                                    "{count} earlier failures are not shown; --json has all."),
                                static_cast<std::int64_t>(skipped)),
                        line_columns(), 2);
  }
  for (std::size_t i = skipped; i < facts.ooms.size(); ++i) {
    const OomEntry& oom = facts.ooms[i];
    std::string title = filled(tr("Out of memory at {when}"), fmt::arg("when", entry_text(facts, oom.entry)));
    text += "\n" + wrap(paint(title, Colour::bold), line_columns(), 2) + oom_text(oom.event, oom.verdict);
  }
  return text;
}

std::string device_text(const Source& source, const SnapshotDevice& facts, const MemoryOptions& options,
                        bool is_short) {
  const auto part = [](const std::string& text) { return text.empty() ? std::string() : "\n" + text; };
  std::string text = "\n" + paint(facts.device->name(), Colour::bold) + "\n" + headline(facts);
  if (is_short) return text + ooms_text(facts);
  text += summary_text(facts, *source.memory_state);
  text += part(segments_text(source, facts));
  text += part(snapshot_curve_text(facts));
  text += part(holders_text(source, facts, options));
  text += part(log_notes_text(source, facts));
  return text + ooms_text(facts);
}

std::string quiet_text(const std::vector<SnapshotDevice>& devices) {
  std::string names;
  for (const SnapshotDevice& facts : devices) {
    if (facts.is_quiet()) names += (names.empty() ? "" : ", ") + facts.device->name();
  }
  if (names.empty()) return {};
  return "\n" + wrap(filled(tr("{devices}: no memory and no log."), fmt::arg("devices", names)), line_columns(), 0, 2);
}

bool is_default_setting(const std::string& name, const std::string& value) {
  if (value.empty() || value == "None" || value == "N/A") return true;
  if (name.substr(0, 21) == "last_allocator_settin") return true;  // the whole text again
  if (name == "pinned_num_register_threads") return value == "1";
  if (name == "max_split_size") return value[0] == '-' || value == "0" || value == "9223372036854775807";
  if (name == "per_process_memory_fraction") return value == "1" || value == "1.0";
  return value == "False" || value == "0" || value == "0.0" || value == "-1";
}

}  // namespace

std::string entry_text(const SnapshotDevice& facts, std::size_t entry) {
  const AllocatorLog& log = facts.device->log;
  std::string text =
      filled(tr("entry {number} of {all}"), fmt::arg("number", format_count(static_cast<std::int64_t>(entry) + 1)),
             fmt::arg("all", format_count(static_cast<std::int64_t>(log.size()))));
  if (entry >= log.size() || log.time_ns[entry] == kUnknown || facts.replay.first_time_ns == kUnknown) return text;
  const std::int64_t time_ns = subtract_bytes(log.time_ns[entry], facts.replay.first_time_ns);
  return text + filled(tr(", {time} after the first"), fmt::arg("time", format_duration(time_ns)));
}

std::vector<std::string> changed_settings(const MemoryState& state) {
  std::vector<std::string> list;
  for (const auto& [name, value] : state.settings) {
    if (!is_default_setting(name, value)) list.push_back(name + "=" + value);
  }
  return list;
}

std::string snapshot_text(const Source& source, const Case& input, const MemoryOptions& options) {
  const std::vector<SnapshotDevice> devices = measure_snapshot(source, input, options.device);
  std::string text = header(source, devices) + failures(devices);
  if (devices.empty()) {
    const bool is_empty = source.memory_state->devices.empty();
    return text +
           wrap(is_empty
                    ? tr("The snapshot holds no memory of any device; take it in the process that uses the device.")
                    : tr("The snapshot lists no such device."),
                line_columns(), 2);
  }
  const bool is_short = order_snapshots(input).sources.size() > 1;
  for (const SnapshotDevice& facts : devices) {
    if (!facts.is_quiet()) text += device_text(source, facts, options, is_short);
  }
  return text + quiet_text(devices);
}

}  // namespace vramscope
