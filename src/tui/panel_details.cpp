// One process, closely.
#include <algorithm>
#include <limits>

#include "fmt/format.h"
#include "report/phrases.h"
#include "report/process_words.h"
#include "text/catalogue.h"
#include "text/curve.h"
#include "text/format.h"
#include "text/terminal.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

constexpr int kCurveRows = 8;
constexpr int kFewestCurveColumns = 30;

std::string growth_text(const SceneProcess& process) {
  if (process.growth == GrowthState::none) return {};
  return filled(
      process.growth == GrowthState::growing ? tr("grows by {bytes} an hour") : tr("grows by {bytes} an hour so far"),
      fmt::arg("bytes", format_bytes(static_cast<std::int64_t>(std::clamp(process.bytes_per_hour, 0.0, 9e18)))));
}

class Page {
 public:
  explicit Page(int width) : width_(width) {}
  void fact(const char* what, const std::string& value, Style style = Style::normal) {
    if (value.empty()) return;
    const std::string head = std::string(what) + ": ";
    std::vector<Line> text;
    add_text(text, head + value, style, width_);
    if (!text.empty() && text[0][0].text.compare(0, head.size(), head) == 0) {
      text[0] = {{head, Style::label}, {text[0][0].text.substr(head.size()), style}};
    }
    lines_.insert(lines_.end(), text.begin(), text.end());
  }
  void text(const std::string& words, Style style) { add_text(lines_, words, style, width_); }
  void gap() { lines_.emplace_back(); }
  std::vector<Line>& lines() { return lines_; }

 private:
  int width_;
  std::vector<Line> lines_;
};

void add_allocator(Page& page, const SceneProcess& process) {
  if (!process.allocator_reserved) {
    page.fact(tr("allocator"), tr("the program tells nothing of what it does with that memory"), Style::dim);
    return;
  }
  page.fact(tr("allocator has reserved"), bytes_text(process.allocator_reserved));
  page.fact(tr("of that in tensors"), bytes_text(process.allocator_allocated));
  page.fact(tr("in use, with other streams"), bytes_text(process.allocator_active));
}

std::string value_label(double bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}
std::string time_label(std::int64_t nanoseconds) {
  return format_duration(nanoseconds);
}

void add_curve(Page& page, const SceneDetails& details, const Look& look, int width) {
  if (details.memory.size() < 2 || width < kFewestCurveColumns) return;
  page.gap();
  page.text(filled(tr("memory over the last {time}"), fmt::arg("time", window_text(look.ui.setup.zoom))), Style::label);
  CurveOptions options;
  options.width = static_cast<std::size_t>(width);
  options.height = kCurveRows;
  options.ascii = look.ascii;
  options.format_value = value_label;
  options.format_time = time_label;
  Terminal& shown = terminal();
  const bool colour = shown.colour;
  shown.colour = false;  // cells have styles of their own
  const std::string curve = plot({{"", details.memory}}, {}, options);
  shown.colour = colour;
  for (std::size_t begin = 0; begin < curve.size();) {
    const std::size_t end = std::min(curve.find('\n', begin), curve.size());
    page.lines().push_back({{curve.substr(begin, end - begin), Style::curve_0}});
    begin = end + 1;
  }
}

const SceneProcess* process_of(const Look& look) {
  for (const SceneProcess& process : look.scene.processes) {
    if (look.ui.selected && process.key == look.ui.selected->process && process.device == look.ui.selected->device) {
      return &process;
    }
  }
  return nullptr;
}

void add_facts(Page& page, const SceneProcess& process, const Look& look) {
  const SceneDevice& device = look.scene.devices[process.device];
  page.fact(tr("command"), process.command.empty() ? tr("N/A") : process.command, Style::bold);
  page.fact(tr("user"), process.user.empty() ? tr("N/A") : process.user);
  page.fact(tr("state"), state_word(process.presence, process.state) +
                             (process.is_orphan ? std::string(", ") + tr("its parent has ended") : std::string()));
  page.fact(tr("age"), age_text(process.age_ns));
  if (process.ppid && *process.ppid > 0) page.fact(tr("parent"), std::to_string(*process.ppid));
  page.gap();
  std::string memory = bytes_text(process.used_bytes);
  if (process.memory_share) memory += fmt::format(" ({:.0f}%)", *process.memory_share * 100);
  if (const std::string growth = growth_text(process); !growth.empty()) memory += ", " + growth;
  page.fact(tr("GPU"), process.device_label + " " + device.name);
  page.fact(tr("memory of the GPU"), memory, process.growth == GrowthState::growing ? Style::warning : Style::normal);
  page.fact(tr("share of the GPU's time"), percent_text(process.gpu_share));
  page.fact(tr("memory of the host (resident)"), bytes_text(process.host_bytes));
  if (process.cpu_percent) page.fact(tr("share of one core"), fmt::format("{:.0f}%", *process.cpu_percent));
  add_allocator(page, process);
}

void add_placement(Page& page, const SceneDetails& details, const Look& look) {
  page.gap();
  if (details.folder) page.fact(tr("working folder"), *details.folder);
  for (std::size_t begin = 0; begin < details.placement.size();) {
    const std::size_t end = details.placement.find('\n', begin);
    const std::string line = details.placement.substr(begin, end - begin);
    const std::size_t colon = line.find(": ");
    page.fact(line.substr(0, colon).c_str(), line.substr(std::min(colon + 2, line.size())));
    begin = end + 1;
  }
  if (look.scene.is_played_back) return;
  if (!details.problem.empty()) page.text(details.problem, Style::dim);
  page.gap();
  if (!look.ui.with_environment) {
    page.text(tr("e: show its environment (it may hold secrets)"), Style::dim);
    return;
  }
  if (!details.has_environment) return;
  page.text(tr("environment"), Style::label);
  for (const std::string& variable : details.environment) page.text(variable, Style::normal);
}

}  // namespace

void draw_details(Frame& frame, const Look& look, View& view) {
  const int width = page_width(frame);
  Page page(width);
  const SceneProcess* process = process_of(look);
  std::string title = tr("process");
  if (process == nullptr) {
    page.text(tr("The process uses this GPU no more."), Style::warning);
  } else {
    title = filled(tr("process {pid}"), fmt::arg("pid", process->key.pid));
    add_facts(page, *process, look);
    const auto& details = look.scene.details;
    if (details && details->key == process->key) {
      add_curve(page, *details, look, width);
      add_placement(page, *details, look);
    }
  }
  draw_page(frame, title, page.lines(), look, view);
}

}  // namespace vramscope::tui
