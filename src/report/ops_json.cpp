#include "report/json.h"
#include "report/ops_report.h"

namespace vramscope {

namespace {

void write_row(JsonWriter& json, const OpRow& row, const OpQuery& query) {
  const OpTotals& totals = row.totals;
  json.begin_object().member("name", row.name).member("kind", row_kind_name(row.kind));
  if (query.by_step) json.member("step", row.step);
  if (query.by_annotation) json.member("annotation", row.annotation);
  if (query.by_shape) json.member("shape", row.shapes);
  if (query.by_stack) {
    json.key("stack").begin_array();
    for (const std::string_view frame : row.stack) json.value(frame);
    json.end_array();
  }
  json.member("count", totals.count)
      .member("self_cpu_ns", totals.self_cpu_ns)
      .member("total_cpu_ns", totals.total_cpu_ns)
      .member("self_device_ns", totals.self_device_ns)
      .member("total_device_ns", totals.total_device_ns)
      .member("self_cpu_bytes", totals.self_cpu_bytes)
      .member("total_cpu_bytes", totals.total_cpu_bytes)
      .member("self_device_bytes", totals.self_device_bytes)
      .member("total_device_bytes", totals.total_device_bytes)
      .member("gigaflops", row.gigaflops)
      .end_object();
}

void write_device(JsonWriter& json, const Trace& trace, std::uint32_t device) {
  json.member("device", trace.memory_devices[device].name());
  if (const std::string_view process = trace.process_sharing(device); !process.empty()) json.member("process", process);
}

void write_steps(JsonWriter& json, const OpsResult& result) {
  json.key("steps").begin_array();
  for (const StepUse& step : result.steps) {
    json.begin_object().member("number", step.number).member("begin_ns", step.begin_ns).member("end_ns", step.end_ns);
    json.key("devices").begin_array();
    for (const StepDevice& use : step.devices) {
      json.begin_object();
      write_device(json, result.source->trace, use.device);
      json.member("alloc_bytes", use.alloc_bytes)
          .member("free_bytes", use.free_bytes)
          .member("kept_bytes", use.kept_bytes)
          .member("peak_bytes", use.peak_bytes)
          .member("peak_allocated_bytes", use.peak_allocated_bytes)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_lifetime(JsonWriter& json, const OpLifetime& life, const Trace& trace) {
  json.begin_object().member("op", life.op);
  write_device(json, trace, life.device);
  json.member("allocs", life.allocs)
      .member("alloc_bytes", life.alloc_bytes)
      .member("freed_same_op_bytes", life.freed_same_op_bytes)
      .member("freed_same_step_bytes", life.freed_same_step_bytes)
      .member("freed_later_step_bytes", life.freed_later_step_bytes)
      .member("freed_outside_steps_bytes", life.freed_outside_steps_bytes)
      .member("never_freed_bytes", life.never_freed_bytes)
      .member("free_not_seen_bytes", life.free_not_seen_bytes);
  json.key("freed_by").begin_array();
  for (const auto& [op, bytes] : life.freed_by) {
    json.begin_object().member("op", op).member("bytes", bytes).end_object();
  }
  json.end_array().end_object();
}

void write_lifetimes(JsonWriter& json, const OpsResult& result, std::size_t limit) {
  const Lifetimes& lifetimes = *result.lifetimes;
  json.key("lifetimes").begin_array();
  for (std::size_t i = 0; i < shown_rows(lifetimes.ops.size(), limit); ++i) {
    write_lifetime(json, lifetimes.ops[i], result.source->trace);
  }
  json.end_array();
  json.key("frees_without_alloc")
      .begin_object()
      .member("count", lifetimes.frees_without_alloc)
      .member("bytes", lifetimes.frees_without_alloc_bytes)
      .end_object();
  json.member("events_without_address", lifetimes.events_without_address);
}

void write_source(JsonWriter& json, const OpsResult& result, const OpQuery& query, std::size_t limit) {
  const OpTable& table = result.table;
  json.begin_object().member("path", result.source->path);
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < shown_rows(table.rows.size(), limit); ++i) write_row(json, table.rows[i], query);
  json.end_array();
  json.key("totals")
      .begin_object()
      .member("self_cpu_ns", table.self_cpu_ns)
      .member("device_ns", table.device_ns)
      .end_object();
  json.key("unattributed")
      .begin_object()
      .member("device_ns", table.unattributed.device_ns)
      .member("count", table.unattributed.count)
      .member("memory_events", table.unattributed.memory_events)
      .member("cpu_bytes", table.unattributed.cpu_bytes)
      .member("device_bytes", table.unattributed.device_bytes)
      .end_object();
  if (query.by_step) write_steps(json, result);
  if (result.lifetimes) write_lifetimes(json, result, limit);
  json.key("trouble").begin_array();
  for (const Trouble& trouble : result.source->trouble) {
    json.begin_object()
        .member("name", trouble.name)
        .member("count", trouble.count)
        .member("first_offset", trouble.first_offset)
        .end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string ops_json(const std::vector<OpsResult>& results, const OpQuery& query, std::size_t limit, bool is_list) {
  JsonWriter json;
  if (results.size() == 1 && !is_list) {
    write_source(json, results.front(), query, limit);
    return json.text();
  }
  json.begin_object().key("sources").begin_array();
  for (const OpsResult& result : results) write_source(json, result, query, limit);
  json.end_array().end_object();
  return json.text();
}

}  // namespace vramscope
