#include <algorithm>

#include "cli/commands/alerts/rehearsal.h"
#include "report/alert_message.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

std::string after(std::int64_t at_ns) {
  return filled(tr("after {time}"), fmt::arg("time", alert_duration(at_ns, Wording::chosen_language)));
}

std::string channel_list(const std::vector<std::string>& channels) {
  std::string list;
  for (const std::string& each : channels) list += (list.empty() ? "" : ", ") + shown_channel(each);
  return list.empty() ? tr("nobody, for no channel is named") : list;
}

AlertUnit unit_of(const AlertRule& rule) {
  if (rule.condition == AlertCondition::full_within) return AlertUnit::nanoseconds;
  if (rule.condition == AlertCondition::memory_growing) return AlertUnit::bytes_per_hour;
  return rule.unit;
}

// What came nearest, for a rule that did not fire.
std::string nearest_text(const AlertRule& rule, const AlertReport& report) {
  if (!report.nearest) {
    switch (rule.condition) {
      case AlertCondition::process_gone:
        return report.state == AlertState::unknown ? tr("No such process was seen.")
                                                   : tr("All the processes that it is about were there to the end.");
      case AlertCondition::xid:
        return report.state == AlertState::unknown ? tr("No device told its last Xid.") : tr("There was no new Xid.");
      case AlertCondition::gpu_lost:
        return tr("No GPU was lost.");
      case AlertCondition::memory_growing:
      case AlertCondition::full_within:
        return tr("No memory grew.");
      default:
        break;
    }
    return tr("Its value was never known.");
  }
  const std::string value = alert_value(report.nearest->value, unit_of(rule), Wording::chosen_language);
  const std::string where = alert_place(report.nearest->subject);
  if (rule.condition == AlertCondition::memory_growing) {
    return filled(tr("The nearest: {where} grew by {value} {when}, but not for long enough or not steadily."),
                  fmt::arg("where", where), fmt::arg("value", value), fmt::arg("when", after(report.nearest->time_ns)));
  }
  const std::string held =
      report.longest_held_ns > 0
          ? " " + filled(tr("It held for {time} at most."),
                         fmt::arg("time", alert_duration(report.longest_held_ns, Wording::chosen_language)))
          : std::string();
  return filled(tr("The nearest value: {value}, {where}, {when}."), fmt::arg("where", where), fmt::arg("value", value),
                fmt::arg("when", after(report.nearest->time_ns))) +
         held;
}

std::int64_t repeats_of(const Rehearsal& rehearsal, std::size_t rule) {
  return std::count_if(rehearsal.events.begin(), rehearsal.events.end(), [&](const RehearsedEvent& each) {
    return each.event.rule_index == rule && each.event.kind == AlertKind::repeated;
  });
}

std::string rule_text(const AlertRule& rule, const AlertReport& report, std::int64_t repeats) {
  std::string line;
  if (report.fired > 0) {
    line = counted(NN_("fired once", "fired {count} times"), report.fired);
    if (repeats > 0) {
      line += ", " + counted(NN_("repeated once", "repeated {count} times"), repeats);
    }
    if (report.state == AlertState::firing) line += ", " + std::string(tr("still holds at the end"));
  } else if (report.obstacle != AlertObstacle::none) {
    line = obstacle_sentence(rule, report.obstacle);
  } else {
    line = std::string(tr("did not fire.")) + " " + nearest_text(rule, report);
  }
  return "  " + rule.text + "\n" + wrap(line, line_columns(), 4);
}

std::string event_text(const RehearsedEvent& rehearsed, const AlertPlan& plan) {
  AlertMessageOptions options;
  options.ascii = !terminal().utf8;
  const AlertMessage message = alert_message(rehearsed.event, options);
  std::string text = paint(fmt::format("--- {} ", after(rehearsed.at_ns)) + std::string(40, '-'), Colour::bold) + "\n";
  const auto add = [&](const char* what, const std::string& value) { text += fmt::format("{} {}\n", what, value); };
  add(tr("To:"), channel_list(plan.channels[rehearsed.event.rule_index]));
  add(tr("Subject:"), message.subject);
  return text + "\n" + message.body + "\n";
}

const char* state_name(AlertState state) {
  switch (state) {
    case AlertState::unknown:
      return "unknown";
    case AlertState::quiet:
      return "quiet";
    case AlertState::pending:
      return "pending";
    case AlertState::firing:
      break;
  }
  return "firing";
}

void write_rule(JsonWriter& json, const AlertRule& rule, const AlertReport& report, std::int64_t repeats) {
  json.begin_object();
  json.member("rule", std::string_view(rule.text));
  json.member("severity", severity_name(rule.severity));
  json.member("state", state_name(report.state));
  json.member("fired", report.fired);
  json.member("repeated", repeats);
  if (report.obstacle != AlertObstacle::none) {
    json.member("obstacle", report.obstacle == AlertObstacle::no_such_gpu ? "no_such_gpu" : "no_such_metric");
  }
  if (report.nearest) {
    json.key("nearest").begin_object();
    json.member("number", report.nearest->value);
    const char* unit = alert_unit_name(unit_of(rule));
    if (*unit != '\0') json.member("unit", unit);
    json.member("at_ns", report.nearest->time_ns);
    write_alert_subject(json, report.nearest->subject);
    json.end_object();
  }
  json.member("longest_held_ns", report.longest_held_ns);
  json.end_object();
}

}  // namespace

std::string rehearsal_text(const Rehearsal& rehearsal, const AlertPlan& plan) {
  std::string text;
  for (const RehearsedEvent& event : rehearsal.events) text += event_text(event, plan);
  const std::string length = alert_duration(rehearsal.played_ns, Wording::chosen_language);
  text += filled(rehearsal.is_played_back ? tr("Played {time} (samples: {number}):")
                                          : tr("Looked for {time} (samples: {number}):"),
                 fmt::arg("time", length), fmt::arg("number", format_count(rehearsal.samples))) +
          "\n";
  for (std::size_t rule = 0; rule < plan.rules.size(); ++rule) {
    text += rule_text(plan.rules[rule], rehearsal.reports[rule], repeats_of(rehearsal, rule));
  }
  return text;
}

std::string rehearsal_json(const Rehearsal& rehearsal, const AlertPlan& plan) {
  JsonWriter json;
  json.begin_object();
  json.member("played_ns", rehearsal.played_ns);
  json.member("samples", rehearsal.samples);
  json.key("rules").begin_array();
  for (std::size_t rule = 0; rule < plan.rules.size(); ++rule) {
    write_rule(json, plan.rules[rule], rehearsal.reports[rule], repeats_of(rehearsal, rule));
  }
  json.end_array();
  json.key("notices").begin_array();
  for (const RehearsedEvent& rehearsed : rehearsal.events) {
    json.begin_object();
    json.member("at_ns", rehearsed.at_ns);
    json.key("channels").begin_array();
    for (const std::string& each : plan.channels[rehearsed.event.rule_index]) {
      json.value(std::string_view(shown_channel(each)));
    }
    json.end_array();
    json.key("alert").begin_object();
    write_alert(json, rehearsed.event);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace vramscope
