#include <cmath>

#include "report/blind_spots.h"
#include "report/findings.h"
#include "report/json.h"
#include "report/status.h"

namespace vramscope {

namespace {

struct Member {
  const char* name;
  Metric metric;
};

void write_metrics(JsonWriter& json, const DeviceSample& device, std::initializer_list<Member> members) {
  for (const Member& member : members) json.member(member.name, device.number(member.metric));
}

void write_text(JsonWriter& json, const char* name, std::string_view text) {
  if (!text.empty()) json.member(name, text);
}

void write_optional(JsonWriter& json, const char* name, const std::optional<std::string>& text) {
  if (text) json.member(name, std::string_view(*text));
}

const char* type_name(ProcessType type) {
  switch (type) {
    case ProcessType::compute:
      return "compute";
    case ProcessType::graphics:
      return "graphics";
    case ProcessType::compute_and_graphics:
      break;
  }
  return "compute+graphics";
}

void write_host(JsonWriter& json, const HostProcess& host) {
  const Process& process = host.process;
  switch (host.presence) {
    case Presence::absent:
      json.member("visible", "absent");
      write_text(json, "driver_name", host.driver_name);
      return;
    case Presence::unreadable:
      json.member("visible", "unreadable");
      write_text(json, "driver_name", host.driver_name);
      return;
    case Presence::unasked:
      return;
    case Presence::seen:
      break;
  }
  json.member("name", std::string_view(process.name));
  write_optional(json, "command", process.command);
  write_optional(json, "user", process.user);
  if (process.state) json.member("state", std::string_view(&*process.state, 1));
  if (process.ppid) json.member("parent_pid", static_cast<std::int64_t>(*process.ppid));
  write_optional(json, "parent_name", host.parent_name);
  if (host.is_orphan) json.member("orphan", *host.is_orphan);
  json.member("age_ns", host.age_ns);
  json.member("start_time_ns", process.start_time_ns);
  json.member("rss_bytes", process.rss_bytes);
  json.member("cpu_percent", process.cpu_percent);
  write_optional(json, "container_id", process.placement.container_id);
  write_optional(json, "pod_uid", process.placement.pod_uid);
  write_optional(json, "systemd_unit", process.placement.systemd_unit);
  json.member("slurm_job", process.placement.slurm_job);
}

void write_process(JsonWriter& json, const LiveSample& sample, const DeviceProcess& process) {
  json.begin_object();
  json.member("pid", process.pid);
  json.member("type", type_name(process.type));
  if (process.is_mps) json.member("mps", true);
  json.member("used_bytes", process.used_bytes);
  json.member("system_bytes", process.system_bytes);
  json.member("shared_bytes", process.shared_bytes);
  json.member("evicted_bytes", process.evicted_bytes);
  json.member("sm_percent", process.sm_percent);
  json.member("memory_percent", process.memory_percent);
  json.member("encoder_percent", process.encoder_percent);
  json.member("decoder_percent", process.decoder_percent);
  json.member("allocator_reserved_bytes", process.allocator_reserved_bytes);
  json.member("allocator_allocated_bytes", process.allocator_allocated_bytes);
  json.member("allocator_active_bytes", process.allocator_active_bytes);
  json.member("gpu_instance", process.gpu_instance);
  json.member("compute_instance", process.compute_instance);
  if (const HostProcess* host = sample.find(process.pid)) write_host(json, *host);
  json.end_object();
}

void write_memory(JsonWriter& json, const DeviceSample& device) {
  json.key("memory").begin_object();
  write_metrics(json, device,
                {{"total_bytes", Metric::memory_total},
                 {"used_bytes", Metric::memory_used},
                 {"free_bytes", Metric::memory_free},
                 {"reserved_bytes", Metric::memory_reserved},
                 {"visible_total_bytes", Metric::memory_visible_total},
                 {"visible_used_bytes", Metric::memory_visible_used},
                 {"carved_total_bytes", Metric::memory_carved_total},
                 {"carved_used_bytes", Metric::memory_carved_used},
                 {"system_total_bytes", Metric::memory_system_total},
                 {"system_used_bytes", Metric::memory_system_used}});
  json.end_object();
}

void write_device(JsonWriter& json, const LiveSample& sample, std::size_t place) {
  const DeviceSample& device = sample.devices()[place];
  json.begin_object();
  json.member("index", static_cast<std::int64_t>(device.index));
  write_text(json, "uuid", device.text(Metric::uuid));
  write_text(json, "name", device.text(Metric::name));
  write_text(json, "pci_bus_id", device.text(Metric::pci_bus_id));
  write_text(json, "driver_version", device.text(Metric::driver_version));
  write_text(json, "kernel_driver", device.text(Metric::kernel_driver));
  write_text(json, "cuda_version", device.text(Metric::cuda_version));
  json.member("gpu_instance", device.gpu_instance);
  json.member("compute_instance", device.compute_instance);
  json.member("lost", device.is_lost);
  write_memory(json, device);
  write_metrics(json, device,
                {{"utilization_percent", Metric::utilization_gpu},
                 {"memory_utilization_percent", Metric::utilization_memory},
                 {"encoder_percent", Metric::utilization_encoder},
                 {"decoder_percent", Metric::utilization_decoder},
                 {"temperature_c", Metric::temperature_gpu},
                 {"memory_temperature_c", Metric::temperature_memory},
                 {"junction_temperature_c", Metric::temperature_junction},
                 {"awake_percent", Metric::utilization_awake},
                 {"fan_percent", Metric::fan_speed},
                 {"fan_rpm", Metric::fan_rpm},
                 {"power_mw", Metric::power_draw},
                 {"power_limit_mw", Metric::enforced_power_limit},
                 {"sm_clock_mhz", Metric::clocks_current_sm},
                 {"memory_clock_mhz", Metric::clocks_current_memory},
                 {"clocks_event_reasons", Metric::clocks_event_reasons_active},
                 {"ecc_uncorrected_volatile", Metric::ecc_errors_uncorrected_volatile_total},
                 {"last_xid", Metric::xid_last}});
  write_text(json, "power_state", device.text(Metric::power_state));
  write_text(json, "performance_level", device.text(Metric::performance_level));
  if (device.parent) {
    json.end_object();
    return;
  }
  bool has_mig = false;
  for (const DeviceSample& other : sample.devices()) has_mig |= other.parent == static_cast<int>(place);
  if (has_mig) {
    json.key("mig_devices").begin_array();
    for (std::size_t i = 0; i < sample.devices().size(); ++i) {
      if (sample.devices()[i].parent == static_cast<int>(place)) write_device(json, sample, i);
    }
    json.end_array();
  }
  if (device.processes_state == ValueState::known) {
    json.key("processes").begin_array();
    for (const DeviceProcess& process : device.processes) write_process(json, sample, process);
    json.end_array();
    if (device.unreadable_processes > 0) json.member("unreadable_processes", device.unreadable_processes);
  }
  json.end_object();
}

}  // namespace

void write_verdicts(JsonWriter& json, const std::vector<Verdict>& verdicts) {
  json.begin_array();
  for (const Verdict& verdict : verdicts) {
    const Finding& finding = verdict.finding;
    const auto english = [&](const char* id) { return sentence(id, finding.arguments, Wording::english); };
    json.begin_object();
    json.member("id", std::string_view(finding.rule));
    json.member("severity", severity_name(finding.severity));
    if (verdict.gpu) json.member("gpu", static_cast<std::int64_t>(*verdict.gpu));
    write_text(json, "gpu_uuid", verdict.gpu_uuid);
    json.member("pid", verdict.pid);
    json.member("title", std::string_view(english(finding.title)));
    json.member("summary", std::string_view(summary_of(finding, Wording::english)));
    json.key("evidence");
    write_evidence(json, finding.evidence, finding.arguments, {});
    json.member("fix", std::string_view(fix_for_machines(finding)));
    json.end_object();
  }
  json.end_array();
}

std::string status_json(const LiveSample& sample, const std::vector<Verdict>& verdicts) {
  JsonWriter json;
  json.begin_object();
  json.member("time_ns", sample.real_time_ns);
  if (sample.trouble != nullptr) {
    json.key("source").begin_object().key("trouble").begin_array();
    for (const Trouble& trouble : *sample.trouble) {
      json.begin_object().member("name", trouble.name).member("count", trouble.count);
      json.member("first_offset", trouble.first_offset).end_object();
    }
    json.end_array().end_object();
  }
  json.key("gpus").begin_array();
  for (std::size_t i = 0; i < sample.devices().size(); ++i) {
    if (!sample.devices()[i].parent) write_device(json, sample, i);
  }
  json.end_array();
  if (sample.missing_backends != nullptr) {
    json.key("missing_backends").begin_array();
    for (const MissingBackend& missing : *sample.missing_backends) {
      json.begin_object();
      json.member("name", missing.name);
      json.member("driver_code", static_cast<std::int64_t>(missing.error.driver_code));
      json.end_object();
    }
    json.end_array();
  }
  if (const std::vector<BlindSpot> spots = blind_spots(sample); !spots.empty()) {
    json.key("not_seen").begin_array();
    for (const BlindSpot& spot : spots) {
      json.begin_object().member("gpu", static_cast<std::int64_t>(spot.gpu));
      json.member("what", blind_spot_name(spot.what)).member("why", blind_spot_reason(spot.why)).end_object();
    }
    json.end_array();
  }
  json.key("verdicts");
  write_verdicts(json, verdicts);
  json.end_object();
  return json.text();
}

}  // namespace vramscope
