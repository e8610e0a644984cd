#include "cli/commands/top/once.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "monitor/alert_state.h"
#include "report/nvtop_json.h"
#include "system/host.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "tui/scene_builder.h"
#include "tui/view.h"

namespace vramscope {

namespace {

// A second sample a little later gives shares of time, as in `status`.
constexpr std::int64_t kGlanceNs = 200'000'000;
constexpr int kUsualRows = 40;

int rows_to_print(const TopOptions& options) {
  if (options.height) return static_cast<int>(*options.height);
  winsize window{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0) {
    return window.ws_row;
  }
  return kUsualRows;
}

struct Look {
  std::unique_ptr<Sampler> sampler;
  std::int64_t interval_ns = 0;
  std::int64_t look_ns = kGlanceNs;
  bool is_whole = false;  // to the end of a recording
};

Result<Look> open_look(const TopOptions& options) {
  auto sampler_options = options.sampler_options();
  if (!sampler_options) return sampler_options.error();
  Look look;
  if (!options.look.empty()) {
    const auto wanted_ns = parse_duration_ns(options.look);
    if (!wanted_ns) return duration_error("--look", options.look);
    look.look_ns = *wanted_ns;
  }
  sampler_options->host_rest_ns = 0;  // two looks are all there is
  look.interval_ns = sampler_options->interval_ns;
  const bool has_interval = options.delay || !options.live.interval.empty();
  if (!has_interval) sampler_options->interval_ns = std::min(sampler_options->interval_ns, look.look_ns);
  const bool is_recording = !options.live.replay.empty();
  if (is_recording && options.live.speed.empty()) sampler_options->speed = 0;
  look.is_whole = is_recording && options.look.empty();
  auto sampler = open_patient_sampler(*sampler_options);
  if (!sampler) return sampler.error();
  look.sampler = std::move(*sampler);
  return look;
}

// Calls `see` with every sample of the look; the last one, null without any.
template <typename See>
const LiveSample* take_samples(const Look& look, See&& see) {
  const LiveSample* last = look.sampler->sample();
  if (last == nullptr) return nullptr;
  const std::int64_t first_ns = last->time_ns;
  see(*last);
  while (look.is_whole || last->time_ns - first_ns < look.look_ns) {
    wait_until_due(*look.sampler);
    const LiveSample* next = look.sampler->sample();
    if (next == nullptr) break;
    last = next;
    see(*last);
  }
  return last;
}

ExitCode nothing_recorded() {
  return fail({ExitCode::bad_input, tr("The recording holds no samples of devices.")});
}

}  // namespace

ExitCode print_frame(const TopOptions& options, const tui::Setup& setup) {
  auto plan = alert_plan(options.alerts);
  if (!plan) return fail(plan.error());
  auto look = open_look(options);
  if (!look) return fail(look.error());
  Monitor monitor;
  AlertWatch alerts(plan->rules, read_machine().host_name.value_or(""));
  tui::SceneBuilder builder(options.source(), {});
  builder.set_zoom(setup.zoom, monitor);
  const LiveSample* last = take_samples(*look, [&](const LiveSample& sample) {
    monitor.add(sample);
    builder.add(sample, monitor, alerts.add(sample, monitor).events);
  });
  if (last == nullptr) return nothing_recorded();
  tui::UiState ui;
  ui.setup = setup;
  ui.filter = options.filter;
  tui::Frame frame(static_cast<int>(terminal().columns), rows_to_print(options));
  tui::View view;
  tui::draw(frame, builder.scene(), ui, std::nullopt,
            {look->interval_ns, options.is_simulated(), !terminal().utf8, terminal().colour}, view);
  print(frame.text());
  return last->devices().empty() ? ExitCode::machine : ExitCode::ok;
}

ExitCode print_snapshots(const TopOptions& options) {
  auto look = open_look(options);
  if (!look) return fail(look.error());
  const NvtopOptions nvtop{options.fahrenheit, !options.no_processes};
  const LiveSample* last = take_samples(*look, [](const LiveSample&) {});
  if (last == nullptr) return nothing_recorded();
  print(nvtop_json(*last, nvtop));
  while (options.loop && could_print()) {
    std::fflush(stdout);
    wait_until_due(*look->sampler);
    last = look->sampler->sample();
    if (last == nullptr) break;
    print(nvtop_json(*last, nvtop));
  }
  return ExitCode::ok;
}

}  // namespace vramscope
