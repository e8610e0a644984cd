// vramscope memory FILE…: memory over time, its peak, and what was live.
#include "report/memory.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "cli/command.h"
#include "cli/inputs.h"
#include "command_table.h"
#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

struct Options {
  InputOptions input;
  std::string by;
  std::string at;
  std::string device;
  std::size_t top = 0;
  std::size_t points = 1000;
};

Result<MemoryOptions> checked(const Options& options, bool has_top) {
  MemoryOptions chosen;
  if (options.by == "stack") chosen.by = LiveBy::stack;
  if (options.by == "op") chosen.by = LiveBy::op;
  if (options.by == "step") chosen.by = LiveBy::step;
  if (!options.at.empty()) {
    chosen.at = parse_moment(options.at);
    chosen.at_text = options.at;
    if (!chosen.at) {
      return Error{ExitCode::usage,
                   fmt::format(fmt::runtime(tr("--at {text} is no moment; write peak, end, step:7, a time since the "
                                               "start with its unit (1.25s, 800ms), or nanoseconds of the trace's "
                                               "clock.")),
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
  if (has_top) chosen.top = options.top == 0 ? std::numeric_limits<std::size_t>::max() : options.top;
  chosen.points = options.points;
  return chosen;
}

ExitCode run_memory(const Options& options, bool has_top) {
  const Result<MemoryOptions> chosen = checked(options, has_top);
  if (!chosen) return fail(chosen.error());
  const Result<Case> input = load_case(options.input);
  if (!input) return fail(input.error());
  const auto has_device = [&](const Source& source) { return is_in_trace(chosen->device, source.trace); };
  if (!std::any_of(input->sources.begin(), input->sources.end(), has_device)) {
    return fail({ExitCode::usage, fmt::format(fmt::runtime(tr("Nothing in the input ran on or used memory of {device}; "
                                                              "vramscope info lists the devices.")),
                                              fmt::arg("device", options.device))});
  }
  if (options.input.json) {
    print(memory_json(*input, *chosen));
    return ExitCode::ok;
  }
  print(trouble_header(*input) + memory_text(*input, *chosen));
  return ExitCode::ok;
}

std::function<ExitCode()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_input_options(app, options->input);
  app.add_option("--by", options->by, tr("Group what is live by stack, op or step"))
      ->check(CLI::IsMember({"stack", "op", "step"}))
      ->type_name("KEY");
  app.add_option("--at", options->at,
                 tr("The moment to look at: peak (default), end, step:N, 1.25s or 800ms after the start, or "
                    "nanoseconds of the trace's clock"))
      ->type_name("WHEN");
  const CLI::Option* const top =
      app.add_option("--top", options->top, tr("Rows of what is live, 0 for all; 10 by default, all with --json"))
          ->type_name("N");
  app.add_option("--points", options->points, tr("Most points of a curve in JSON; 1000 by default"))
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  app.add_option("--device", options->device, tr("One device only: cuda:0, 0, cpu"))->type_name("DEVICE");
  return [options, top] { return run_memory(*options, top->count() > 0); };
}

}  // namespace

Command command_memory() {
  return {"memory", N_("Where the memory is: over time, at its peak, by operator and stack"), 30, declare};
}

}  // namespace vramscope
