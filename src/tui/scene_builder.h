#pragma once
// Makes the scene from samples and what the monitor remembers.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/alert.h"
#include "monitor/monitor.h"
#include "sampling/live_sample.h"
#include "system/roots.h"
#include "tui/scene.h"

namespace vramscope::tui {

// For one thread at a time.
class SceneBuilder {
 public:
  // `source`: what is played back, for the screen; empty for the devices of this machine.
  SceneBuilder(std::string source, const Roots& roots);

  // After the monitor took the sample. `news`: what the alert rules told of it.
  void add(const LiveSample& sample, const Monitor& monitor, const std::vector<AlertEvent>& news);
  void set_problem(std::string sentence) { scene_.problem = std::move(sentence); }
  void set_end() { scene_.is_at_end = true; }
  // Window of the processes' histories.
  void set_zoom(std::size_t zoom, const Monitor& monitor);
  // Empty: no details.
  void set_details(std::optional<SceneDetails> details, const Monitor& monitor);

  const Scene& scene() const { return scene_; }

 private:
  void add_device(const LiveSample& sample, const DeviceSample& from, const Monitor& monitor, SceneDevice& to);
  void add_processes(const LiveSample& sample, const Monitor& monitor);
  void add_process(const LiveSample& sample, std::size_t device, const DeviceProcess& from, const Monitor& monitor);
  void add_alerts(const std::vector<AlertEvent>& news);
  void update_trend(SceneProcess& process, const HolderHistory* holder, std::int64_t now_ns) const;
  void refill_trend(SceneProcess& process, const HolderHistory* holder, std::int64_t now_ns) const;
  const HolderHistory* holder_of(const Monitor& monitor, const ProcessKey& key, const std::string& uuid);
  void update_details(const Monitor& monitor);

  Scene scene_;
  std::size_t zoom_ = 1;
  std::map<std::string, AlertEvent> firing_;  // by AlertEvent::key
  std::vector<SceneProcess> before_;          // of the sample before, taken from as they are found again
  std::size_t next_before_ = 0;
  std::size_t next_holder_ = 0;
  std::optional<std::int64_t> judged_ns_;
};

}  // namespace vramscope::tui
