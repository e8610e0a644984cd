#include "report/alert_message.h"
#include "text/date.h"

namespace vramscope {

namespace {

const char* condition_name(AlertCondition condition) {
  switch (condition) {
    case AlertCondition::metric:
      return "metric";
    case AlertCondition::process_memory:
      return "process_memory";
    case AlertCondition::memory_growing:
      return "memory_growing";
    case AlertCondition::full_within:
      return "full_within";
    case AlertCondition::gpu_lost:
      return "gpu_lost";
    case AlertCondition::process_gone:
      return "process_gone";
    case AlertCondition::xid:
      break;
  }
  return "xid";
}

void write_text(JsonWriter& json, const char* name, const std::string& text) {
  if (!text.empty()) json.member(name, std::string_view(text));
}

void write_process(JsonWriter& json, const AlertProcess& process) {
  json.begin_object();
  json.member("pid", process.pid);
  write_text(json, "name", process.name);
  write_text(json, "user", process.user);
  write_text(json, "command", process.command);
  json.member("used_bytes", process.used_bytes);
  json.end_object();
}

void write_value(JsonWriter& json, const char* name, const std::optional<double>& value, AlertUnit unit) {
  if (!value) return;
  json.key(name).begin_object();
  json.member("number", *value);
  write_text(json, "unit", alert_unit_name(unit));
  json.end_object();
}

void write_curve(JsonWriter& json, const AlertEvent& event) {
  if (event.curve.empty()) return;
  json.key("curve").begin_object();
  write_text(json, "unit", alert_unit_name(event.curve_unit));
  json.key("points").begin_array();
  for (const AlertPoint& point : event.curve) {
    json.begin_array().value(point.real_time_ns).value(point.value).end_array();
  }
  json.end_array().end_object();
}

}  // namespace

const char* alert_kind_name(AlertKind kind) {
  switch (kind) {
    case AlertKind::fired:
      return "fired";
    case AlertKind::repeated:
      return "repeated";
    case AlertKind::resolved:
      break;
  }
  return "resolved";
}

const char* alert_unit_name(AlertUnit unit) {
  switch (unit) {
    case AlertUnit::none:
      return "";
    case AlertUnit::bytes:
      return "bytes";
    case AlertUnit::bytes_per_second:
      return "bytes_per_second";
    case AlertUnit::bytes_per_hour:
      return "bytes_per_hour";
    case AlertUnit::percent:
      return "percent";
    case AlertUnit::milliwatts:
      return "milliwatts";
    case AlertUnit::millijoules:
      return "millijoules";
    case AlertUnit::megahertz:
      return "megahertz";
    case AlertUnit::celsius:
      return "celsius";
    case AlertUnit::milliseconds:
      return "milliseconds";
    case AlertUnit::microseconds:
      return "microseconds";
    case AlertUnit::nanoseconds:
      break;
  }
  return "nanoseconds";
}

void write_alert_subject(JsonWriter& json, const AlertSubject& subject) {
  json.member("host", std::string_view(subject.host));
  if (subject.gpu) {
    json.key("gpu").begin_object();
    json.member("index", static_cast<std::int64_t>(*subject.gpu));
    if (subject.mig) json.member("mig", static_cast<std::int64_t>(*subject.mig));
    write_text(json, "uuid", subject.gpu_uuid);
    write_text(json, "name", subject.gpu_name);
    json.end_object();
  }
  if (subject.process) {
    json.key("process");
    write_process(json, *subject.process);
  }
}

void write_alert(JsonWriter& json, const AlertEvent& event) {
  json.member("kind", alert_kind_name(event.kind));
  json.member("severity", severity_name(event.severity));
  json.member("rule", std::string_view(event.rule));
  json.member("condition", condition_name(event.condition));
  AlertMessageOptions options;
  options.ascii = true;
  options.wording = Wording::english;
  const AlertMessage message = alert_message(event, options);
  json.member("title", std::string_view(message.subject));
  json.member("text", std::string_view(alert_sentence(event, Wording::english)));
  json.member("time", std::string_view(format_utc(event.real_time_ns)));
  json.member("time_ns", event.real_time_ns);
  json.member("since_ns", event.since_real_ns);
  json.member("played_back", event.is_played_back);
  write_alert_subject(json, event.subject);
  write_text(json, "metric", event.metric);
  write_text(json, "comparison", event.comparison);
  write_value(json, "value", event.value, event.unit);
  write_value(json, "threshold", event.threshold, event.unit);
  json.member("value_bytes", event.value_bytes);
  json.member("memory_used_bytes", event.memory_used_bytes);
  json.member("memory_total_bytes", event.memory_total_bytes);
  json.key("holders").begin_array();
  for (const AlertProcess& holder : event.holders) write_process(json, holder);
  json.end_array();
  write_curve(json, event);
}

std::string alert_json(const AlertEvent& event) {
  JsonWriter json;
  json.begin_object();
  write_alert(json, event);
  json.end_object();
  return json.text();
}

}  // namespace vramscope
