#include "monitor/alert_rule.h"

#include <algorithm>
#include <charconv>

#include "devices/backend.h"
#include "fmt/format.h"
#include "monitor/alert_certainty.h"
#include "monitor/alert_units.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::string_view kProcessMemory = "process.memory";

struct Word {
  std::string_view text;
  std::size_t place = 0;  // of its first byte in the rule
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_sign(char c) {
  return c == '<' || c == '>' || c == '=' || c == '!';
}

// Words are parted by blanks; signs of comparison are words of their own.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const bool sign = is_sign(text[at]);
    while (at < text.size() && !is_blank(text[at]) && is_sign(text[at]) == sign) ++at;
    words.push_back({text.substr(begin, at - begin), begin});
  }
  return words;
}

std::optional<AlertComparison> comparison_named(std::string_view sign) {
  for (const AlertComparison comparison :
       {AlertComparison::above, AlertComparison::at_least, AlertComparison::below, AlertComparison::at_most,
        AlertComparison::equal, AlertComparison::not_equal}) {
    if (sign == comparison_sign(comparison)) return comparison;
  }
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Reads one rule from left to right. A method that refuses leaves its sentence in `refusal_` and returns false.
class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text), words_(words_of(text)) {}

  Result<AlertRule> parse() {
    if (!read_condition() || !read_rest()) return Error{ExitCode::usage, refusal_};
    for (const Word& word : words_) {
      const bool is_tight = !rule_.text.empty() && word.place > 0 && !is_blank(text_[word.place - 1]);
      if (!rule_.text.empty() && !is_tight) rule_.text += ' ';
      rule_.text += word.text;
    }
    rule_.text = printable(rule_.text);
    return rule_;
  }

 private:
  const Word* word() const { return at_ < words_.size() ? &words_[at_] : nullptr; }
  bool is_at(std::string_view text) const { return at_ < words_.size() && words_[at_].text == text; }
  bool take(std::string_view text) {
    if (!is_at(text)) return false;
    ++at_;
    return true;
  }

  // `problem` goes on after the word that is meant, or after "the end".
  bool refuse(const std::string& problem) {
    std::string where = tr("the rule ends too early");
    if (const Word* here = word()) {
      where = fmt::format(fmt::runtime(tr("\"{word}\" (at character {place})")),
                          fmt::arg("word", printable(here->text)), fmt::arg("place", here->place + 1));
    }
    refusal_ = fmt::format(fmt::runtime(tr("Alert rule \"{rule}\": {where}: {problem}.")),
                           fmt::arg("rule", printable(text_)), fmt::arg("where", where), fmt::arg("problem", problem));
    return false;
  }

  bool read_condition() {
    if (words_.empty()) {
      return refuse(
          tr("write a condition, as memory.used > 90% for 30s, memory growing, full within 20m, gpu lost, "
             "process gone or xid"));
    }
    const std::string_view first = words_[0].text;
    if (first == "memory") return read_growing();
    if (first == "full") return read_full();
    if (first == "gpu") return read_lost();
    if (first == "process") return read_gone();
    if (first == "xid") {
      ++at_;
      rule_.condition = AlertCondition::xid;
      rule_.severity = Severity::error;
      return true;
    }
    return read_metric();
  }

  bool read_growing() {
    ++at_;
    rule_.condition = AlertCondition::memory_growing;
    return take("growing") || refuse(tr("after memory comes growing; the metric is written memory.used"));
  }

  bool read_full() {
    ++at_;
    rule_.condition = AlertCondition::full_within;
    if (!take("within")) return refuse(tr("after full comes within and a length of time, as full within 20m"));
    return read_duration(rule_.within_ns);
  }

  bool read_lost() {
    ++at_;
    rule_.condition = AlertCondition::gpu_lost;
    rule_.severity = Severity::error;
    return take("lost") || refuse(tr("after gpu comes lost; a scope stands at the end, as on gpu 0,1"));
  }

  bool read_gone() {
    ++at_;
    rule_.condition = AlertCondition::process_gone;
    if (!take("gone")) return refuse(tr("after process comes gone; the metric is written process.memory"));
    const Word* name = word();
    if (name == nullptr || name->text == "on") return true;
    if (name->text == "for") return true;  // refused with its reason later
    rule_.process_pid = whole_number(name->text);
    if (!rule_.process_pid) rule_.process_name = std::string(name->text);
    ++at_;
    return true;
  }

  bool read_metric() {
    const std::string_view name = words_[0].text;
    AlertUnit unit = AlertUnit::bytes;
    if (name == kProcessMemory) {
      rule_.condition = AlertCondition::process_memory;
    } else {
      rule_.metric = metric_named(name);
      if (!rule_.metric) return refuse_name(name);
      const MetricInfo& info = info_of(*rule_.metric);
      if (info.unit == MetricUnit::text) return refuse(tr("this is a text; rules compare numbers"));
      unit = alert_unit(info.unit);
    }
    ++at_;
    const auto comparison = word() == nullptr ? std::nullopt : comparison_named(word()->text);
    if (!comparison) return refuse(tr("here stands one of > >= < <= == !="));
    rule_.comparison = *comparison;
    ++at_;
    return read_threshold(unit);
  }

  bool refuse_name(std::string_view name) {
    std::vector<std::string_view> names = {kProcessMemory, "xid", "full", "process", "gpu", "memory"};
    for (const MetricInfo& info : metric_table()) {
      if (info.unit != MetricUnit::text) names.push_back(info.name);
    }
    const std::string near = closest_name(name, names);
    if (near.empty()) {
      return refuse(
          tr("there is no such metric; it is one of those that `nvidia-smi --help-query-gpu` lists, as memory.used, "
             "utilization.gpu or temperature.gpu, or memory growing, full within 20m, gpu lost, process gone, xid"));
    }
    return refuse(
        fmt::format(fmt::runtime(tr("there is no such metric; {name} is the nearest name")), fmt::arg("name", near)));
  }

  bool read_threshold(AlertUnit unit) {
    const Word* here = word();
    if (here == nullptr) return refuse(tr("a number is missing, as 90%"));
    auto written = read_number(here->text);
    if (!written) return refuse(tr("this is no number"));
    std::size_t taken = 1;
    if (written->unit.empty() && at_ + 1 < words_.size()) {
      const std::string_view next = words_[at_ + 1].text;
      if (next != "for" && next != "on") {
        written->unit = next;
        taken = 2;
      }
    }
    rule_.unit = unit;
    if (unit == AlertUnit::bytes && written->unit == "%") {
      rule_.is_share = true;
      rule_.unit = AlertUnit::percent;
    }
    const auto threshold = in_unit(*written, rule_.unit);
    if (!threshold) return refuse_unit(*written, taken);
    rule_.threshold = *threshold;
    if (const std::string problem = certainty_problem(rule_); !problem.empty()) return refuse(problem);
    at_ += taken;
    return true;
  }

  bool refuse_unit(const WrittenNumber& written, std::size_t taken) {
    std::string units = written_units(rule_.unit);
    if (rule_.unit == AlertUnit::bytes) units += ", %";
    if (written.unit.empty()) {
      return refuse(fmt::format(fmt::runtime(tr("the number needs a unit, one of {units}")), fmt::arg("units", units)));
    }
    if (taken == 2) ++at_;
    if (units.empty()) return refuse(tr("the number of this metric has no unit"));
    return refuse(
        fmt::format(fmt::runtime(tr("this metric has no such unit; write one of {units}")), fmt::arg("units", units)));
  }

  bool read_duration(std::int64_t& duration_ns) {
    if (word() == nullptr) return refuse(tr("a length of time is missing, as 500ms, 30s, 5m, 2h or 1d"));
    std::string joined(word()->text);
    std::size_t taken = 1;
    if (at_ + 1 < words_.size() && words_[at_ + 1].text != "on" && whole_number(joined)) {
      joined += words_[at_ + 1].text;  // "30 s"
      taken = 2;
    }
    const auto read = read_duration_ns(joined);
    if (!read) return refuse(tr("this is no length of time; write 500ms, 30s, 5m, 2h or 1d"));
    duration_ns = *read;
    at_ += taken;
    return true;
  }

  // `for` and `on`, each at most once.
  bool read_rest() {
    bool has_scope = false;
    while (word() != nullptr) {
      if (is_at("for") && rule_.for_ns == 0) {
        if (rule_.condition == AlertCondition::process_gone || rule_.condition == AlertCondition::xid) {
          return refuse(tr("this happens in one moment and cannot last; leave out for and its time"));
        }
        ++at_;
        if (!read_duration(rule_.for_ns)) return false;
      } else if (is_at("on") && !has_scope) {
        ++at_;
        if (!read_scope()) return false;
        has_scope = true;
      } else {
        return refuse(tr("after the condition there can be for 30s and on gpu 0,1, each once"));
      }
    }
    return true;
  }

  // "gpu 0,1", "gpu GPU-…", "GPU-…,GPU-…". The list may hold blanks behind its commas.
  bool read_scope() {
    const bool has_gpu = take("gpu") || take("gpus");
    bool goes_on = true;
    while (goes_on) {
      const Word* here = word();
      if (here == nullptr) return refuse(tr("a GPU is missing, as on gpu 0,1 or on gpu and its UUID"));
      std::string_view rest = here->text;
      goes_on = rest.back() == ',';
      while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view item = rest.substr(0, comma);
        rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
        if (!add_gpu(item, has_gpu)) {
          return refuse(
              tr("here stand numbers of GPUs with commas, or UUIDs that begin with GPU- or MIG-, as on gpu "
                 "0,1"));
        }
      }
      ++at_;
    }
    return true;
  }

  bool add_gpu(std::string_view item, bool has_gpu) {
    if (item.substr(0, 4) == "GPU-" || item.substr(0, 4) == "MIG-") {
      rule_.uuids.emplace_back(item);
      return true;
    }
    constexpr std::int64_t kMost = 10'000;
    const auto index = whole_number(item);
    if (!index || *index > kMost || !has_gpu) return false;
    rule_.gpus.push_back(static_cast<int>(*index));
    return true;
  }

  std::string_view text_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  AlertRule rule_;
  std::string refusal_;
};

}  // namespace

