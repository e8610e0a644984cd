#include "cli/live.h"

#include <time.h>

#include <cerrno>
#include <charconv>

#include "cli/inputs.h"
#include "cli/options.h"
#include "devices/backends/sim/scenario.h"
#include "fmt/format.h"
#include "monitor/alert_units.h"
#include "report/paths.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  const auto with_unit = read_duration_ns(text);
  return with_unit ? with_unit : read_duration_ns(std::string(text) + "s");
}

Error duration_error(std::string_view option, std::string_view word) {
  return {ExitCode::usage,
          fmt::format(fmt::runtime(tr("{option}: \"{word}\" is no length of time; write 500ms, 30s, 5m, 2h or 1d.")),
                      fmt::arg("option", option), fmt::arg("word", printable(word)))};
}

void add_device_option(CLI::App& app, LiveOptions& options) {
  std::vector<std::string> devices{"nvml", "drm"};
  for (const std::string_view name : sim::built_in_names()) devices.push_back("sim:" + std::string(name));
  suggest(app.add_option("--device", options.device,
                         tr("Which devices: nvml (NVIDIA), drm (AMD, Intel, nouveau), or sim:NAME to play a scenario "
                            "(docs/scenarios.md); without it all there are")),
          devices);
}

void add_speed_option(CLI::App& app, LiveOptions& options) {
  suggest(app.add_option("--speed", options.speed,
                         tr("How fast to play: 1, 60, max; without it a scenario at 1, a recording or log at max")),
          {"1", "60", "max"});
}

void add_live_options(CLI::App& app, LiveOptions& options) {
  add_device_option(app, options);
  app.add_option("--replay,--from", options.replay,
                 tr("Play a recording (.vrs) or a log of nvidia-smi in place of devices"))
      ->type_name(tr("FILE"));
  add_speed_option(app, options);
}

namespace {

// One line, before anything else is shown: a recording that lacks a part must not look like a quiet machine.
void warn_of_trouble(const std::string& path, const std::vector<Trouble>& trouble) {
  std::string list;
  bool has_end = true;
  for (const Trouble& each : trouble) {
    if (each.name == "no_end") has_end = false;
    if (each.name == "no_end" || !is_damage(each.name)) continue;
    if (!list.empty()) list += ", ";
    list += fmt::format(fmt::runtime(tr("{name} ({count}, first at byte {offset})")), fmt::arg("name", each.name),
                        fmt::arg("count", format_count(each.count)), fmt::arg("offset", each.first_offset));
  }
  const std::string shown = shown_path(path);
  if (list.empty() && !has_end) {
    fail({ExitCode::bad_input, fmt::format(fmt::runtime(tr("{path} has no end: it is written still, or its writer was "
                                                           "killed; what it holds so far is played.")),
                                           fmt::arg("path", shown))});
  } else if (!list.empty()) {
    if (!has_end) list += ", no_end";
    fail({ExitCode::bad_input, fmt::format(fmt::runtime(tr("{path} is not whole: {trouble}; what could be read is "
                                                           "played.")),
                                           fmt::arg("path", shown), fmt::arg("trouble", list))});
  }
}

}  // namespace

Result<SamplerOptions> LiveOptions::sampler_options() const {
  SamplerOptions made;
  made.device = device;
  made.replay = replay;
  made.on_trouble = warn_of_trouble;
  if (!interval.empty()) {
    const auto interval_ns = parse_duration_ns(interval);
    if (!interval_ns) return duration_error("--interval", interval);
    made.interval_ns = *interval_ns;
  }
  // What a recording tells is wanted now; a scenario shows how it would go.
  if (speed == "max" || (speed.empty() && !replay.empty())) {
    made.speed = 0;
  } else if (!speed.empty()) {
    const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), made.speed);
    const bool is_number = error == std::errc() && end == speed.data() + speed.size();
    if (!is_number || !(made.speed > 0) || made.speed > 1e6) {
      return Error{ExitCode::usage,
                   fmt::format(fmt::runtime(tr("--speed: \"{word}\" is no speed; write 1, 60 or max.")),
                               fmt::arg("word", printable(speed)))};
    }
  }
  if (!speed.empty() && replay.empty() && device.substr(0, 3) != "sim") {
    return Error{ExitCode::usage, tr("Only a scenario or a recording has a speed; add --device sim:NAME or --replay "
                                     "FILE.")};
  }
  return made;
}

void wait_until_due(const Sampler& sampler) {
  const std::int64_t due_ns = sampler.due_ns();
  if (due_ns <= monotonic_now_ns()) return;
  const timespec due{static_cast<time_t>(due_ns / 1'000'000'000), static_cast<long>(due_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

}  // namespace vramscope
