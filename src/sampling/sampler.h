#pragma once
// Looks at devices and processes at a rhythm, or plays a recording or a scenario as if it did.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "sampling/live_sample.h"
#include "system/roots.h"

namespace vramscope {

struct SamplerOptions {
  std::string device;  // as for open_all_devices()
  std::string replay;  // path of a recording or a log of devices; `device` is not used then
  // Simulations and recordings: how many of their seconds pass in one. 0: no waiting at all. Nothing else has a speed.
  double speed = 1;
  std::int64_t interval_ns = 1'000'000'000;  // of a recording its own moments are shown, whatever the interval
  std::int64_t host_rest_ns = 0;             // what the host tells of a process is not asked for again before
  // Called while opening, with what was odd or damaged in all of the file that is to be played back, if anything was.
  std::function<void(const std::string& path, const std::vector<Trouble>& trouble)> on_trouble;
  Wanted wanted = live_wanted();
  Roots roots = roots_from_environment();  // of "drm:FOLDER" those in that folder
};

// For one thread at a time.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // Looks now. Null at the end of a recording. The result is valid until the next call.
  virtual const LiveSample* sample() = 0;
  // CLOCK_MONOTONIC at which the next sample is due: a tick that was missed is left out, not made up for. Before the
  // first sample, and with speed 0: a time that has passed.
  virtual std::int64_t due_ns() const = 0;
  // True for simulations and recordings.
  virtual bool is_played_back() const = 0;
};

// Errors: of the backend (with its driver_code), of the file, and of options that contradict each other.
Result<std::unique_ptr<Sampler>> open_sampler(SamplerOptions options);

// CLOCK_MONOTONIC.
std::int64_t monotonic_now_ns();

}  // namespace vramscope
