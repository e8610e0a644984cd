#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/memory_sums.h"
#include "report/memory_log.h"
#include "report/paths.h"
#include "report/phrases.h"
#include "report/source_kind.h"
#include "report/thin_levels.h"
#include "text/curve.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kTopLines = 3;  // of categories beside the total

struct TimelineFacts {
  std::vector<std::int64_t> total;
  std::size_t peak = 0;            // first position of the highest total
  std::vector<std::size_t> order;  // categories, most at the peak first
  std::vector<std::int64_t> highest;
};

TimelineFacts measure_timeline(const CategoryTimeline& timeline) {
  TimelineFacts facts;
  facts.total.resize(timeline.time_ns.size());
  facts.highest.resize(timeline.categories.size());
  facts.order.resize(timeline.categories.size());
  std::iota(facts.order.begin(), facts.order.end(), std::size_t{0});
  for (std::size_t c = 0; c < timeline.categories.size(); ++c) {
    const Column<std::int64_t>& bytes = timeline.bytes[c];
    for (std::size_t i = 0; i < facts.total.size(); ++i) {
      facts.total[i] = add_bytes(facts.total[i], bytes[i]);
      facts.highest[c] = std::max(facts.highest[c], bytes[i]);
    }
  }
  if (facts.total.empty()) return facts;
  facts.peak = static_cast<std::size_t>(std::max_element(facts.total.begin(), facts.total.end()) - facts.total.begin());
  std::stable_sort(facts.order.begin(), facts.order.end(), [&](std::size_t a, std::size_t b) {
    return timeline.bytes[a][facts.peak] > timeline.bytes[b][facts.peak];
  });
  return facts;
}

struct CategoryName {
  const char* word;
  const char* msgid;
};
constexpr CategoryName kCategoryNames[] = {{"parameter", N_("parameters")},
                                           {"optimizer_state", N_("optimizer state")},
                                           {"input", N_("inputs")},
                                           {"temporary", N_("temporary")},
                                           {"activation", N_("activations")},
                                           {"gradient", N_("gradients")},
                                           {"autograd_detail", N_("autograd detail")},
                                           {"unknown", N_("unknown")}};

std::string category_text(const std::string& word) {
  for (const CategoryName& each : kCategoryNames) {
    if (word == each.word) return tr(each.msgid);
  }
  return printable(word);
}

// The axis of a source without times counts samples.
std::string format_sample(std::int64_t number) {
  return filled(tr("sample {number}"), fmt::arg("number", number));
}

std::string peak_sentence(const CategoryTimeline& timeline, const TimelineFacts& facts) {
  const std::string peak = format_bytes(facts.total[facts.peak]);
  const std::string end = format_bytes(facts.total.back());
  if (timeline.is_sample_numbers) {
    return filled(tr("Peak {bytes} at sample {number}; {end} at the end. The file has no times."),
                  fmt::arg("bytes", peak), fmt::arg("number", timeline.time_ns[facts.peak]), fmt::arg("end", end));
  }
  return filled(tr("Peak {bytes}, {time} after the first point; {end} at the end."), fmt::arg("bytes", peak),
                fmt::arg("time", format_duration(subtract_bytes(timeline.time_ns[facts.peak], timeline.time_ns[0]))),
                fmt::arg("end", end));
}

std::string heading(const Source& source, std::size_t points) {
  const CategoryTimeline& timeline = *source.memory_timeline;
  const std::string count = format_count(static_cast<std::int64_t>(points));
  if (timeline.is_sample_numbers) {
    return filled(
        tr_n(NN_("memory by GPU, {count} sample", "memory by GPU, {count} samples"), static_cast<long>(points)),
        fmt::arg("count", count));
  }
  return filled(tr_n(NN_("memory timeline, {count} point over {time}", "memory timeline, {count} points over {time}"),
                     static_cast<long>(points)),
                fmt::arg("count", count),
                fmt::arg("time", format_duration(subtract_bytes(timeline.time_ns.back(), timeline.time_ns[0]))));
}

std::string format_level(double bytes) {
  constexpr double kMost = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::clamp(bytes, -kMost, kMost)));
}

