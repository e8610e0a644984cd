#include "devices/backends/drm/amdgpu.h"

#include <dirent.h>

#include <algorithm>

#include "base/saturate.h"

namespace vramscope::drm {

namespace {

// Counting means to ask registers of every block of the chip.
constexpr std::int64_t kErrorRhythmNs = 10'000'000'000;
constexpr std::size_t kMostErrorFiles = 32;
constexpr std::int64_t kMostMegahertz = 100'000;

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value && *value >= 0) sum = saturating_add(sum.value_or(0), *value);
}

std::vector<std::string> error_files_of(const std::string& folder) {
  std::vector<std::string> files;
  DIR* const opened = ::opendir((folder + "/ras").c_str());
  if (opened == nullptr) return files;
  while (const dirent* const entry = ::readdir(opened)) {
    const std::string name = entry->d_name;
    if (name.ends_with("_err_count") && files.size() < kMostErrorFiles) files.push_back("ras/" + name);
  }
  ::closedir(opened);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

MetricsTable parse_metrics_table(std::string_view bytes) {
  const auto little_endian = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  MetricsTable table;
  constexpr std::size_t kHeader = 4;
  if (bytes.size() < kHeader || little_endian(0, 2) != bytes.size()) return table;
  const std::uint64_t format = little_endian(2, 1), content = little_endian(3, 1);
  if (format < 1 || format > 3) return table;
  table.is_apu = format != 1;
  std::size_t at = 0;
  if (format == 1 && content == 3) at = 112;
  if (format == 2 && content >= 2 && content <= 4) at = 120;
  if (at == 0 || bytes.size() < at + 8) return table;
  const std::uint64_t reasons = little_endian(at, 8);
  if (reasons == ~std::uint64_t{0}) return table;  // filled in by nobody
  // nvmlClocksEventReason… of NVIDIA's nvml.h: 4 power, 0x20 heat as the driver sees it, 0x40 as the hardware does.
  constexpr std::uint64_t kPower = 0xFF, kCurrent = 0xFF0000, kHeat = 0xFFFull << 32, kAlarms = 0xFull << 44;
  table.clock_reasons = ((reasons & (kPower | kCurrent)) != 0 ? 0x4 : 0) | ((reasons & kHeat) != 0 ? 0x20 : 0) |
                        ((reasons & kAlarms) != 0 ? 0x40 : 0);
  return table;
}

Levels parse_levels(std::string_view text) {
  Levels levels;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::size_t colon = line.find(':');  // "S: 19Mhz *" is a state of sleep
    if (colon == line.npos) continue;
    line.remove_prefix(colon + 1);
    const std::string_view level = take_word(line);
    const auto mhz = parse_leading_int64(level);
    if (!mhz || *mhz < 0 || *mhz > kMostMegahertz) continue;
    if (!level.ends_with("Mhz") && !level.ends_with("MHz")) continue;
    levels.highest_mhz = std::max(levels.highest_mhz.value_or(*mhz), *mhz);
    if (line.find('*') != line.npos) levels.current_mhz = *mhz;
  }
  return levels;
}

Amdgpu::Amdgpu(const std::string& folder, bool is_apu) : is_apu_(is_apu), error_files_(error_files_of(folder)) {}

void Amdgpu::read_memory(SysfsFolder& device, Fill& fill) {
  const auto bytes = [&](const char* file) {
    const auto number = device.number(file);
    return number && *number >= 0 ? number : std::nullopt;
  };
  const auto used = bytes("mem_info_vram_used");
  const auto total = bytes("mem_info_vram_total");
  const auto system_used = bytes("mem_info_gtt_used");
  fill.set(Metric::memory_system_used, system_used);
  fill.set(Metric::memory_system_total, bytes("mem_info_gtt_total"));
  if (is_apu_) {
    // Both are the machine's memory. What it may still take depends on what the machine itself needs: no total.
    fill.set(Metric::memory_carved_used, used);
    fill.set(Metric::memory_carved_total, total);
    if (used && system_used) fill.set(Metric::memory_used, saturating_add(*used, *system_used));
    return;
  }
  fill.set(Metric::memory_used, used);
  fill.set(Metric::memory_total, total);
  if (used && total && *used <= *total) fill.set(Metric::memory_free, *total - *used);
  fill.read(Metric::memory_visible_used, device, "mem_info_vis_vram_used");
  fill.read(Metric::memory_visible_total, device, "mem_info_vis_vram_total");
}

