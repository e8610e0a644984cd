#include <algorithm>

#include "analysis/memory_sums.h"
#include "fmt/format.h"
#include "report/device_name.h"
#include "report/ops_report.h"
#include "report/unusable_memory.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

std::string more_rows(std::size_t left) {
  if (left == 0) return {};
  const auto count = static_cast<std::int64_t>(left);
  return wrap(fmt::format(fmt::runtime(tr_n("{count} more row; --limit 0 shows all.",
                                            "{count} more rows; --limit 0 shows all.", static_cast<long>(count))),
                          fmt::arg("count", format_count(count))),
              line_columns());
}

// "aten::add (1.50 MiB), [memory] (12 B), …"
std::string freed_by_text(const OpLifetime& life) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, life.freed_by.size()); ++i) {
    const auto& [op, bytes] = life.freed_by[i];
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(op), format_bytes(bytes));
  }
  if (life.freed_by.size() > kShown) text += terminal().utf8 ? ", …" : ", ...";
  return text;
}

struct LifetimeColumn {
  const char* title;
  std::int64_t OpLifetime::*bytes;
  bool only_when_used;  // left out where all rows have 0
  int drop;             // where the terminal is narrow
};

constexpr LifetimeColumn kLifetimeColumns[] = {
    {N_("Allocated"), &OpLifetime::alloc_bytes, false, 0},
    {N_("Freed in the call"), &OpLifetime::freed_same_op_bytes, false, 5},
    {N_("Freed in the step"), &OpLifetime::freed_same_step_bytes, false, 4},
    {N_("Freed in a later step"), &OpLifetime::freed_later_step_bytes, false, 2},
    {N_("Freed outside steps"), &OpLifetime::freed_outside_steps_bytes, true, 6},
    {N_("Never freed"), &OpLifetime::never_freed_bytes, false, 0},
    {N_("Free not seen"), &OpLifetime::free_not_seen_bytes, true, 6},
};

