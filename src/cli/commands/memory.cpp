// vramscope memory FILE…: memory over time, its peak, and what was live.
#include "report/memory.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/saturate.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "report/memory_log.h"
#include "report/paths.h"
#include "report/source_kind.h"
#include "report/sum_limits.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

struct Options {
  InputOptions input;
  std::string by;
  std::string at;
  std::string device;
  std::optional<std::size_t> top;
  std::optional<std::size_t> points;
};

Result<MemoryOptions> checked(const Options& options) {
  MemoryOptions chosen;
  if (options.by == "stack") chosen.by = LiveBy::stack;
  if (options.by == "op") chosen.by = LiveBy::op;
  if (options.by == "step") chosen.by = LiveBy::step;
  chosen.snapshot.by = parse_held_by(options.by);
  if (!options.at.empty()) {
    chosen.at = parse_moment(options.at);
    chosen.snapshot.at = parse_snapshot_moment(options.at);
    chosen.at_text = options.at;
    if (!chosen.at && !chosen.snapshot.at) {
      return Error{ExitCode::usage,
                   fmt::format(fmt::runtime(tr("--at {text} is no moment; write peak, end, step:7 (of a trace), oom, "
                                               "oom:1 or entry:100 (of a snapshot's log), a time since the start with "
                                               "its unit (1.25s, 800ms), or nanoseconds of the recording's clock.")),
                               fmt::arg("text", options.at))};
    }
  }
  if (!options.device.empty()) {
    const std::optional<DeviceFilter> filter = parse_device(options.device);
    if (!filter) {
      return Error{ExitCode::usage,
                   fmt::format(fmt::runtime(tr("\"{device}\" names no device; write cpu, a number, or a type and a "
                                               "number like cuda:0.")),
                               fmt::arg("device", options.device))};
    }
    chosen.device = *filter;
  }
  // 0 is all of them, as in ops --limit.
  if (options.top) chosen.top = *options.top == 0 ? std::numeric_limits<std::size_t>::max() : *options.top;
  chosen.points = options.points.value_or(chosen.points);
  chosen.is_list = options.input.is_list();
  return chosen;
}

// The numbers of the steps as people write them: "3 to 12", "1, 2, 5".
std::string step_list(const Trace& trace) {
  std::vector<std::int64_t> numbers;
  for (const Step& step : trace.steps) numbers.push_back(step.number);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  constexpr std::size_t kMost = 12;
  const bool is_range =
      numbers.size() > kMost || (numbers.size() > 2 && saturating_sub(numbers.back(), numbers.front()) ==
                                                           static_cast<std::int64_t>(numbers.size()) - 1);
  if (is_range) {
    return fmt::format(fmt::runtime(tr("{first} to {last}")), fmt::arg("first", numbers.front()),
                       fmt::arg("last", numbers.back()));
  }
  std::string list;
  for (const std::int64_t number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

// Why no source has the moment, by the first of them.
Error no_such_moment(const Source& source, const MemoryOptions& chosen) {
  const auto sentence = [&](const std::string& format) {
    const std::int64_t start_ns = source.start_ns.value_or(0);
    const std::int64_t end_ns = source.end_ns.value_or(0);
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(format), fmt::arg("path", shown_path(source.path)),
                             fmt::arg("at", chosen.at_text), fmt::arg("steps", step_list(source.trace)),
                             fmt::arg("length", format_duration(saturating_sub(end_ns, start_ns))),
                             fmt::arg("first", start_ns), fmt::arg("last", end_ns))};
  };
  if (chosen.at->kind == MomentKind::step && source.trace.steps.empty()) {
    return sentence(tr("{path} marks no steps, so --at {at} cannot be found; choose a time, peak or end."));
  }
  if (chosen.at->kind == MomentKind::step) {
    return sentence(tr("{path} has no such step as --at {at}; it has the steps {steps}."));
  }
  if (chosen.at->kind == MomentKind::clock) {
    return sentence(tr("--at {at} lies outside {path}; choose a time from {first} to {last}."));
  }
  return sentence(tr("--at {at} lies outside {path}; choose a time from 0s to its end after {length}."));
}

Error no_such_snapshot_moment(const Source& source, const MemoryOptions& chosen) {
  std::int64_t entries = 0;
  std::int64_t failures = 0;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    entries += static_cast<std::int64_t>(device.log.size());
    failures += std::count(device.log.action.begin(), device.log.action.end(), AllocatorAction::oom);
  }
  return {ExitCode::usage,
          fmt::format(fmt::runtime(tr("--at {at} lies outside the log of {path} (log entries: {entries}, failed "
                                      "allocations: {failures}); choose snapshot, peak, end, oom:1, entry:1 or a time "
                                      "within it.")),
                      fmt::arg("at", chosen.at_text), fmt::arg("path", shown_path(source.path)),
                      fmt::arg("entries", format_count(entries)), fmt::arg("failures", format_count(failures)))};
}

