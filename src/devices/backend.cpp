#include "devices/backend.h"

#include <unistd.h>

#include <algorithm>

#include "backend_table.h"
#include "devices/joined_source.h"
#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

std::optional<std::int64_t> idle_cache_bytes(const DeviceProcess& process) {
  const auto& reserved = process.allocator_reserved_bytes;
  // What other streams still use is in use.
  const auto& used =
      process.allocator_active_bytes ? process.allocator_active_bytes : process.allocator_allocated_bytes;
  if (!reserved || !used || *used < 0 || *reserved < *used) return std::nullopt;
  return *reserved - *used;
}

Wanted live_wanted() {
  using M = Metric;
  Wanted wanted;
  wanted.metrics = mask_of({M::memory_total,
                            M::memory_reserved,
                            M::memory_used,
                            M::memory_free,
                            M::utilization_gpu,
                            M::utilization_memory,
                            M::utilization_encoder,
                            M::utilization_decoder,
                            M::temperature_gpu,
                            M::temperature_memory,
                            M::power_draw,
                            M::enforced_power_limit,
                            M::energy_total,
                            M::clocks_current_sm,
                            M::clocks_current_memory,
                            M::clocks_event_reasons_active,
                            M::ecc_errors_corrected_volatile_total,
                            M::ecc_errors_uncorrected_volatile_total,
                            M::ecc_errors_uncorrected_aggregate_total,
                            M::retired_pages_pending,
                            M::remapped_rows_uncorrectable,
                            M::remapped_rows_pending,
                            M::remapped_rows_failure,
                            M::gpu_recovery_action,
                            M::pcie_replays,
                            M::xid_last,
                            M::clocks_max_sm,
                            M::clocks_max_memory,
                            M::driver_version,
                            M::cuda_version,
                            M::mig_mode_current,
                            M::power_state,
                            M::performance_level,
                            M::memory_visible_total,
                            M::memory_visible_used,
                            M::memory_carved_total,
                            M::memory_carved_used,
                            M::memory_system_total,
                            M::memory_system_used,
                            M::utilization_awake,
                            M::temperature_junction,
                            M::fan_rpm});
  wanted.processes = true;
  wanted.process_utilisation = true;
  return wanted;
}

Result<std::string> DeviceSource::process_name(std::int64_t) {
  return Error{ExitCode::machine, {}};
}

Result<std::vector<AccountedProcess>> DeviceSource::accounted(std::size_t) {
  return std::vector<AccountedProcess>();
}

namespace {
Error no_such_list() {
  constexpr int kNotSupported = 3;
  return {ExitCode::machine, {}, kNotSupported};
}
}  // namespace

Result<std::vector<SupportedClocks>> DeviceSource::supported_clocks(std::size_t) {
  return no_such_list();
}

Result<std::vector<std::uint64_t>> DeviceSource::retired_pages(std::size_t, RetirementCause) {
  return no_such_list();
}

Result<RecentSamples> DeviceSource::recent(std::size_t, RecentKind) {
  return no_such_list();
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> sorted = [] {
    std::vector<Backend> table = backend_table();
    std::sort(table.begin(), table.end(), [](const Backend& a, const Backend& b) { return a.priority > b.priority; });
    return table;
  }();
  return sorted;
}

Result<std::unique_ptr<DeviceSource>> open_devices(std::string_view device) {
  const std::size_t colon = device.find(':');
  const std::string_view name = device.substr(0, colon);
  const std::string_view argument = colon == device.npos ? std::string_view() : device.substr(colon + 1);
  if (!name.empty()) {
    for (const Backend& backend : backends()) {
      if (backend.name == name) return backend.open(argument);
    }
    std::string known;
    for (const Backend& backend : backends()) known += known.empty() ? backend.name : ", " + std::string(backend.name);
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(tr("There is no kind of device named {name}; give one of: {known}.")),
                             fmt::arg("name", name), fmt::arg("known", known))};
  }
  std::optional<Error> first;
  for (const Backend& backend : backends()) {
    if (backend.priority < 0) continue;
    auto opened = backend.open({});
    if (opened) return opened;
    if (!first) first = opened.error();
  }
  if (first) return *first;
  return Error{ExitCode::machine, tr("This build of vramscope has no kind of device that it can open.")};
}

Result<OpenedDevices> open_all_devices(std::string_view device, const std::string& sys) {
  OpenedDevices opened;
  if (!device.empty()) {
    auto source = open_devices(device);
    if (!source) return source.error();
    opened.source = std::move(*source);
    return opened;
  }
  std::vector<std::unique_ptr<DeviceSource>> sources;
  std::optional<Error> first;
  for (const Backend& backend : backends()) {
    if (backend.priority < 0) continue;
    auto source = backend.open({});
    if (source) {
      sources.push_back(std::move(*source));
      continue;
    }
    if (!first) first = source.error();
    if (backend.kernel_module == nullptr) continue;
    const std::string module = sys + "/module/" + backend.kernel_module;
    if (::access(module.c_str(), F_OK) == 0) opened.missing.push_back({backend.name, source.error()});
  }
  if (sources.empty()) {
    return first ? *first
                 : Error{ExitCode::machine, tr("This build of vramscope has no kind of device that it can open.")};
  }
  opened.source = join_sources(std::move(sources));
  return opened;
}

}  // namespace vramscope
