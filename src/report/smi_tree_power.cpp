// Temperatures, power, clocks, the fabric, and what runs on the GPU.
#include "report/smi_tree_parts.h"

namespace vramscope {

namespace {

using M = Metric;
using P = SmiPrint;

// With names for degrees of a limit, or for degrees left to one.
void add_limit(SmiNodes& n, const SmiNode& absolute, const SmiNode& below) {
  n.push_back(absolute);
  n.back().when = SmiWhen::to_limit;
  n.push_back(below);
  n.back().when = SmiWhen::below_limit;
}

SmiNode temperature(std::string_view text, std::string_view element, Metric metric) {
  SmiNodes one;
  return add_smi_value(one, 1, text, element, metric, P::celsius);
}

void add_temperatures(SmiNodes& n) {
  const SmiDisplays shown = bit_of(SmiDisplay::temperature);
  add_smi_section(n, 0, "Temperature", "temperature").displays = shown;
  add_smi_value(n, 1, "GPU Current Temp", "gpu_temp", M::temperature_gpu, P::celsius);
  add_smi_value(n, 1, "GPU T.Limit Temp", "gpu_temp_tlimit", M::temperature_gpu_tlimit, P::celsius);
  add_limit(n, temperature("GPU Shutdown Temp", "gpu_temp_max_threshold", M::temperature_shutdown),
            temperature("GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", M::temperature_shutdown_tlimit));
  add_limit(n, temperature("GPU Slowdown Temp", "gpu_temp_slow_threshold", M::temperature_slowdown),
            temperature("GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", M::temperature_slowdown_tlimit));
  add_limit(n, temperature("GPU Max Operating Temp", "gpu_temp_max_gpu_threshold", M::temperature_gpu_max),
            temperature("GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold",
                        M::temperature_gpu_max_tlimit));
  add_smi_value(n, 1, "GPU Target Temperature", "gpu_target_temperature", M::temperature_target, P::celsius);
  add_smi_value(n, 1, "Memory Current Temp", "memory_temp", M::temperature_memory, P::celsius);
  add_limit(n, temperature("Memory Max Operating Temp", "gpu_temp_max_mem_threshold", M::temperature_memory_max),
            temperature("Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold",
                        M::temperature_memory_max_tlimit));
  SmiNode& target = add_smi_section(n, 0, "Supported GPU Target Temp", "supported_gpu_target_temp");
  target.when = SmiWhen::when_asked;
  target.displays = bit_of(SmiDisplay::supported_gpu_target_temp);
  add_smi_value(n, 1, "GPU Target Temp Min", "gpu_target_temp_min", M::temperature_target_min, P::celsius);
  add_smi_value(n, 1, "GPU Target Temp Max", "gpu_target_temp_max", M::temperature_target_max, P::celsius);
}

void add_graphics_clocks(SmiNodes& n, std::string_view text, std::string_view element, SmiDisplays shown) {
  add_smi_section(n, 0, text, element).displays = shown;
  add_smi_deprecated(n, 1, "Graphics", "graphics_clock");
  add_smi_deprecated(n, 1, "Memory", "mem_clock");
}

void add_fabric(SmiNodes& n) {
  add_smi_section(n, 0, "Fabric", "fabric");
  add_smi_value(n, 1, "State", "state", M::fabric_state);
  add_smi_value(n, 1, "Status", "status", M::fabric_status);
  add_smi_value(n, 1, "CliqueId", "cliqueId", M::fabric_clique_id);
  add_smi_value(n, 1, "ClusterUUID", "clusterUuid", M::fabric_cluster_uuid);
  add_smi_section(n, 1, "Health", "health");
  add_smi_value(n, 2, "Summary", "summary", M::fabric_health_summary);
  add_smi_value(n, 2, "Bandwidth", "bandwidth", M::fabric_health_bandwidth);
  add_smi_value(n, 2, "Route Recovery in progress", "route_recovery_in_progress",
                M::fabric_health_route_recovery_in_progress);
  add_smi_value(n, 2, "Route Unhealthy", "route_unhealthy", M::fabric_health_route_unhealthy);
  add_smi_value(n, 2, "Access Timeout Recovery", "access_timeout_recovery", M::fabric_health_access_timeout_recovery);
  add_smi_value(n, 2, "Incorrect Configuration", "incorrect_configuration", M::fabric_health_incorrect_configuration);
  add_smi_value(n, 2, "Partition Assigned", "partition_assigned", M::fabric_health_partition_assigned);
}

void add_supported_clocks(SmiNodes& n) {
  SmiNode& clocks = add_smi_list(n, 0, "Supported Clocks", "supported_clocks", SmiList::supported_clocks);
  clocks.when = SmiWhen::when_asked;
  clocks.displays = bit_of(SmiDisplay::supported_clocks);
  add_smi_section(n, 1, "", "supported_mem_clock");
  add_smi_item(n, 2, "Memory", "value", SmiItem::memory_clock);
  add_smi_list(n, 2, "", "", SmiList::graphics_clocks);
  add_smi_item(n, 3, "Graphics", "supported_graphics_clock", SmiItem::graphics_clock).is_deeper = true;
}

void add_processes(SmiNodes& n) {
  SmiNode& processes = add_smi_list(n, 0, "Processes", "processes", SmiList::processes);
  processes.displays = bit_of(SmiDisplay::pids);
  processes.is_narrow = true;
  add_smi_section(n, 1, "", "process_info");
  add_smi_item(n, 2, "GPU instance ID", "gpu_instance_id", SmiItem::gpu_instance);
  add_smi_item(n, 2, "Compute instance ID", "compute_instance_id", SmiItem::compute_instance);
  add_smi_item(n, 2, "Process ID", "pid", SmiItem::pid);
  add_smi_item(n, 2, "Type", "type", SmiItem::process_type).is_deeper = true;
  add_smi_item(n, 2, "Name", "process_name", SmiItem::process_name).is_deeper = true;
  add_smi_item(n, 2, "Used GPU Memory", "used_memory", SmiItem::process_memory).is_deeper = true;
  SmiNode& accounted = add_smi_list(n, 0, "Accounted Processes", "accounted_processes", SmiList::accounted);
  accounted.when = SmiWhen::when_asked;
  accounted.displays = bit_of(SmiDisplay::accounting);
  add_smi_section(n, 1, "", "accounted_process_info");
  add_smi_item(n, 2, "Process ID", "pid", SmiItem::accounted_pid);
  add_smi_item(n, 2, "GPU Utilization", "gpu_util", SmiItem::accounted_gpu).is_deeper = true;
  add_smi_item(n, 2, "Memory Utilization", "memory_util", SmiItem::accounted_memory).is_deeper = true;
  add_smi_item(n, 2, "Max memory usage", "max_memory_usage", SmiItem::accounted_most).is_deeper = true;
  add_smi_item(n, 2, "Time", "time", SmiItem::accounted_time).is_deeper = true;
  add_smi_item(n, 2, "Is Running", "is_running", SmiItem::accounted_running).is_deeper = true;
}

}  // namespace

void add_smi_power(SmiNodes& n) {
  const SmiDisplays shown = bit_of(SmiDisplay::power);
  add_temperatures(n);
  add_smi_section(n, 0, "GPU Power Readings", "gpu_power_readings").displays = shown;
  add_smi_deprecated(n, 1, "", "power_state");
  add_smi_value(n, 1, "Average Power Draw", "average_power_draw", M::power_draw_average);
  add_smi_value(n, 1, "Instantaneous Power Draw", "instant_power_draw", M::power_draw_instant);
  add_smi_value(n, 1, "Current Power Limit", "current_power_limit", M::enforced_power_limit);
  add_smi_value(n, 1, "Requested Power Limit", "requested_power_limit", M::power_limit);
  add_smi_value(n, 1, "Default Power Limit", "default_power_limit", M::power_default_limit);
  add_smi_value(n, 1, "Min Power Limit", "min_power_limit", M::power_min_limit);
  add_smi_value(n, 1, "Max Power Limit", "max_power_limit", M::power_max_limit);
  add_smi_recent(n, "Power Samples", RecentKind::power, P::watts, SmiDisplay::power);
  // nvidia-smi has a space behind this name.
  add_smi_section(n, 0, "GPU Memory Power Readings ", "gpu_memory_power_readings").displays = shown;
  add_smi_value(n, 1, "Average Power Draw", "average_power_draw", M::power_draw_memory, P::watts);
  add_smi_value(n, 1, "Instantaneous Power Draw", "instant_power_draw", M::power_draw_memory_instant, P::watts);
  add_smi_section(n, 0, "Module Power Readings", "module_power_readings").displays = shown;
  add_smi_deprecated(n, 1, "", "power_state");
  add_smi_value(n, 1, "Average Power Draw", "average_power_draw", M::module_power_draw_average);
  add_smi_value(n, 1, "Instantaneous Power Draw", "instant_power_draw", M::module_power_draw_instant);
  add_smi_value(n, 1, "Current Power Limit", "current_power_limit", M::module_enforced_power_limit);
  add_smi_value(n, 1, "Requested Power Limit", "requested_power_limit", M::module_power_limit);
  add_smi_value(n, 1, "Default Power Limit", "default_power_limit", M::module_power_default_limit);
  add_smi_value(n, 1, "Min Power Limit", "min_power_limit", M::module_power_min_limit);
  add_smi_value(n, 1, "Max Power Limit", "max_power_limit", M::module_power_max_limit);
  add_smi_unavailable(n, 0, "Power Smoothing", "power_smoothing").displays = bit_of(SmiDisplay::power_smoothing);
  add_smi_section(n, 0, "Workload Power Profiles", "power_profiles").displays = bit_of(SmiDisplay::power_profiles);
  add_smi_unavailable(n, 1, "Requested Profiles", "power_profile_requested_profiles");
  add_smi_unavailable(n, 1, "Enforced Profiles", "power_profile_enforced_profiles");
  add_smi_value(n, 0, "EDPp Multiplier", "edpp_multiplier", M::edpp_multiplier, P::tight_percent).displays = shown;
}

void add_smi_clocks(SmiNodes& n) {
  const SmiDisplays shown = bit_of(SmiDisplay::clock);
  add_smi_section(n, 0, "Clocks", "clocks").displays = shown;
  add_smi_value(n, 1, "Graphics", "graphics_clock", M::clocks_current_graphics);
  add_smi_value(n, 1, "SM", "sm_clock", M::clocks_current_sm);
  add_smi_value(n, 1, "Memory", "mem_clock", M::clocks_current_memory);
  add_smi_value(n, 1, "Video", "video_clock", M::clocks_current_video);
  add_graphics_clocks(n, "Applications Clocks", "applications_clocks", shown);
  add_graphics_clocks(n, "Default Applications Clocks", "default_applications_clocks", shown);
  add_smi_section(n, 0, "Deferred Clocks", "deferred_clocks").displays = shown;
  add_smi_unavailable(n, 1, "Memory", "mem_clock");
  add_smi_section(n, 0, "Max Clocks", "max_clocks").displays = shown;
  add_smi_value(n, 1, "Graphics", "graphics_clock", M::clocks_max_graphics);
  add_smi_value(n, 1, "SM", "sm_clock", M::clocks_max_sm);
  add_smi_value(n, 1, "Memory", "mem_clock", M::clocks_max_memory);
  add_smi_value(n, 1, "Video", "video_clock", M::clocks_max_video, P::megahertz);
  add_smi_section(n, 0, "Max Customer Boost Clocks", "max_customer_boost_clocks").displays = shown;
  add_smi_value(n, 1, "Graphics", "graphics_clock", M::clocks_max_customer_boost, P::megahertz);
  add_smi_recent(n, "SM Clock Samples", RecentKind::sm_clock, P::megahertz, SmiDisplay::clock);
  add_smi_recent(n, "Memory Clock Samples", RecentKind::memory_clock, P::megahertz, SmiDisplay::clock);
  add_smi_section(n, 0, "Clock Policy", "clock_policy").displays = shown;
  add_smi_value(n, 1, "Auto Boost", "auto_boost", M::auto_boost, P::on_off);
  add_smi_value(n, 1, "Auto Boost Default", "auto_boost_default", M::auto_boost_default, P::on_off);
}

void add_smi_lists(SmiNodes& n) {
  SmiNode& voltage = add_smi_section(n, 0, "Voltage", "");
  voltage.when = SmiWhen::when_asked;
  voltage.displays = bit_of(SmiDisplay::voltage);
  add_smi_unavailable(n, 1, "Graphics", "");
  add_fabric(n);
  add_supported_clocks(n);
  add_processes(n);
  add_smi_section(n, 0, "Capabilities", "capabilities");
  add_smi_value(n, 1, "EGM", "egm", M::capability_egm, P::lower_enabled);
}

}  // namespace vramscope
