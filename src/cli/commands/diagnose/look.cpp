#include "cli/commands/diagnose/look.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <csignal>

#include "cli/driver_patience.h"
#include "fmt/format.h"
#include "report/blind_spots.h"
#include "sampling/sample_log.h"
#include "text/catalogue.h"
#include "text/terminal.h"

namespace vramscope {

namespace {

volatile std::sig_atomic_t is_interrupted = 0;

void interrupt(int /*signal*/) {
  is_interrupted = 1;
}

// The first signal ends the look, a second one the program.
void end_look_on_signals() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// False when a signal came. One that comes between the look at the flag and the sleep waits no longer than a slice.
bool wait_for(std::int64_t due_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kSlice = kSecond / 5;
  while (is_interrupted == 0) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (now_ns >= due_ns) return true;
    const std::int64_t until_ns = std::min(due_ns, now_ns + kSlice);
    const timespec until{static_cast<time_t>(until_ns / kSecond), static_cast<long>(until_ns % kSecond)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  return false;
}

// "12 s of 60 s"
std::string so_far(std::int64_t done_ns, std::int64_t total_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return fmt::format(fmt::runtime(tr("{done} s of {total} s")), fmt::arg("done", done_ns / kSecond),
                     fmt::arg("total", total_ns / kSecond));
}

// What rules ask for beyond what is always looked at.
Wanted wanted_for_rules() {
  using M = Metric;
  Wanted wanted = live_wanted();
  wanted.metrics |= mask_of({M::clocks_max_sm, M::power_default_limit, M::pcie_link_gen_current, M::pcie_link_gen_max,
                             M::pcie_link_width_current, M::pcie_link_width_max, M::retired_pages_double_bit_count,
                             M::gpu_recovery_action});
  return wanted;
}

}  // namespace

Result<Source> look_at_devices(const LiveOptions& options, std::int64_t look_ns) {
  auto sampler_options = options.sampler_options();
  if (!sampler_options) return sampler_options.error();
  sampler_options->wanted = wanted_for_rules();
  const bool is_scenario = options.device.substr(0, 3) == "sim";
  if (is_scenario && options.speed.empty()) sampler_options->speed = 0;
  auto sampler = open_patient_sampler(*sampler_options, [] { return is_interrupted != 0 ? SIGINT : 0; });
  if (!sampler) return sampler.error();
  end_look_on_signals();
  SampleLog log;
  const LiveSample* sample = (*sampler)->sample();
  bool tells = false;
  const std::int64_t first_ns = sample == nullptr ? 0 : sample->time_ns;
  ProgressLine progress(tr("looking at the devices; Ctrl-C ends the look"));
  while (sample != nullptr) {
    log.add(*sample);
    tells = tells || sample->is_played_back || tells_anything(*sample);
    progress.update(so_far(sample->time_ns - first_ns, look_ns));
    if (sample->time_ns - first_ns >= look_ns || !wait_for((*sampler)->due_ns())) break;
    sample = (*sampler)->sample();
  }
  if (log.empty() || !tells) {
    return Error{ExitCode::machine, tr("No GPU tells anything to this user; look as root, or ask whoever runs this "
                                       "machine or container for access to the devices.")};
  }
  return log.take(options.device.empty() ? tr("this machine") : options.device);
}

}  // namespace vramscope
