#include "report/watch_lines.h"

#include <ctime>
#include <variant>

#include "fmt/format.h"
#include "report/alert_message.h"
#include "report/findings.h"
#include "report/json.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

const char* change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::process_start:
      return "process-start";
    case ChangeKind::process_end:
      return "process-end";
    case ChangeKind::growing_so_far:
      return "growing-so-far";
    case ChangeKind::growing:
      return "growing";
    case ChangeKind::levelled_off:
      return "levelled-off";
    case ChangeKind::memory_high:
      return "memory-high";
    case ChangeKind::memory_normal:
      return "memory-normal";
    case ChangeKind::gpu_lost:
      return "gpu-lost";
    case ChangeKind::gpu_back:
      return "gpu-back";
    case ChangeKind::driver_error:
      return "driver-error";
    case ChangeKind::driver_silent:
      return "driver-silent";
    case ChangeKind::driver_answers:
      return "driver-answers";
    case ChangeKind::verdict:
      return "verdict";
    case ChangeKind::verdict_over:
      return "verdict-over";
    case ChangeKind::processes_hidden:
      break;
  }
  return "processes-hidden";
}

std::string time_of_day(std::int64_t real_time_ns) {
  const auto seconds = static_cast<time_t>(real_time_ns / 1'000'000'000);
  tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string change_line(const Change& change) {
  const std::string text = printable(sentence(change.message.id, change.message.arguments, Wording::chosen_language));
  std::string line = paint(time_of_day(change.real_time_ns), Colour::grey) + "  ";
  if (change.severity != Severity::info) line += severity_label(change.severity) + "  ";
  if (change.kind == ChangeKind::verdict_over) line += paint(tr("OVER"), Colour::green) + "  ";
  return line + text + "\n";
}

std::string change_json(const Change& change) {
  JsonWriter json;
  json.begin_object();
  json.member("time_ns", change.real_time_ns);
  json.member("kind", change_name(change.kind));
  json.member("severity", severity_name(change.severity));
  if (change.gpu) json.member("gpu", static_cast<std::int64_t>(*change.gpu));
  if (!change.gpu_uuid.empty()) json.member("gpu_uuid", std::string_view(change.gpu_uuid));
  json.member("pid", change.pid);
  json.member("message", std::string_view(sentence(change.message.id, change.message.arguments, Wording::english)));
  json.key("values").begin_object();
  for (const auto& [name, value] : change.message.arguments) {
    if (std::holds_alternative<std::string>(value.data)) continue;
    json.key(name).begin_object();
    std::visit([&](const auto& data) { json.member("value", data); }, value.data);
    json.member("unit", unit_name(value.unit));
    json.end_object();
  }
  json.end_object();
  json.end_object();
  return json.text();
}

std::string alert_line(const AlertEvent& event) {
  const char* kind = event.kind == AlertKind::resolved   ? tr("RESOLVED")
                     : event.kind == AlertKind::repeated ? tr("STILL")
                                                         : tr("ALERT");
  const Colour colour = event.kind == AlertKind::resolved ? Colour::green : Colour::red;
  return paint(time_of_day(event.real_time_ns), Colour::grey) + "  " + paint(kind, colour) + "  " +
         printable(alert_sentence(event, Wording::chosen_language)) + "\n";
}

std::string alert_line_json(const AlertEvent& event) {
  JsonWriter json;
  json.begin_object();
  json.member("time_ns", event.real_time_ns);
  json.member("kind", "alert");
  json.member("severity", severity_name(event.severity));
  json.member("message", std::string_view(alert_sentence(event, Wording::english)));
  json.key("alert").begin_object();
  write_alert(json, event);
  json.end_object();
  json.end_object();
  return json.text();
}

}  // namespace vramscope
