// No devices at all: for a program that is watched on a machine without a GPU, or without a driver that answers.
#include "backend_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

class NoDevices : public DeviceSource {
 public:
  const std::vector<DeviceSample>& sample(const Wanted&, std::int64_t) override { return devices_; }

 private:
  std::vector<DeviceSample> devices_;
};

Result<std::unique_ptr<DeviceSource>> open(std::string_view) {
  return std::unique_ptr<DeviceSource>(std::make_unique<NoDevices>());
}

}  // namespace

Backend backend_none() {
  return {"none", N_("No devices: what the host tells of a program alone"), -1, open};
}

}  // namespace vramscope
