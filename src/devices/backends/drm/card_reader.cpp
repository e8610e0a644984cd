#include "devices/backends/drm/card_reader.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "devices/backends/drm/pci_ids.h"
#include "system/host.h"

namespace vramscope::drm {

namespace {

struct Vendor {
  std::int64_t id;
  const char* name;
};
constexpr std::array<Vendor, 3> kVendors = {{{0x1002, "AMD"}, {0x8086, "Intel"}, {0x10DE, "NVIDIA"}}};

// Integrated GPUs of Intel are a function of the root complex; i915 and xe drive cards too.
bool is_on_root_bus(const Card& card) {
  return card.pci_address.size() > 8 && card.ports.empty();
}

bool is_unified_memory(const Card& card, SysfsFolder& device, const Hwmon& hwmon) {
  if (card.driver == "amdgpu") {
    const auto bytes = device.bytes("gpu_metrics");
    const auto by_table = bytes ? parse_metrics_table(*bytes).is_apu : std::nullopt;
    return by_table ? *by_table : hwmon.has_label("vddnb");
  }
  if (card.driver == "i915" || card.driver == "xe") return is_on_root_bus(card);
  return card.pci_address.empty();  // a part of a chip
}

std::optional<std::int64_t> id_in(SysfsFolder& device, const char* file) {
  const auto text = device.text(file);
  return text ? parse_hex(*text) : std::nullopt;
}

void set_pci(const Card& card, SysfsFolder& device, MetricValues& values) {
  if (card.pci_address.empty()) return;
  // As NVML writes it: eight digits of domain, capitals.
  std::string address = card.pci_address;
  address.insert(0, 8 - std::min<std::size_t>(address.find(':'), 8), '0');
  for (char& c : address) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  values.set_text(Metric::pci_bus_id, address);
  std::string_view rest = card.pci_address;
  const auto part = [&](Metric metric, char end) {
    if (const auto number = parse_hex(take_until(rest, end))) values.set(metric, *number);
  };
  part(Metric::pci_domain, ':');
  part(Metric::pci_bus, ':');
  part(Metric::pci_device, '.');
  if (const auto code = id_in(device, "class")) {
    values.set(Metric::pci_base_class, *code >> 16 & 0xFF);
    values.set(Metric::pci_sub_class, *code >> 8 & 0xFF);
  }
  const auto set_pair = [&](Metric metric, const char* vendor_file, const char* device_file) {
    const auto vendor = id_in(device, vendor_file), number = id_in(device, device_file);
    if (vendor && number && *vendor <= 0xFFFF && *number <= 0xFFFF) values.set(metric, *number << 16 | *vendor);
  };
  set_pair(Metric::pci_device_id, "vendor", "device");
  set_pair(Metric::pci_sub_device_id, "subsystem_vendor", "subsystem_device");
}

std::string name_of(const Card& card, SysfsFolder& device, const std::vector<std::string>& share_folders) {
  if (const auto product = device.text("product_name"); product && !product->empty()) return std::string(*product);
  const auto vendor = id_in(device, "vendor"), number = id_in(device, "device");
  if (!vendor || !number) return card.driver;
  std::string maker;
  for (const Vendor& known : kVendors) {
    if (known.id == *vendor) maker = known.name;
  }
  if (const auto name = read_pci_name(share_folders, *vendor, *number)) {
    return maker.empty() ? *name : maker + " " + *name;
  }
  char ids[40];
  std::snprintf(ids, sizeof ids, "GPU %04llx:%04llx", static_cast<unsigned long long>(*vendor),
                static_cast<unsigned long long>(*number));
  return maker.empty() ? ids : maker + " " + ids;
}

// A name of it that stays the same over boots and places of other cards.
std::string uuid_of(const Card& card, SysfsFolder& device) {
  // A number that the maker gave it; "0" where none is burnt in.
  if (const auto id = device.text("unique_id"); id && parse_hex(*id).value_or(0) > 0) return "GPU-" + std::string(*id);
  if (!card.pci_address.empty()) return "PCI-" + card.pci_address;
  return "DRM-" + card.folder.substr(card.folder.rfind('/') + 1);
}

std::string driver_version_of(const Card& card, const Roots& roots) {
  SysfsFolder module(roots.sys + "/module/" + card.driver, false);
  const auto version = module.text("version");  // of drivers that are built apart from the kernel
  if (version && !version->empty()) return card.driver + " " + std::string(*version);
  const auto kernel = read_file(roots.proc + "/sys/kernel/osrelease", 256);
  if (!kernel) return card.driver;
  std::string_view rest = *kernel;
  return card.driver + " (Linux " + std::string(take_word(rest)) + ")";
}

}  // namespace

CardReader::CardReader(Card card, const ReaderSettings& settings)
    : card_(std::move(card)),
      device_(card_.folder, settings.keeps_open),
      nodes_(card_.folder + "/drm", false),
      hwmon_(card_.folder, card_.driver, settings.keeps_open),
      link_(card_, settings.keeps_open) {
  is_unified_ = is_unified_memory(card_, device_, hwmon_);
  if (card_.driver == "amdgpu") amdgpu_ = Amdgpu(card_.folder, is_unified_);
  if (card_.driver == "i915" || card_.driver == "xe") units_ = IntelUnits(card_, settings.keeps_open);
}

void CardReader::identify(const ReaderSettings& settings, MetricValues& values) {
  values.set_text(Metric::name, name_of(card_, device_, settings.share_folders));
  values.set_text(Metric::uuid, uuid_of(card_, device_));
  values.set_text(Metric::kernel_driver, card_.driver);
  const std::string version = driver_version_of(card_, settings.roots);
  values.set_text(Metric::driver_version, version);
  values.set_text(Metric::kmd_version, version);
  set_pci(card_, device_, values);
  if (const auto serial = device_.text("serial_number"); serial && !serial->empty()) {
    values.set_text(Metric::serial, *serial);
  }
  if (const auto bios = device_.text("vbios_version"); bios && !bios->empty()) {
    values.set_text(Metric::vbios_version, *bios);
  }
}

bool CardReader::read(Fill& fill, std::int64_t now_ns) {
  // The hardware's folder stays when only the driver lets go of it.
  if (!nodes_.is_there()) return false;
  const auto state = device_.text("power/runtime_status");
  is_asleep_ = state == "suspended";
  if (state && fill.wants(Metric::power_state)) fill.values.set_text(Metric::power_state, *state);
  if (is_asleep_) return true;
  hwmon_.read(fill, now_ns);
  hwmon_.read_limits(fill);
  link_.read(fill);
  link_.read_limits(fill);
  if (card_.driver == "amdgpu") {
    amdgpu_.read(device_, fill, now_ns);
    amdgpu_.read_limits(device_, fill);
  }
  units_.read(fill, now_ns);
  units_.read_limits(fill);
  return true;
}

void CardReader::look_anew() {
  device_.look_anew();
  hwmon_.look_anew();
  units_.look_anew();
}

}  // namespace vramscope::drm