bool has_device(const Source& source, const DeviceFilter& filter) {
  switch (kind_of(source)) {
    case SourceKind::snapshot: {
      const auto& devices = source.memory_state->devices;
      return filter.all || std::any_of(devices.begin(), devices.end(), [&](const AllocatorDevice& device) {
               return wants_device(filter, device.index);
             });
    }
    case SourceKind::log: {
      const auto& events = source.out_of_memory;
      return !stats_series(source, filter).empty() ||
             std::any_of(events.begin(), events.end(), [&](const OutOfMemory& event) {
               return !event.device || wants_device(filter, *event.device);
             });
    }
    case SourceKind::timeline:
      return true;  // names no device
    case SourceKind::trace:
      break;
  }
  return is_in_trace(filter, source.trace);
}

bool has_moment(const Source& source, const MemoryOptions& chosen) {
  switch (kind_of(source)) {
    case SourceKind::snapshot: {
      const auto& devices = source.memory_state->devices;
      return chosen.snapshot.at && std::any_of(devices.begin(), devices.end(), [&](const AllocatorDevice& device) {
               return wants_device(chosen.device, device.index) && has_snapshot_moment(device, *chosen.snapshot.at);
             });
    }
    case SourceKind::trace:
      return chosen.at && is_within(source, *chosen.at);
    case SourceKind::log:
    case SourceKind::timeline:
      break;
  }
  return false;
}

bool fits_grouping(const Source& source, const MemoryOptions& chosen) {
  const SourceKind kind = kind_of(source);
  return (kind == SourceKind::trace && chosen.by) || (kind == SourceKind::snapshot && chosen.snapshot.by);
}

// Why the choices fit none of the sources; nullopt when they fit one.
std::optional<Error> misfit(const Case& input, const Options& options, const MemoryOptions& chosen) {
  const auto any = [&](const auto& fits) { return std::any_of(input.sources.begin(), input.sources.end(), fits); };
  if (!any([&](const Source& source) { return has_device(source, chosen.device); })) {
    return Error{ExitCode::usage, fmt::format(fmt::runtime(tr("Nothing in the input ran on or used memory of {device}; "
                                                              "vramscope info lists the devices.")),
                                              fmt::arg("device", options.device))};
  }
  if (!options.by.empty() && !any([&](const Source& source) { return fits_grouping(source, chosen); })) {
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(tr("--by {key} fits none of the files: traces have stack, op and step, "
                                             "snapshots stack, frame, stream, pool, size, category and context.")),
                             fmt::arg("key", options.by))};
  }
  if (options.at.empty() || any([&](const Source& source) { return has_moment(source, chosen); })) return std::nullopt;
  const Source& first = input.sources.front();
  if (kind_of(first) == SourceKind::snapshot) return no_such_snapshot_moment(first, chosen);
  if (kind_of(first) == SourceKind::trace && chosen.at) return no_such_moment(first, chosen);
  return Error{ExitCode::usage, fmt::format(fmt::runtime(tr("{path} has no such moment as --at {at}.")),
                                            fmt::arg("path", shown_path(first.path)), fmt::arg("at", chosen.at_text))};
}

ExitCode run_memory(const Options& options) {
  const Result<MemoryOptions> chosen = checked(options);
  if (!chosen) return fail(chosen.error());
  Result<Loaded> loaded = load_case(options.input);
  if (!loaded) return fail(loaded.error());
  Case& input = loaded->input;
  if (const std::optional<Error> error = misfit(input, options, *chosen)) return fail(*error);
  for (Source& source : input.sources) note_clamped_sums(source, clamped_sums(source, chosen->device));
  print(options.input.json() ? memory_json(input, *chosen) : trouble_header(input) + memory_text(input, *chosen));
  return loaded->end(ExitCode::ok);
}

std::function<ExitCode()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_input_options(app, options->input);
  add_choice(
      app, "--by", options->by, {"stack", "op", "step", "frame", "stream", "pool", "size", "category", "context"},
      tr("Group what is live: stack, op or step of a trace; stack, frame, stream, pool, size, category or context "
         "of a snapshot"))
      ->type_name("KEY");
  app.add_option("--at", options->at,
                 tr("The moment to look at: peak (default of traces), end, step:N, 1.25s or 800ms after the start, or "
                    "nanoseconds of the recording's clock; of snapshots also snapshot (default), oom, oom:N, entry:N"))
      ->type_name("WHEN");
  add_number(app, "--top", options->top, {}, tr("Rows of what is live, 0 for all; few by default, all with --json"));
  add_number(app, "--points", options->points, {1}, tr("Most points of a curve in JSON; 1000 by default"));
  app.add_option("--device", options->device, tr("One device only: cuda:0, 0, cpu"))->type_name("DEVICE");
  return [options] { return run_memory(*options); };
}

}  // namespace

Command command_memory() {
  return {"memory", N_("Where the memory is: over time, at its peak, by operator and stack"), 30, declare};
}

}  // namespace vramscope