std::string table_text(const CategoryTimeline& timeline, const TimelineFacts& facts) {
  TextTable table;
  table.columns = {{tr("Category"), Align::left, Shrink::end},
                   {tr("At the peak"), Align::right},
                   {tr("Share"), Align::right, Shrink::no, 2},
                   {tr("Its own peak"), Align::right, Shrink::no, 1},
                   {tr("At the end"), Align::right, Shrink::no, 3}};
  const std::int64_t whole = facts.total[facts.peak];
  for (const std::size_t c : facts.order) {
    if (facts.highest[c] == 0) continue;
    const std::int64_t bytes = timeline.bytes[c][facts.peak];
    table.rows.push_back(
        {category_text(timeline.categories[c]), format_bytes(bytes),
         whole > 0 ? format_share(static_cast<double>(bytes) / static_cast<double>(whole)) : std::string(tr("N/A")),
         format_bytes(facts.highest[c]), format_bytes(timeline.bytes[c].back())});
  }
  return render(table, table_columns(), 2);
}

std::string curve_text(const CategoryTimeline& timeline, const TimelineFacts& facts) {
  std::vector<CurveLine> lines(1);
  lines[0].label = tr("all categories");
  for (std::size_t i = 0; i < facts.total.size(); ++i) {
    lines[0].points.emplace_back(timeline.time_ns[i], static_cast<double>(facts.total[i]));
  }
  for (std::size_t k = 0; k < std::min(kTopLines, facts.order.size()); ++k) {
    const std::size_t c = facts.order[k];
    if (facts.highest[c] == 0) continue;
    CurveLine line{category_text(timeline.categories[c]), {}};
    for (std::size_t i = 0; i < facts.total.size(); ++i) {
      line.points.emplace_back(timeline.time_ns[i], static_cast<double>(timeline.bytes[c][i]));
    }
    lines.push_back(std::move(line));
  }
  CurveOptions options;
  options.width = terminal().columns;
  options.ascii = !terminal().utf8;
  options.format_value = format_level;
  options.format_time = timeline.is_sample_numbers ? format_sample : format_duration;
  const CurveMark peak{timeline.time_ns[facts.peak],
                       filled(tr("peak {bytes}"), fmt::arg("bytes", format_bytes(facts.total[facts.peak])))};
  return plot(lines, {peak}, options);
}

}  // namespace

std::string timeline_text(const Source& source) {
  const CategoryTimeline& timeline = *source.memory_timeline;
  const TimelineFacts facts = measure_timeline(timeline);
  std::string text = paint(shown_path(source.path), Colour::bold) + "  ";
  if (facts.total.empty() && is_log_of_devices(source)) {
    return wrap(text + tr("a log of devices that does not tell memory in use"), line_columns(), 0, 2);
  }
  if (facts.total.empty()) return wrap(text + tr("memory timeline without a point"), line_columns(), 0, 2);
  text = wrap(text + heading(source, facts.total.size()), line_columns(), 0, 2);
  text += wrap(peak_sentence(timeline, facts), line_columns(), 2);
  return text + "\n" + table_text(timeline, facts) + "\n" + curve_text(timeline, facts);
}

void write_timeline(JsonWriter& json, const Source& source, const MemoryOptions& options) {
  const CategoryTimeline& timeline = *source.memory_timeline;
  const TimelineFacts facts = measure_timeline(timeline);
  json.member("kind", "timeline").key("devices").begin_array().end_array();
  json.key("timeline").begin_object().member("is_relative", timeline.is_relative);
  json.member("is_sample_numbers", timeline.is_sample_numbers);
  json.key("categories").begin_array();
  for (const std::string& name : timeline.categories) json.value(std::string_view(name));
  json.end_array();
  if (facts.total.empty()) {
    json.key("peak").null().key("highest_bytes").begin_array().end_array().key("points").begin_array().end_array();
    json.end_object();
    return;
  }
  const auto write_levels = [&](std::size_t i) {
    json.begin_array();
    for (const Column<std::int64_t>& bytes : timeline.bytes) json.value(bytes[i]);
    json.end_array();
  };
  json.key("peak").begin_object().member("time_ns", timeline.time_ns[facts.peak]);
  json.member("bytes", facts.total[facts.peak]).key("by_category");
  write_levels(facts.peak);
  json.end_object().key("highest_bytes").begin_array();
  for (const std::int64_t bytes : facts.highest) json.value(bytes);
  json.end_array().key("points").begin_array();
  const auto level = [&](std::size_t i) { return facts.total[i]; };
  for (const std::size_t i : thin_levels(facts.total.size(), facts.peak, options.points, level)) {
    json.begin_array().value(timeline.time_ns[i]).value(facts.total[i]);
    write_levels(i);
    json.end_array();
  }
  json.end_array().end_object();
}

}  // namespace vramscope
