#include "cli/live.h"

#include <time.h>

#include <cerrno>
#include <charconv>
#include <cmath>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number > 0)) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1e9},   {"ms", 1e6},   {"s", 1e9},    {"sec", 1e9},
                                                            {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    const double nanoseconds = number * factor;
    if (nanoseconds < 1 || nanoseconds > 9e18) return std::nullopt;
    return std::llround(nanoseconds);
  }
  return std::nullopt;
}

Error duration_error(std::string_view option, std::string_view word) {
  return {ExitCode::usage,
          fmt::format(fmt::runtime(tr("{option}: \"{word}\" is no length of time; write 500ms, 30s, 5m, 2h or 1d.")),
                      fmt::arg("option", option), fmt::arg("word", printable(word)))};
}

void add_live_options(CLI::App& app, LiveOptions& options) {
  app.add_option("--device", options.device,
                 tr("Which devices: nvml, or sim:NAME to play a scenario (docs/scenarios.md)"));
  app.add_option("--replay", options.replay, tr("Play a recording (.vrs) in place of devices"));
  app.add_option("--speed", options.speed, tr("How fast to play a scenario or a recording: 1, 60, max"));
}

Result<SamplerOptions> LiveOptions::sampler_options() const {
  SamplerOptions made;
  made.device = device;
  made.replay = replay;
  if (!interval.empty()) {
    const auto interval_ns = parse_duration_ns(interval);
    if (!interval_ns) return duration_error("--interval", interval);
    made.interval_ns = *interval_ns;
  }
  if (speed == "max") {
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
