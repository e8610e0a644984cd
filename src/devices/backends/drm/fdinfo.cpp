#include "devices/backends/drm/fdinfo.h"

#include <array>

#include "system/fields.h"

namespace vramscope::drm {

namespace {

constexpr std::size_t kMostRegions = 24;
constexpr std::size_t kMostEngines = 32;
constexpr std::size_t kLongestName = 64;

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 6> kSizes = {
    {{"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1 << 10}, {"B", 1}}};
constexpr std::array<Unit, 5> kRates = {{{"", 1}, {"Hz", 1}, {"KHz", 1'000}, {"kHz", 1'000}, {"MHz", 1'000'000}}};

// "1234 KiB" in the base unit.
template <std::size_t count>
std::optional<std::int64_t> with_unit(std::string_view value, const std::array<Unit, count>& units) {
  const auto number = parse_int64(take_word(value));
  const std::string_view unit = take_word(value);
  if (!number || *number < 0) return std::nullopt;
  for (const Unit& known : units) {
    if (known.name == unit) return product(*number, known.factor);
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_of(std::string_view value) {
  const auto number = parse_int64(take_word(value));
  return number && *number >= 0 ? number : std::nullopt;
}

// The entry of that name, made where there is none; null when there are too many.
template <typename Entry>
Entry* entry_of(std::vector<Entry>& entries, std::string_view name, std::size_t most) {
  for (Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  if (name.empty() || name.size() > kLongestName || entries.size() == most) return nullptr;
  entries.emplace_back();
  entries.back().name = name;
  return &entries.back();
}

bool take_prefix(std::string_view& key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return false;
  key.remove_prefix(prefix.size());
  return true;
}

// What follows "drm-".
void read_engine(std::string_view key, std::string_view value, ClientInfo& info) {
  const auto engine = [&]() { return entry_of(info.engines, key, kMostEngines); };
  if (take_prefix(key, "engine-capacity-")) {
    Engine* const found = engine();
    const auto capacity = count_of(value);
    if (found != nullptr && capacity && *capacity > 0) found->capacity = *capacity;
  } else if (take_prefix(key, "engine-")) {
    if (Engine* const found = engine()) found->busy_ns = count_of(value);
  } else if (take_prefix(key, "cycles-")) {
    if (Engine* const found = engine()) found->cycles = count_of(value);
  } else if (take_prefix(key, "total-cycles-")) {
    if (Engine* const found = engine()) found->total_cycles = count_of(value);
  } else if (take_prefix(key, "maxfreq-")) {
    if (Engine* const found = engine()) found->max_hz = with_unit(value, kRates);
  }
}

void read_region(std::string_view key, std::string_view value, ClientInfo& info) {
  const auto set = [&](std::optional<std::int64_t> Region::*member) {
    Region* const region = entry_of(info.regions, key, kMostRegions);
    if (region != nullptr) region->*member = with_unit(value, kSizes);
  };
  if (take_prefix(key, "total-")) {
    set(&Region::total);
  } else if (take_prefix(key, "resident-")) {
    set(&Region::resident);
  } else if (take_prefix(key, "shared-")) {
    set(&Region::shared);
  } else if (take_prefix(key, "memory-")) {
    // The newer key says the same, and is there as well.
    Region* const region = entry_of(info.regions, key, kMostRegions);
    if (region != nullptr && !region->resident) region->resident = with_unit(value, kSizes);
  }
}

void read_drm(std::string_view key, std::string_view value, ClientInfo& info) {
  info.is_drm = true;
  if (key == "pdev") {
    info.pci_address = take_word(value);
  } else if (key == "client-id") {
    info.client_id = count_of(value);
  } else if (key.starts_with("engine-") || key.starts_with("cycles-") || key.starts_with("total-cycles-") ||
             key.starts_with("maxfreq-")) {
    read_engine(key, value, info);
  } else {
    read_region(key, value, info);
  }
}

// amdgpu before Linux 5.19. Its "gfx0: 12.34%" is a mean since the client began: of no use for what happens now.
void read_old(std::string_view key, std::string_view value, ClientInfo& info) {
  const auto set = [&](std::string_view name) {
    info.is_drm = true;
    if (Region* const region = entry_of(info.regions, name, kMostRegions)) region->resident = with_unit(value, kSizes);
  };
  if (key == "pdev") {
    info.pci_address = take_word(value);
  } else if (key == "pasid" && !info.client_id) {
    info.client_id = count_of(value);
  } else if (key == "vram mem") {
    set("vram");
  } else if (key == "gtt mem") {
    set("gtt");
  } else if (key == "amd-evicted-vram") {
    info.evicted_bytes = with_unit(value, kSizes);
  }
}

}  // namespace

void parse_fdinfo(std::string_view text, ClientInfo& info) {
  info.is_drm = false;
  info.pci_address.clear();
  info.client_id.reset();
  info.regions.clear();
  info.engines.clear();
  info.evicted_bytes.reset();
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string_view key = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    if (take_prefix(key, "drm-")) {
      read_drm(key, line, info);
    } else {
      read_old(key, line, info);
    }
  }
}

}  // namespace vramscope::drm
