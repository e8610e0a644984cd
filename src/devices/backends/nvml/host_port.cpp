// What the machine's side of a GPU's PCIe link could do. NVML does not tell; the kernel does.
#include <cstdlib>
#include <fstream>
#include <string>

#include "devices/backends/nvml/groups.h"

namespace vramscope::nvml {

namespace {

// VRAMSCOPE_SYS names another folder than /sys, for tests and for monitors that look at a host from a container.
std::string sys_root() {
  const char* const asked = std::getenv("VRAMSCOPE_SYS");
  return asked != nullptr && *asked != '\0' ? asked : "/sys";
}

// "00000000:0C:00.0" is "0000:0c:00.0" to the kernel.
std::string kernel_name(std::string_view bus_id) {
  constexpr std::size_t kLong = 16, kExtra = 4;
  if (bus_id.size() == kLong && bus_id.substr(0, kExtra) == "0000") bus_id.remove_prefix(kExtra);
  std::string name(bus_id);
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

// …/devices/pci0000:00/0000:00:01.1/0000:0c:00.0 is a GPU behind the root port 0000:00:01.1. Without a root port, as
// in virtual machines, it lies directly in the folder of the bus.
std::string root_port_of(const std::string& device) {
  const std::size_t bus = device.rfind("/pci");
  if (bus == device.npos) return {};
  const std::size_t port = device.find('/', bus + 1);
  const std::size_t end = port == device.npos ? port : device.find('/', port + 1);
  return end == device.npos ? std::string() : device.substr(0, end);
}

// "16.0 GT/s PCIe"
std::optional<int> generation_of(const std::string& speed) {
  constexpr std::pair<double, int> kGenerations[] = {{2.5, 1}, {5, 2}, {8, 3}, {16, 4}, {32, 5}, {64, 6}};
  const double gigatransfers = std::strtod(speed.c_str(), nullptr);
  for (const auto& [rate, generation] : kGenerations) {
    if (gigatransfers > rate * 0.99 && gigatransfers < rate * 1.01) return generation;
  }
  return std::nullopt;
}

}  // namespace

int host_port_generation(Reading& reading) {
  const std::string_view bus_id = reading.values.text(Metric::pci_bus_id);
  if (bus_id.empty() || bus_id.find('/') != bus_id.npos) return kNotSupported;
  const std::string link = sys_root() + "/bus/pci/devices/" + kernel_name(bus_id);
  char* const real = ::realpath(link.c_str(), nullptr);
  if (real == nullptr) return kNotSupported;
  const std::string port = root_port_of(real);
  std::free(real);
  std::string speed;
  if (port.empty() || !std::getline(std::ifstream(port + "/max_link_speed"), speed)) return kNotSupported;
  const std::optional<int> generation = generation_of(speed);
  if (!generation) return kNotSupported;
  reading.values.set(Metric::pcie_link_gen_hostmax, *generation);
  return kSuccess;
}

}  // namespace vramscope::nvml
