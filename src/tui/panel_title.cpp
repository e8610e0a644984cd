// The first line: where, when, how often.
#include "fmt/format.h"
#include "report/phrases.h"
#include "report/watch_lines.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/utf8.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Of this machine and of recordings the time of day; a scenario has a time of its own.
std::string clock_text(const Look& look) {
  const Scene& scene = look.scene;
  if (scene.sample_count == 0) return {};
  if (!look.is_simulated) return time_of_day(scene.real_time_ns);
  const std::int64_t seconds = scene.time_ns / kSecondNs;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string interval_text(std::int64_t interval_ns) {
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  if (interval_ns >= 60 * kSecondNs) return format_duration(interval_ns);
  if (interval_ns % kSecondNs != 0) return fmt::format("{} ms", interval_ns / kMillisecondNs);
  return filled(tr("{count} s"), fmt::arg("count", interval_ns / kSecondNs));
}

std::size_t count_gpus(const Scene& scene) {
  std::size_t count = 0;
  for (const SceneDevice& device : scene.devices) count += device.is_mig ? 0 : 1;
  return count;
}

}  // namespace

void draw_title(Frame& frame, const Rect& area, const Look& look) {
  const Scene& scene = look.scene;
  std::string right;
  const auto add = [&](std::string& to, const std::string& text) {
    if (!text.empty()) to += (to.empty() ? "" : "  ") + text;
  };
  if (look.ui.is_paused) add(right, tr("PAUSED"));
  if (scene.is_at_end) add(right, tr("end of the recording"));
  if (!look.ui.filter.empty()) add(right, filled(tr("filter: {words}"), fmt::arg("words", printable(look.ui.filter))));
  if (look.interval_ns > 0) add(right, filled(tr("every {time}"), fmt::arg("time", interval_text(look.interval_ns))));
  add(right, clock_text(look));
  std::string left;
  add(left, scene.source.empty() ? scene.host : scene.source);
  const auto gpus = static_cast<std::int64_t>(count_gpus(scene));
  if (gpus > 0) add(left, counted(NN_("{count} GPU", "{count} GPUs"), gpus));
  const auto processes = static_cast<std::int64_t>(scene.processes.size());
  if (gpus > 0) add(left, counted(NN_("{count} process", "{count} processes"), processes));
  if (!scene.driver.empty()) add(left, filled(tr("driver {version}"), fmt::arg("version", scene.driver)));
  const int right_width = static_cast<int>(std::min<std::size_t>(display_width(right), 10'000));
  int x = area.x + frame.put(area.x, area.y, "vramscope ", Style::title, area.width);
  const int room = area.x + area.width - x - right_width - 1;
  x += frame.put_elided(x, area.y, left, Style::normal, room, look.ascii);
  frame.put_right(area.x, area.y, right, look.ui.is_paused ? Style::warning : Style::label, area.width);
}

}  // namespace vramscope::tui
