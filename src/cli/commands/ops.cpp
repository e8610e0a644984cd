// vramscope ops FILE…: which operator takes the time and the memory.
#include <memory>

#include "analysis/device_filter.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "report/ops_report.h"
#include "report/paths.h"
#include "report/source_kind.h"
#include "report/sum_limits.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kDefaultLimit = 100;  // PyTorch's row_limit

struct OpsOptions {
  InputOptions input;
  std::string sort;
  std::optional<std::size_t> limit;
  std::vector<std::string> groups;
  std::optional<std::size_t> stack_depth;
  std::string rows = "ops";
  std::string device;
  bool lifetimes = false;
  bool csv = false;
};

std::string sort_key_list() {
  std::string list;
  for (const std::string_view key : sort_keys()) list += (list.empty() ? "" : ", ") + std::string(key);
  return list;
}

Result<OpQuery> query_of(const OpsOptions& options) {
  OpQuery query;
  query.all_rows = options.rows == "all";
  query.stack_depth = options.stack_depth.value_or(query.stack_depth);
  for (const std::string& group : options.groups) {
    const std::string problem = choice_problem("--group-by", group, {"shape", "stack", "step", "annotation"});
    if (!problem.empty()) return Error{ExitCode::usage, problem};
    query.by_shape = query.by_shape || group == "shape";
    query.by_stack = query.by_stack || group == "stack";
    query.by_step = query.by_step || group == "step";
    query.by_annotation = query.by_annotation || group == "annotation";
  }
  if (options.device.empty()) return query;
  const std::optional<DeviceFilter> filter = parse_device(options.device);
  if (!filter) {
    return Error{ExitCode::usage, fmt::format(fmt::runtime(tr("\"{device}\" names no device; write cpu, a number, or a "
                                                              "type and a number like cuda:0.")),
                                              fmt::arg("device", options.device))};
  }
  query.device = *filter;
  return query;
}

Result<std::optional<OpColumn>> sort_of(const OpsOptions& options) {
  if (options.sort.empty()) return std::optional<OpColumn>();
  const std::optional<OpColumn> column = parse_sort_key(options.sort);
  if (column) return column;
  return Error{ExitCode::usage, fmt::format(fmt::runtime(tr("There is no sort key \"{key}\"; choose one of {list}.")),
                                            fmt::arg("key", options.sort), fmt::arg("list", sort_key_list()))};
}

bool any_has_device(const Case& input, const DeviceFilter& filter) {
  for (const Source& source : input.sources) {
    if (is_in_trace(filter, source.trace)) return true;
  }
  return false;
}

// Which verb fits files without operators; empty when one of them is a trace.
std::string no_operators(const Case& input) {
  for (const Source& source : input.sources) {
    if (kind_of(source) == SourceKind::trace) return {};
  }
  const Source& first = input.sources.front();
  const char* what = kind_of(first) == SourceKind::snapshot   ? tr("a memory snapshot")
                     : kind_of(first) == SourceKind::timeline ? tr("a memory timeline")
                                                              : tr("a log");
  return fmt::format(fmt::runtime(tr("{path} is {what} and has no operators; use vramscope memory or diagnose on it.")),
                     fmt::arg("path", shown_path(first.path)), fmt::arg("what", what));
}

ExitCode run_ops(const OpsOptions& options) {
  const Result<OpQuery> query = query_of(options);
  if (!query) return fail(query.error());
  const Result<std::optional<OpColumn>> sort = sort_of(options);
  if (!sort) return fail(sort.error());
  if (options.csv && (options.input.json() || !options.input.format.empty())) {
    return fail({ExitCode::usage, tr("--csv contradicts --json and --format; give one of them.")});
  }
  Result<Loaded> loaded = load_case(options.input);
  if (!loaded) return fail(loaded.error());
  Case& input = loaded->input;
  if (const std::string problem = no_operators(input); !problem.empty()) return fail({ExitCode::usage, problem});
  if (!any_has_device(input, query->device)) {
    return fail({ExitCode::usage, fmt::format(fmt::runtime(tr("Nothing in the input ran on or used memory of {device}; "
                                                              "vramscope info lists the devices.")),
                                              fmt::arg("device", options.device))});
  }
  std::vector<OpsResult> results;
  for (Source& source : input.sources) {
    results.push_back(analyse_ops(source, *query, options.lifetimes, *sort));
    note_clamped_sums(source, clamped_sums(results.back()));
  }
  const bool for_people = !options.input.json() && !options.csv;
  const std::size_t limit = options.limit.value_or(for_people ? kDefaultLimit : 0);
  if (options.input.json()) {
    print(ops_json(results, *query, limit, options.input.is_list()));
    return loaded->end(ExitCode::ok);
  }
  if (options.csv) {
    print(ops_csv(results, *query, limit, options.input.is_list()));
    return loaded->end(ExitCode::ok);
  }
  std::string text = trouble_header(input);
  for (const OpsResult& result : results) {
    if (&result != &results.front()) text += "\n";
    if (results.size() > 1) text += wrap(paint(shown_path(result.source->path), Colour::bold), line_columns());
    text += ops_text(result, *query, limit);
  }
  print(text);
  return loaded->end(ExitCode::ok);
}

std::function<ExitCode()> declare_ops(CLI::App& app) {
  const auto options = std::make_shared<OpsOptions>();
  add_input_options(app, options->input);
  const std::vector<std::string_view> keys = sort_keys();
  suggest(app.add_option("--sort", options->sort,
                         fmt::format(fmt::runtime(tr("Column to sort by, highest first: {list}")),
                                     fmt::arg("list", sort_key_list()))),
          {keys.begin(), keys.end()})
      ->type_name("KEY");
  add_number(app, "--limit", options->limit, {},
             tr("Rows at most, 0 for all; 100 by default, all with --json and --csv"));
  suggest(app.add_option("--group-by", options->groups,
                         tr("Split rows by shape, stack, step or annotation; several are joined by commas")),
          {"shape", "stack", "step", "annotation"})
      ->delimiter(',')
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY");
  add_number(app, "--stack-depth", options->stack_depth, {1, 1000},
             tr("Innermost frames that tell stacks apart; 5 by default"));
  add_choice(app, "--rows", options->rows, {"ops", "all"},
             tr("ops, or all: API calls, kernels, copies and sets have rows too"))
      ->type_name("ops|all");
  app.add_option("--device", options->device, tr("Count device time and memory of this device alone: cuda:0, 0, cpu"))
      ->type_name("DEVICE");
  app.add_flag("--lifetimes", options->lifetimes,
               tr("Per operator: when, and by which operator, what it allocated is freed"));
  app.add_flag("--csv", options->csv, tr("Print comma-separated values with exact integers"));
  return [options] { return run_ops(*options); };
}

}  // namespace

Command command_ops() {
  return {"ops", N_("Which operator takes the time and the memory"), 20, declare_ops};
}

}  // namespace vramscope
