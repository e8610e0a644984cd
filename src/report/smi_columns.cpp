#include "report/smi_columns.h"

#include "model/metric_smi.h"

namespace vramscope {

namespace {

using M = Metric;
using V = SmiValue;

constexpr std::string_view kTimeAbout = "When the values were read: YYYY/MM/DD HH:MM:SS.mmm, local time.";

std::vector<SmiAppField> with_gpu_fields(std::vector<SmiAppField> own) {
  std::vector<SmiAppField> fields = {
      {"timestamp", "", {V::of_gpu, M::timestamp}, "", kTimeAbout},
      {"gpu_name", "", {V::of_gpu, M::name}, "", "The product name of the GPU."},
      {"gpu_bus_id", "", {V::of_gpu, M::pci_bus_id}, "", "Where the GPU is on the PCI bus, in hexadecimal."},
      {"gpu_serial", "", {V::of_gpu, M::serial}, "", "The serial number of the board."},
      {"gpu_uuid", "", {V::of_gpu, M::uuid}, "", "The identifier that no other GPU has."},
  };
  for (SmiAppField& field : own) fields.push_back(field);
  return fields;
}

std::string_view unit_of(SmiQuery query, const SmiColumn& column) {
  for (const SmiAppField& field : smi_app_fields(query)) {
    if (field.column.value == column.value && field.column.metric == column.metric) return field.unit;
  }
  return {};
}

}  // namespace

const std::vector<SmiAppField>& smi_app_fields(SmiQuery query) {
  static const std::vector<SmiAppField> compute = with_gpu_fields({
      {"pid", "", {V::pid}, "", "The process's number."},
      {"process_name", "name", {V::process_name}, "", "The program, with its path where the driver knows it."},
      {"used_gpu_memory", "used_memory", {V::used_memory}, "MiB", "GPU memory that the process's context holds."},
  });
  static const std::vector<SmiAppField> accounted = with_gpu_fields({
      {"vgpu_instance", "", {V::vgpu_instance}, "", "The virtual GPU; none outside a virtualisation host."},
      {"pid", "", {V::pid}, "", "The process's number."},
      {"gpu_utilization", "gpu_util", {V::gpu_utilization}, "%", "Share of its life in which kernels ran on the GPU."},
      {"mem_utilization",
       "mem_util",
       {V::memory_utilization},
       "%",
       "Share of its life in which GPU memory was read or written."},
      {"max_memory_usage", "", {V::max_memory}, "MiB", "The most GPU memory that it held at one time."},
      {"time", "", {V::time}, "ms", "How long its context was open; 0 while it still is."},
  });
  return query == SmiQuery::accounted_apps ? accounted : compute;
}

std::optional<SmiColumn> smi_column(SmiQuery query, std::string_view name) {
  if (query != SmiQuery::gpu) {
    for (const SmiAppField& field : smi_app_fields(query)) {
      if (name == field.name || (!name.empty() && name == field.alias)) return field.column;
    }
    return std::nullopt;
  }
  const std::optional<Metric> metric = metric_named(name);
  // Metrics of ours that nvidia-smi lacks: a script that asks whether a field exists must get the same answer.
  if (!metric || info_of(*metric).print == SmiPrint::none) return std::nullopt;
  return SmiColumn{V::of_gpu, *metric};
}

void append_smi_header_line(std::string& out, SmiQuery query, const std::vector<SmiColumn>& columns) {
  bool is_first = true;
  for (const SmiColumn& column : columns) {
    if (!is_first) out += ", ";
    is_first = false;
    if (query == SmiQuery::gpu) {
      append_smi_header(out, info_of(column.metric), info_of(column.metric).name);
      continue;
    }
    for (const SmiAppField& field : smi_app_fields(query)) {
      if (field.column.value != column.value || field.column.metric != column.metric) continue;
      out += field.name;
      break;
    }
    const std::string_view unit = unit_of(query, column);
    if (unit.empty()) continue;
    out += " [";
    out += unit;
    out += ']';
  }
  out += '\n';
}

Wanted smi_wanted(SmiQuery query, const std::vector<SmiColumn>& columns) {
  Wanted wanted;
  for (const SmiColumn& column : columns) {
    if (column.value == V::of_gpu && column.metric != M::timestamp) wanted.metrics.set(index_of(column.metric));
  }
  wanted.processes = query == SmiQuery::compute_apps;
  return wanted;
}

}  // namespace vramscope
