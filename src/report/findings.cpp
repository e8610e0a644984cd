#include "report/findings.h"

#include <cmath>
#include <string_view>

#include "fmt/args.h"
#include "fmt/format.h"
#include "report/json.h"
#include "report/seen_devices.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

std::string duration(std::int64_t nanoseconds, Wording wording) {
  // Long times have words in them.
  constexpr std::int64_t kMinute = 60'000'000'000;
  if (wording == Wording::chosen_language || nanoseconds < kMinute) return format_duration(nanoseconds);
  const std::int64_t seconds = nanoseconds / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string with_unit(std::int64_t number, Unit unit, Wording wording) {
  const auto in_words = [&](const char* id) {
    const char* format = wording == Wording::english ? id : tr(id);
    return fmt::format(fmt::runtime(format), fmt::arg("bytes", format_bytes(number)));
  };
  switch (unit) {
    case Unit::bytes:
      return format_bytes(number);
    case Unit::bytes_per_step:
      return in_words(N_("{bytes} a step"));
    case Unit::bytes_per_sample:
      return in_words(N_("{bytes} a sample"));
    case Unit::bytes_per_hour:
      return in_words(N_("{bytes} an hour"));
    case Unit::nanoseconds:
      return duration(number, wording);
    case Unit::count:
    case Unit::per_step:
      return format_count(number);
    case Unit::share:
    case Unit::none:
      break;
  }
  return std::to_string(number);
}

void write_value(JsonWriter& json, const Value& value) {
  std::visit([&](const auto& data) { json.value(data); }, value.data);
}

std::string behind_path(std::string_view path, std::string text) {
  if (path.empty()) return text;
  return text.empty() ? std::string(path) : std::string(path) + ": " + text;
}

void write_finding(JsonWriter& json, const Case& input, const Finding& finding) {
  const auto english = [&](const char* id) { return sentence(id, finding.arguments, Wording::english); };
  json.begin_object();
  json.member("id", std::string_view(finding.rule));
  json.member("title", std::string_view(english(finding.title)));
  json.member("severity", severity_name(finding.severity));
  json.member("confidence", finding.confidence);
  json.member("summary", std::string_view(summary_of(finding, Wording::english)));
  json.key("evidence");
  write_evidence(json, finding.evidence, finding.arguments,
                 input.sources.size() < 2 ? std::string_view() : std::string_view(finding.source));
  json.member("fix", std::string_view(fix_for_machines(finding)));
  json.member("doc", std::string_view("docs/rules/" + finding.rule + ".md"));
  json.end_object();
}

// Who is meant is not always known; a sentence with a hole or a question mark in it would be hard to read.
const char* words_for_unknown(std::string_view argument, std::string_view text) {
  if (!text.empty() && text != "?") return nullptr;
  if (argument == "user") return N_("an unknown user");
  if (argument == "process") return N_("an unknown program");
  return nullptr;
}

// The number that chooses between the forms of a message: that of its first place with a count.
std::int64_t deciding_count(std::string_view id, const Arguments& arguments) {
  std::size_t first = id.size();
  std::int64_t count = 0;
  for (const auto& [name, value] : arguments) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (number == nullptr || value.unit != Unit::count) continue;
    const std::size_t at = id.find("{" + name + "}");
    if (at >= first) continue;
    first = at;
    count = *number;
  }
  return count;
}

}  // namespace

std::string shown(const Value& value, Wording wording) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return with_unit(*number, value.unit, wording);
  const double number = std::get<double>(value.data);
  if (value.unit == Unit::share && std::isfinite(number)) return format_share(number);
  return fmt::format("{:g}", number);
}

std::string sentence(const char* id, const Arguments& arguments, Wording wording) {
  if (*id == '\0') return {};
  const auto count = static_cast<long>(deciding_count(id, arguments));
  const std::string format = wording == Wording::english ? std::string(english_form(id, count)) : tr_n(id, count);
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const auto& [name, value] : arguments) {
    std::string text = shown(value, wording);
    if (const char* words = words_for_unknown(name, text)) text = wording == Wording::english ? words : tr(words);
    store.push_back(fmt::arg(name.c_str(), std::move(text)));
  }
  try {
    return fmt::vformat(format, store);
  } catch (const fmt::format_error&) {
    return format;
  }
}

std::string summary_of(const Finding& finding, Wording wording) {
  // Chinese puts no space between sentences.
  const bool joined = wording == Wording::chosen_language && language() == "zh";
  std::string summary = sentence(finding.summary, finding.arguments, wording);
  const auto add = [&](const Message& message) {
    const std::string text = sentence(message.id, message.arguments, wording);
    if (!text.empty()) summary += (joined ? "" : " ") + text;
  };
  for (const Message& detail : finding.details) add(detail);
  add(finding.same_bytes);
  return summary;
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "bytes";
    case Unit::bytes_per_step:
      return "bytes/step";
    case Unit::bytes_per_sample:
      return "bytes/sample";
    case Unit::bytes_per_hour:
      return "bytes/hour";
    case Unit::nanoseconds:
      return "ns";
    case Unit::share:
      return "share";
    case Unit::count:
      return "count";
    case Unit::per_step:
      return "count/step";
    case Unit::none:
      break;
  }
  return "";
}

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

void write_evidence(JsonWriter& json, const std::vector<Evidence>& evidence, const Arguments& arguments,
                    std::string_view path) {
  json.begin_array();
  for (const Evidence& each : evidence) {
    json.begin_object();
    json.member("what", std::string_view(sentence(each.what, arguments, Wording::english)));
    write_value(json.key("value"), each.value);
    json.member("unit", unit_name(each.value.unit));
    json.member("where",
                std::string_view(behind_path(path, sentence(each.where.id, each.where.arguments, Wording::english))));
    json.end_object();
  }
  json.end_array();
}

std::string fix_for_machines(const Finding& finding) {
  std::string fix = sentence(finding.fix, finding.arguments, Wording::english);
  for (const Message& each : finding.fixes) {
    fix += (fix.empty() ? "" : " ") + sentence(each.id, each.arguments, Wording::english);
  }
  if (!finding.fix_code.empty()) fix += std::string("\n") + finding.fix_code;
  return fix;
}

std::string findings_json(const Case& input, const Verdicts& verdicts) {
  JsonWriter json;
  json.begin_object();
  json.key("findings").begin_array();
  for (const Finding& finding : verdicts.findings) write_finding(json, input, finding);
  json.end_array();
  json.key("skipped").begin_array();
  for (const Skipped& skipped : verdicts.skipped) {
    const std::string why = sentence(skipped.why, skipped.arguments, Wording::english);
    json.begin_object();
    json.member("id", std::string_view(skipped.rule));
    json.member("why",
                std::string_view(behind_path(input.sources.size() < 2 ? std::string_view() : skipped.source, why)));
    json.end_object();
  }
  json.end_array();
  write_seen_devices(json, input);
  json.end_object();
  return json.text();
}

}  // namespace vramscope
