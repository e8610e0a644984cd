#pragma once
// Scenes for tests, with as many devices and processes as wanted.
#include <string>

#include "tui/scene.h"

namespace vramscope::tui {

inline SceneProcess scene_process(std::int32_t pid, std::size_t device, std::int64_t used, const std::string& user,
                                  const std::string& command) {
  SceneProcess process;
  process.key = {pid, 1000 + pid};
  process.device = device;
  process.device_label = std::to_string(device);
  process.presence = Presence::seen;
  process.used_bytes = used;
  process.state = 'R';
  process.user = user;
  process.command = command;
  process.trend.fill(-1);
  return process;
}

inline Scene scene_of(std::size_t gpus) {
  Scene scene;
  scene.sample_count = 1;
  for (std::size_t i = 0; i < gpus; ++i) {
    SceneDevice device;
    device.uuid = "GPU-" + std::to_string(i);
    device.label = std::to_string(i);
    device.name = "NVIDIA H100 80GB HBM3";
    device.busy = 93;
    device.temperature = 62;
    device.power = 520'000;
    device.memory_used = std::int64_t{61} << 30;
    device.memory_total = std::int64_t{80} << 30;
    scene.devices.push_back(std::move(device));
  }
  return scene;
}

}  // namespace vramscope::tui