TextTable lifetime_table(const Lifetimes& lifetimes, const Trace& trace, std::size_t shown) {
  std::vector<LifetimeColumn> columns;
  for (const LifetimeColumn& column : kLifetimeColumns) {
    const bool used = std::any_of(lifetimes.ops.begin(), lifetimes.ops.end(),
                                  [&](const OpLifetime& life) { return life.*column.bytes != 0; });
    if (used || !column.only_when_used) columns.push_back(column);
  }
  TextTable table;
  table.columns = {{tr("Allocated by"), Align::left, Shrink::middle, 0, 14},
                   {tr("Device"), Align::left, Shrink::no, 1},
                   {tr("Allocations"), Align::right, Shrink::no, 7}};
  for (const LifetimeColumn& column : columns) {
    table.columns.push_back({tr(column.title), Align::right, Shrink::no, column.drop});
  }
  table.columns.push_back({tr("Freed by"), Align::left, Shrink::end, 3, 12});
  for (std::size_t i = 0; i < shown; ++i) {
    const OpLifetime& life = lifetimes.ops[i];
    std::vector<std::string> row = {printable(life.op), memory_device_title(trace, life.device),
                                    format_count(life.allocs)};
    for (const LifetimeColumn& column : columns) {
      const std::int64_t bytes = life.*column.bytes;
      row.push_back(bytes == 0 ? "-" : format_bytes(bytes));
    }
    row.push_back(freed_by_text(life));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string trailing_note(const Lifetimes& lifetimes) {
  std::string text;
  if (lifetimes.frees_without_alloc > 0) {
    const std::string frees =
        tr_n("{count} free ({bytes}) of memory allocated before the recording began is in no row.",
             "{count} frees ({bytes}) of memory allocated before the recording began are in no "
             "row.",
             static_cast<long>(lifetimes.frees_without_alloc));
    text += wrap(fmt::format(fmt::runtime(frees), fmt::arg("count", format_count(lifetimes.frees_without_alloc)),
                             fmt::arg("bytes", format_bytes(lifetimes.frees_without_alloc_bytes))),
                 line_columns());
  }
  if (lifetimes.events_without_address > 0) {
    const std::string events = tr_n("{count} memory event without an address is in no row.",
                                    "{count} memory events without an address are in no row.",
                                    static_cast<long>(lifetimes.events_without_address));
    text += wrap(fmt::format(fmt::runtime(events), fmt::arg("count", format_count(lifetimes.events_without_address))),
                 line_columns());
  }
  return text;
}

}  // namespace

std::string ops_lifetimes_text(const OpsResult& result, std::size_t limit) {
  const Lifetimes& lifetimes = *result.lifetimes;
  if (!lifetimes.has_memory) {
    if (const std::string unusable = unusable_memory_text(*result.source); !unusable.empty()) {
      return wrap(unusable, line_columns());
    }
    return wrap(tr("The file holds no memory events for this; record with profile_memory=True."), line_columns());
  }
  if (!lifetimes.has_addresses) {
    return wrap(tr("Lifetimes need the addresses of allocations, and the memory events of this file have none "
                   "(PyTorch before 1.11); --group-by step still shows what each step allocates and frees."),
                line_columns());
  }
  const std::size_t shown = shown_rows(lifetimes.ops.size(), limit);
  return render(lifetime_table(lifetimes, result.source->trace, shown), line_columns()) +
         more_rows(lifetimes.ops.size() - shown) + trailing_note(lifetimes);
}

std::string ops_steps_text(const OpsResult& result, std::size_t limit) {
  if (result.steps.empty()) return wrap(tr("The file marks no profiler steps."), line_columns());
  TextTable table;
  table.columns = {{tr("Step")},
                   {tr("Device")},
                   {tr("Duration"), Align::right, Shrink::no, 5},
                   {tr("Allocated"), Align::right, Shrink::no, 4},
                   {tr("Freed"), Align::right, Shrink::no, 3},
                   {tr("Kept"), Align::right},
                   {tr("Peak above start"), Align::right, Shrink::no, 2},
                   {tr("Peak"), Align::right, Shrink::no, 1}};
  const std::size_t shown = shown_rows(result.steps.size(), limit);
  for (std::size_t i = 0; i < shown; ++i) {
    const StepUse& step = result.steps[i];
    std::vector<std::string> start = {fmt::format("ProfilerStep#{}", step.number), "",
                                      format_duration(subtract_bytes(step.end_ns, step.begin_ns))};
    if (step.devices.empty()) table.rows.push_back(start);
    for (const StepDevice& use : step.devices) {
      table.rows.push_back({start[0], memory_device_title(result.source->trace, use.device), start[2],
                            format_bytes(use.alloc_bytes), format_bytes(use.free_bytes), format_bytes(use.kept_bytes),
                            format_bytes(use.peak_bytes),
                            use.peak_allocated_bytes ? format_bytes(*use.peak_allocated_bytes) : tr("N/A")});
      start[0].clear();  // once a step
      start[2].clear();
    }
  }
  return render(table, line_columns()) + more_rows(result.steps.size() - shown);
}

OpsResult analyse_ops(const Source& source, const OpQuery& query, bool lifetimes, std::optional<OpColumn> sort) {
  OpsResult result;
  result.source = &source;
  result.table = build_op_table(source.trace, query);
  result.sort = sort.value_or(default_sort(result.table));
  sort_rows(result.table.rows, result.sort);
  if (query.by_step) result.steps = memory_by_step(source.trace, query.device);
  if (lifetimes) result.lifetimes = find_lifetimes(source.trace, query.device);
  return result;
}

std::string ops_text(const OpsResult& result, const OpQuery& query, std::size_t limit) {
  if (result.lifetimes) return ops_lifetimes_text(result, limit);
  std::string text;
  if (query.by_step) text += ops_steps_text(result, limit) + "\n";
  return text + ops_table_text(result, query, limit);
}

}  // namespace vramscope