void Amdgpu::read(SysfsFolder& device, Fill& fill, std::int64_t now_ns) {
  read_memory(device, fill);
  fill.read(Metric::utilization_gpu, device, "gpu_busy_percent", kAsItIs, 0, kMostPercent);
  fill.read(Metric::utilization_memory, device, "mem_busy_percent", kAsItIs, 0, kMostPercent);
  fill.read_text(Metric::performance_level, device, "power_dpm_force_performance_level");
  fill.read(Metric::pcie_replays, device, "pcie_replay_count");
  if (fill.wants(Metric::clocks_event_reasons_active)) {
    if (const auto bytes = device.bytes("gpu_metrics")) {
      fill.set(Metric::clocks_event_reasons_active, parse_metrics_table(*bytes).clock_reasons);
    }
  }
  // Where sensors do not tell the clock, the list of levels does, to the nearest level.
  const auto set_clock = [&](Metric metric, const char* file) {
    if (!fill.wants(metric) || fill.values.is_known(metric)) return;
    if (const auto text = device.text(file)) fill.set(metric, parse_levels(*text).current_mhz);
  };
  set_clock(Metric::clocks_current_sm, "pp_dpm_sclk");
  set_clock(Metric::clocks_current_memory, "pp_dpm_mclk");
  if (fill.wants(Metric::clocks_current_graphics)) {
    fill.set(Metric::clocks_current_graphics, fill.values.number(Metric::clocks_current_sm));
  }
  read_errors(device, fill, now_ns);
}

void Amdgpu::read_limits(SysfsFolder& device, Fill& fill) {
  const auto set_highest = [&](Metric metric, const char* file) {
    if (!fill.wants(metric)) return;
    if (const auto text = device.text(file)) fill.set(metric, parse_levels(*text).highest_mhz);
  };
  set_highest(Metric::clocks_max_sm, "pp_dpm_sclk");
  set_highest(Metric::clocks_max_graphics, "pp_dpm_sclk");
  set_highest(Metric::clocks_max_memory, "pp_dpm_mclk");
}

void Amdgpu::count_errors(SysfsFolder& device) {
  Errors errors;
  for (const std::string& file : error_files_) {
    const auto text = device.text(file.c_str());
    if (!text) continue;
    const auto uncorrected = find_number(*text, "ue: ");
    const auto corrected = find_number(*text, "ce: ");
    add(errors.uncorrected, uncorrected);
    add(errors.corrected, corrected);
    if (file != "ras/umc_err_count") continue;  // the memory's controller
    add(errors.memory_uncorrected, uncorrected);
    add(errors.memory_corrected, corrected);
  }
  if (const auto pages = device.long_text("ras/gpu_vram_bad_pages")) {
    std::string_view rest = *pages;
    errors.bad_pages = 0;
    while (!rest.empty()) {
      std::string_view line = take_until(rest, '\n');
      const std::size_t colon = line.rfind(':');
      if (colon == line.npos) continue;
      line.remove_prefix(colon + 1);
      const std::string_view state = take_word(line);
      if (state != "R" && state != "P" && state != "F") continue;
      ++*errors.bad_pages;
      errors.has_pending |= state == "P";
    }
  }
  errors_ = errors;
}

void Amdgpu::read_errors(SysfsFolder& device, Fill& fill, std::int64_t now_ns) {
  constexpr Metric kAll[] = {Metric::ecc_errors_corrected_volatile_total,
                             Metric::ecc_errors_uncorrected_volatile_total,
                             Metric::ecc_errors_corrected_volatile_device_memory,
                             Metric::ecc_errors_uncorrected_volatile_device_memory,
                             Metric::retired_pages_double_bit_count,
                             Metric::retired_pages_pending};
  if (error_files_.empty() || std::none_of(std::begin(kAll), std::end(kAll), [&](Metric m) { return fill.wants(m); })) {
    return;
  }
  if (!errors_ || now_ns - errors_ns_ >= kErrorRhythmNs) {
    count_errors(device);
    errors_ns_ = now_ns;
  }
  fill.set(Metric::ecc_errors_corrected_volatile_total, errors_->corrected);
  fill.set(Metric::ecc_errors_uncorrected_volatile_total, errors_->uncorrected);
  fill.set(Metric::ecc_errors_corrected_volatile_device_memory, errors_->memory_corrected);
  fill.set(Metric::ecc_errors_uncorrected_volatile_device_memory, errors_->memory_uncorrected);
  fill.set(Metric::retired_pages_double_bit_count, errors_->bad_pages);
  if (errors_->bad_pages) fill.set(Metric::retired_pages_pending, errors_->has_pending ? 1 : 0);
}

}  // namespace vramscope::drm
