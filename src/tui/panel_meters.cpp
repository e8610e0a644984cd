// A GPU's values now: bars and facts.
#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/utf8.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

struct Bar {
  std::string_view label;
  std::optional<double> share;
  std::string text;  // at the right end, inside
  Style style = Style::good;
  int weight = 1;  // its part of the width
};

int width_of(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(display_width(text), 10'000));
}

// "GPU[||||||     93%]"
void draw_bar(Frame& frame, int x, int y, int width, const Bar& bar) {
  const int label = frame.put(x, y, bar.label, Style::label, width);
  const int inside = width - label - 2;
  if (inside <= 0) return;
  frame.set(x + label, y, "[", Style::dim);
  frame.set(x + label + 1 + inside, y, "]", Style::dim);
  const int full = bar.share ? static_cast<int>(std::lround(std::clamp(*bar.share, 0.0, 1.0) * inside)) : 0;
  const int begin = x + label + 1;
  frame.fill({begin, y, full, 1}, '|', bar.style);
  const int text = std::min(width_of(bar.text), inside);
  frame.put(begin + inside - text, y, bar.text, Style::bold, text);
}

std::optional<double> share_of(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

Bar percent_bar(std::string_view label, std::optional<std::int64_t> percent, int weight) {
  return {label, share_of(percent, 100), percent_text(percent), Style::good, weight};
}

Bar memory_bar(const SceneDevice& device, int weight) {
  const std::optional<double> share = share_of(device.memory_used, device.memory_total);
  return {"MEM", share, part_of_bytes(device.memory_used, device.memory_total), load_style(share.value_or(0)), weight};
}

void draw_bars(Frame& frame, const Rect& line, const std::vector<Bar>& bars) {
  int weights = 0;
  for (const Bar& bar : bars) weights += bar.weight;
  const int room = line.width - static_cast<int>(bars.size()) + 1;
  int used = 0, x = line.x;
  for (const Bar& bar : bars) {
    const int begin = room * used / weights;
    used += bar.weight;
    const int width = room * used / weights - begin;
    draw_bar(frame, x, line.y, width, bar);
    x += width + 1;
  }
}

std::vector<Bar> bars_of(const SceneDevice& device, int width) {
  std::vector<Bar> bars{percent_bar("GPU", device.busy, 4), memory_bar(device, 5)};
  constexpr int kRoomForCoders = 70;
  if (width >= kRoomForCoders && device.encoder) bars.push_back(percent_bar("ENC", device.encoder, 2));
  if (width >= kRoomForCoders && device.decoder) bars.push_back(percent_bar("DEC", device.decoder, 2));
  return bars;
}

// Facts one after the other; those that do not fit are left out.
class FactLine {
 public:
  FactLine(Frame& frame, int x, int y, int end) : frame_(frame), x_(x), begin_(x), y_(y), end_(end) {}
  void add(std::string_view text, Style style = Style::normal) {
    const int gap = x_ == begin_ ? 0 : 2;
    const int width = width_of(text);
    if (text.empty() || x_ + gap + width > end_) return;
    x_ += gap + frame_.put(x_ + gap, y_, text, style);
  }
  void add(std::string_view label, const std::string& text, Style style = Style::normal) {
    const int gap = x_ == begin_ ? 0 : 2;
    if (x_ + gap + width_of(label) + 1 + width_of(text) > end_) return;
    x_ += gap + frame_.put(x_ + gap, y_, label, Style::label);
    x_ += 1 + frame_.put(x_ + 1, y_, text, style);
  }

 private:
  Frame& frame_;
  int x_, begin_, y_, end_;
};

Style temperature_style(const SceneDevice& device) {
  if (!device.temperature || !device.slowdown_temperature) return Style::normal;
  constexpr std::int64_t kNear = 5;
  if (*device.temperature >= *device.slowdown_temperature) return Style::bad;
  return *device.temperature + kNear >= *device.slowdown_temperature ? Style::warning : Style::normal;
}

void add_state(FactLine& facts, const SceneDevice& device) {
  if (device.is_throttled) facts.add(tr("SLOWED DOWN"), Style::bad);
  if (device.is_power_capped && !device.is_throttled) facts.add(tr("at its power limit"), Style::dim);
  if (device.growth == GrowthState::none) return;
  const Style style = device.growth == GrowthState::growing ? Style::warning : Style::dim;
  if (device.full_in_ns) {
    facts.add(filled(tr("full in {time}"),
                     fmt::arg("time", format_duration(*device.full_in_ns / 60'000'000'000 * 60'000'000'000))),
              style);
  } else {
    facts.add(tr("memory grows"), style);
  }
}

void add_facts(FactLine& facts, const SceneDevice& device, const Look& look) {
  facts.add(temperature_text(device.temperature, look.ui.setup.fahrenheit, look.ascii), temperature_style(device));
  facts.add(power_text(device.power, device.power_limit));
  if (device.fan) facts.add(tr("fan"), percent_text(device.fan));
  if (device.clock) facts.add(tr("clock"), fmt::format("{} MHz", *device.clock));
  if (device.memory_clock) facts.add(tr("memory clock"), fmt::format("{} MHz", *device.memory_clock));
  add_state(facts, device);
}

void add_link(FactLine& facts, const SceneDevice& device) {
  if (device.pcie_generation && device.pcie_width) {
    facts.add("PCIe", fmt::format("gen {} x{}", *device.pcie_generation, *device.pcie_width));
  }
  if (device.pcie_rx) facts.add("RX", format_bytes(*device.pcie_rx) + "/s");
  if (device.pcie_tx) facts.add("TX", format_bytes(*device.pcie_tx) + "/s");
}

// One line for everything, of a MIG device always.
void draw_line(Frame& frame, const Rect& area, const SceneDevice& device, const Look& look) {
  constexpr int kFacts = 16, kName = 26, kLeastBars = 24;
  const std::string label = (device.is_mig ? " MIG " : "") + device.label;
  int x = area.x + frame.put(area.x, area.y, label, Style::title, area.width - 1) + 1;
  int left = area.x + area.width - 1 - x;
  if (left >= kLeastBars + kFacts + kName) {
    frame.put_elided(x, area.y, device.name, Style::normal, kName - 1, look.ascii);
    x += kName;
    left -= kName;
  }
  if (device.is_lost) {
    frame.put_elided(x, area.y, tr("LOST: it does not answer any more"), Style::bad, left, look.ascii);
    return;
  }
  std::vector<Bar> bars;
  if (!device.is_mig || device.busy) bars.push_back(percent_bar(left >= 36 ? "GPU" : "", device.busy, 3));
  bars.push_back(memory_bar(device, 5));
  if (left < 36) bars.back().label = {};
  const int facts = left >= kLeastBars + kFacts && !device.is_mig ? kFacts : 0;
  draw_bars(frame, {x, area.y, left - facts, 1}, bars);
  if (facts == 0) return;
  FactLine line(frame, x + left - facts + 1, area.y, x + left);
  line.add(temperature_text(device.temperature, look.ui.setup.fahrenheit, look.ascii), temperature_style(device));
  line.add(power_text(device.power, std::nullopt));
}

}  // namespace

void draw_meter(Frame& frame, const Block& block, MeterForm form, const Look& look) {
  const SceneDevice& device = look.scene.devices[block.device];
  const Rect& area = block.area;
  if (area.height == 1) {
    draw_line(frame, area, device, look);
    return;
  }
  const int end = area.x + area.width - 1;
  int x = area.x + frame.put(area.x, area.y, fmt::format("GPU {} ", device.label), Style::title, area.width - 1);
  const int most_name = form == MeterForm::two_lines ? area.width * 2 / 5 : area.width - 1;
  x += frame.put_elided(x, area.y, device.name, Style::bold, std::min(most_name, end - x), look.ascii) + 2;
  if (device.is_lost) {
    frame.put_elided(area.x + 2, area.y + 1, tr("LOST: it does not answer any more"), Style::bad, area.width - 3,
                     look.ascii);
    return;
  }
  FactLine first(frame, x, area.y, end);
  if (form == MeterForm::two_lines) {
    add_facts(first, device, look);
  } else {
    add_link(first, device);
    FactLine second(frame, area.x + 2, area.y + 1, end);
    add_facts(second, device, look);
  }
  draw_bars(frame, {area.x + 1, area.y + area.height - 1, area.width - 2, 1}, bars_of(device, area.width));
}

}  // namespace vramscope::tui
