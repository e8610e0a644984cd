#pragma once
// What there is to see: plain data, made from samples and what the monitor remembers (scene_builder.h), drawn by the
// panels. It owns everything, so that a driver call in progress never touches it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/growth_watch.h"
#include "model/alert.h"
#include "model/verdict.h"
#include "sampling/live_sample.h"
#include "tui/plot_history.h"
#include "tui/setup.h"

namespace vramscope::tui {

// A GPU, or a MIG device, which follows its GPU.
struct SceneDevice {
  std::string uuid;   // of the monitor
  std::string label;  // "0", "7.1"
  std::string name;   // printable
  bool is_mig = false;
  bool is_lost = false;
  bool hides_processes = false;  // they are not for us to see
  std::optional<std::int64_t> lost_since_ns;
  std::optional<std::int64_t> busy, memory_busy, encoder, decoder;  // percent
  std::optional<std::int64_t> temperature, slowdown_temperature;    // degrees Celsius
  std::optional<std::int64_t> fan;                                  // percent
  std::optional<std::int64_t> power, power_limit;                   // milliwatts
  std::optional<std::int64_t> clock, memory_clock;                  // MHz
  std::optional<std::int64_t> memory_used, memory_total;            // bytes
  std::optional<std::int64_t> pcie_generation, pcie_width;
  std::optional<std::int64_t> pcie_tx, pcie_rx;  // bytes a second
  bool is_throttled = false;                     // for heat or for a fault
  bool is_power_capped = false;
  GrowthState growth = GrowthState::none;
  std::optional<std::int64_t> full_in_ns;
  std::array<PlotHistory, kCurves> curves;
};

// Memory of a process over the plots' window in equal pieces, the newest last; bytes, below 0: unknown.
using Trend = std::array<float, 20>;

// A process on a device.
struct SceneProcess {
  ProcessKey key;
  std::size_t device = 0;  // in Scene::devices: the GPU
  std::string device_label;
  Presence presence = Presence::absent;
  std::optional<std::int32_t> ppid;
  ProcessType type = ProcessType::compute;
  bool is_mps = false;
  bool is_orphan = false;
  std::optional<char> state;
  std::optional<std::int64_t> used_bytes, gpu_share, encoder, decoder, host_bytes, age_ns;
  std::optional<double> cpu_percent;
  std::optional<double> memory_share;  // of the device's memory
  std::optional<std::int64_t> allocator_reserved, allocator_allocated, allocator_active;
  std::string user;         // printable; empty: unknown
  std::string command;      // likewise
  std::string place;        // likewise: Slurm job, pod, container, unit
  std::string raw_command;  // as the kernel has it: what `command` was made from
  GrowthState growth = GrowthState::none;
  double bytes_per_hour = 0;
  Trend trend{};
  std::int64_t trend_piece = -1;  // number of the newest
};

// What /proc tells of one process when somebody looks at it closely.
struct SceneDetails {
  ProcessKey key;
  std::string device_uuid;
  std::optional<std::string> folder;  // where it works
  std::string placement;              // lines
  std::vector<std::string> environment;
  bool has_environment = false;                         // asked for and read
  std::string problem;                                  // why it could not be read
  std::vector<std::pair<std::int64_t, double>> memory;  // (ns, bytes)
};

struct Scene {
  std::vector<SceneDevice> devices;
  std::vector<SceneProcess> processes;
  std::vector<Verdict> verdicts;   // worst first
  std::vector<AlertEvent> alerts;  // that fire now, the newest last
  std::optional<SceneDetails> details;
  std::string host;               // name of the machine; may be empty
  std::string driver;             // version; may be empty
  std::string problem;            // why nothing can be seen; empty: all is well
  std::string source;             // what is played back; empty: the devices of this machine
  std::int64_t time_ns = 0;       // of the sample
  std::int64_t real_time_ns = 0;  // likewise, unix
  std::int64_t sample_count = 0;
  bool is_played_back = false;
  bool is_at_end = false;  // of a recording
};

}  // namespace vramscope::tui
