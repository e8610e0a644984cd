#include <algorithm>

#include "fmt/format.h"
#include "report/ops_report.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

using Fields = std::vector<std::string>;

// RFC 4180: quotes around a field that holds a separator, a quote or a line break; quotes inside are doubled.
std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string line(const Fields& fields) {
  std::string out;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) out += ',';
    out += quoted(field);
  }
  return out + "\n";
}

// Exact bytes for files and programs; a terminal gets no control characters.
std::string text_field(std::string_view text) {
  return terminal().is_terminal ? printable(text) : valid_utf8(text);
}

template <typename Text>
std::string joined(const std::vector<Text>& frames) {
  std::string out;
  for (const std::string_view frame : frames) out += (out.empty() ? "" : ";") + text_field(frame);
  return out;
}

Fields header(const OpQuery& query, bool has_flops) {
  Fields fields = {"name", "kind"};
  if (query.by_step) fields.emplace_back("step");
  if (query.by_annotation) fields.emplace_back("annotation");
  if (query.by_shape) fields.emplace_back("shape");
  if (query.by_stack) fields.emplace_back("stack");
  for (const char* const number : {"count", "self_cpu_ns", "total_cpu_ns", "self_device_ns", "total_device_ns",
                                   "self_cpu_bytes", "total_cpu_bytes", "self_device_bytes", "total_device_bytes"}) {
    fields.emplace_back(number);
  }
  if (has_flops) fields.emplace_back("gigaflops");
  return fields;
}

Fields row_fields(const OpRow& row, const OpQuery& query, bool has_flops) {
  Fields fields = {text_field(row.name), row_kind_name(row.kind)};
  if (query.by_step) fields.push_back(row.step ? std::to_string(*row.step) : std::string());
  if (query.by_annotation) fields.push_back(text_field(row.annotation));
  if (query.by_shape) fields.push_back(text_field(row.shapes));
  if (query.by_stack) fields.push_back(joined(row.stack));
  const OpTotals& totals = row.totals;
  for (const std::int64_t number :
       {totals.count, totals.self_cpu_ns, totals.total_cpu_ns, totals.self_device_ns, totals.total_device_ns,
        totals.self_cpu_bytes, totals.total_cpu_bytes, totals.self_device_bytes, totals.total_device_bytes}) {
    fields.push_back(std::to_string(number));
  }
  if (has_flops) fields.push_back(row.gigaflops ? fmt::format("{}", *row.gigaflops) : std::string());
  return fields;
}

Fields lifetime_header() {
  return {"op",
          "device",
          "allocs",
          "alloc_bytes",
          "freed_same_op_bytes",
          "freed_same_step_bytes",
          "freed_later_step_bytes",
          "freed_outside_steps_bytes",
          "never_freed_bytes",
          "free_not_seen_bytes",
          "freed_by"};
}

Fields lifetime_fields(const OpLifetime& life, const Trace& trace) {
  std::vector<std::string> by;
  for (const auto& [op, bytes] : life.freed_by) by.push_back(fmt::format("{}={}", op, bytes));
  Fields fields = {text_field(life.op), trace.memory_devices[life.device].name()};
  for (const std::int64_t number : {life.allocs, life.alloc_bytes, life.freed_same_op_bytes, life.freed_same_step_bytes,
                                    life.freed_later_step_bytes, life.freed_outside_steps_bytes, life.never_freed_bytes,
                                    life.free_not_seen_bytes}) {
    fields.push_back(std::to_string(number));
  }
  fields.push_back(joined(by));
  return fields;
}

}  // namespace

std::string ops_csv(const std::vector<OpsResult>& results, const OpQuery& query, std::size_t limit, bool is_list) {
  const bool many = is_list || results.size() > 1;
  const bool lifetimes = !results.empty() && results.front().lifetimes.has_value();
  const bool has_flops =
      std::any_of(results.begin(), results.end(), [](const OpsResult& result) { return result.table.has_flops; });
  const auto write = [&](Fields fields, const std::string& source) {
    if (many) fields.insert(fields.begin(), source);
    return line(fields);
  };
  std::string out = write(lifetimes ? lifetime_header() : header(query, has_flops), "source");
  for (const OpsResult& result : results) {
    const std::string source = text_field(result.source->path);
    const std::size_t all = lifetimes ? result.lifetimes->ops.size() : result.table.rows.size();
    for (std::size_t i = 0; i < shown_rows(all, limit); ++i) {
      out += write(lifetimes ? lifetime_fields(result.lifetimes->ops[i], result.source->trace)
                             : row_fields(result.table.rows[i], query, has_flops),
                   source);
    }
  }
  return out;
}

}  // namespace vramscope