Result<AlertRule> parse_alert_rule(std::string_view text) {
  constexpr std::size_t kLongest = 1000;
  if (text.size() > kLongest) {
    return Error{ExitCode::usage, tr("An alert rule is longer than 1000 characters; write one rule for each --alert.")};
  }
  return RuleParser(text).parse();
}

const char* comparison_sign(AlertComparison comparison) {
  switch (comparison) {
    case AlertComparison::above:
      return ">";
    case AlertComparison::at_least:
      return ">=";
    case AlertComparison::below:
      return "<";
    case AlertComparison::at_most:
      return "<=";
    case AlertComparison::equal:
      return "==";
    case AlertComparison::not_equal:
      break;
  }
  return "!=";
}

bool compare(double value, AlertComparison comparison, double threshold) {
  switch (comparison) {
    case AlertComparison::above:
      return value > threshold;
    case AlertComparison::at_least:
      return value >= threshold;
    case AlertComparison::below:
      return value < threshold;
    case AlertComparison::at_most:
      return value <= threshold;
    case AlertComparison::equal:
      return value == threshold;
    case AlertComparison::not_equal:
      break;
  }
  return value != threshold;
}

AlertUnit alert_unit(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::bytes:
      return AlertUnit::bytes;
    case MetricUnit::bytes_per_second:
      return AlertUnit::bytes_per_second;
    case MetricUnit::percent:
      return AlertUnit::percent;
    case MetricUnit::milliwatts:
      return AlertUnit::milliwatts;
    case MetricUnit::millijoules:
      return AlertUnit::millijoules;
    case MetricUnit::megahertz:
      return AlertUnit::megahertz;
    case MetricUnit::celsius:
      return AlertUnit::celsius;
    case MetricUnit::milliseconds:
      return AlertUnit::milliseconds;
    case MetricUnit::microseconds:
      return AlertUnit::microseconds;
    case MetricUnit::text:
    case MetricUnit::count:
    case MetricUnit::flag:
    case MetricUnit::choice:
    case MetricUnit::mask:
      break;
  }
  return AlertUnit::none;
}

MetricMask metrics_of(const std::vector<AlertRule>& rules) {
  MetricMask mask;
  for (const AlertRule& rule : rules) {
    if (rule.metric) mask.set(index_of(*rule.metric));
  }
  return mask;
}

std::optional<Severity> severity_named(std::string_view word) {
  if (word == "info") return Severity::info;
  if (word == "warning") return Severity::warning;
  if (word == "error") return Severity::error;
  return std::nullopt;
}

}  // namespace vramscope
