#include "report/alert_message.h"

#include <algorithm>
#include <cmath>

#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/curve.h"
#include "text/date.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kCommandColumns = 60;

// Messages go to places that know no colours.
class WithoutColour {
 public:
  explicit WithoutColour(bool ascii) : kept_(terminal()) {
    terminal().colour = false;
    if (ascii) terminal().utf8 = false;
  }
  ~WithoutColour() { terminal() = kept_; }
  WithoutColour(const WithoutColour&) = delete;
  WithoutColour& operator=(const WithoutColour&) = delete;

 private:
  Terminal kept_;
};

std::string device_words(const AlertSubject& subject) {
  const std::string place = alert_place(subject);
  return subject.gpu_name.empty() ? place : fmt::format("{} ({})", place, printable(subject.gpu_name));
}

std::string process_words(const AlertProcess& process) {
  const std::string& name = process.command.empty() ? process.name : process.command;
  if (name.empty()) return fmt::format("pid {}", process.pid);
  return fmt::format("{} (pid {})", elide_middle(printable(name), kCommandColumns), process.pid);
}

// The value, and the bytes behind a share.
std::string value_words(const AlertEvent& event, Wording wording) {
  if (!event.value) return worded(N_("N/A"), wording);
  const std::string value = alert_value(*event.value, event.unit, wording);
  if (!event.value_bytes || !event.total_bytes) return value;
  return filled(worded(N_("{share} ({used} of {total})"), wording), fmt::arg("share", value),
                fmt::arg("used", format_bytes(*event.value_bytes)),
                fmt::arg("total", format_bytes(*event.total_bytes)));
}

std::string metric_sentence(const AlertEvent& event, Wording wording) {
  const char* text = event.kind == AlertKind::resolved
                         ? N_("{where}: {metric} is back at {value}; the limit is {comparison} {threshold}.")
                         : N_("{where}: {metric} is {value}; the limit is {comparison} {threshold}.");
  std::string where = device_words(event.subject);
  if (event.subject.process) where += ", " + process_words(*event.subject.process);
  const double threshold = event.threshold.value_or(0);
  return filled(worded(text, wording), fmt::arg("where", where), fmt::arg("metric", event.metric),
                fmt::arg("value", value_words(event, wording)), fmt::arg("comparison", event.comparison),
                fmt::arg("threshold", alert_value(threshold, event.unit, wording)));
}

std::string growing_sentence(const AlertEvent& event, Wording wording) {
  const char* text = event.kind == AlertKind::resolved ? N_("{where}: its memory grows no more.")
                                                       : N_("{where}: its memory keeps growing, by {rate}.");
  return filled(worded(text, wording), fmt::arg("where", device_words(event.subject)),
                fmt::arg("rate", value_words(event, wording)));
}

std::string full_sentence(const AlertEvent& event, Wording wording) {
  const char* text = event.kind == AlertKind::resolved
                         ? N_("{where}: its memory will not be full within {limit} any more.")
                         : N_("{where}: its memory will be full in {left} if it grows on like this.");
  return filled(worded(text, wording), fmt::arg("where", device_words(event.subject)),
                fmt::arg("left", value_words(event, wording)),
                fmt::arg("limit", alert_value(event.threshold.value_or(0), event.unit, wording)));
}

std::string gone_sentence(const AlertEvent& event, Wording wording) {
  const std::string process = event.subject.process ? process_words(*event.subject.process) : std::string();
  if (event.kind == AlertKind::resolved) {
    return filled(worded(N_("{where}: {process} is there again."), wording),
                  fmt::arg("where", device_words(event.subject)), fmt::arg("process", process));
  }
  if (event.holders.size() > 1) {
    return filled(
        worded(N_("Several processes ({number}) have ended or hold no GPU memory any more, the largest {process}."),
               wording),
        fmt::arg("number", event.holders.size()), fmt::arg("process", process));
  }
  return filled(worded(N_("{where}: {process} has ended or holds no GPU memory any more."), wording),
                fmt::arg("where", device_words(event.subject)), fmt::arg("process", process));
}

std::string curve_text(const AlertEvent& event, const AlertMessageOptions& options) {
  constexpr std::size_t kRows = 8;
  if (event.curve.size() < 2) return {};
  CurveLine line;
  for (const AlertPoint& point : event.curve) {
    line.points.emplace_back(point.real_time_ns, static_cast<double>(point.value));
  }
  CurveOptions plotted;
  plotted.width = options.width;
  plotted.height = kRows;
  plotted.ascii = options.ascii || !terminal().utf8;
  plotted.binary = event.curve_unit == AlertUnit::bytes || event.curve_unit == AlertUnit::bytes_per_second;
  plotted.format_value = plotted.binary ? +[](double value) { return format_bytes(std::llround(value)); }
                                        : +[](double value) { return fmt::format("{:g}", value); };
  plotted.format_time = [](std::int64_t ns) { return alert_duration(ns, Wording::chosen_language); };
  const std::string name =
      event.curve_unit == AlertUnit::bytes ? worded(N_("memory used"), options.wording) : printable(event.metric);
  const char* unit = alert_unit_name(event.curve_unit);
  const std::string title = plotted.binary || *unit == 0 ? name : fmt::format("{} ({})", name, unit);
  return "\n" + title + "\n" + plot({line}, {}, plotted);
}

std::string holders_text(const AlertEvent& event, const AlertMessageOptions& options) {
  if (event.holders.empty()) return {};
  const char* title =
      event.condition == AlertCondition::process_gone ? N_("What is gone:") : N_("What holds most of the memory:");
  std::string text = "\n" + worded(title, options.wording) + "\n";
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < event.holders.size() && i < kMost; ++i) {
    const AlertProcess& holder = event.holders[i];
    const std::string& command = holder.command.empty() ? holder.name : holder.command;
    text += fmt::format("  {:>8}  {:<10}  {:>11}  {}\n", holder.pid, holder.user.empty() ? "?" : printable(holder.user),
                        holder.used_bytes ? format_bytes(*holder.used_bytes) : worded(N_("N/A"), options.wording),
                        command.empty() ? "?" : elide_middle(printable(command), kCommandColumns));
  }
  if (event.holders.size() > kMost) text += "  ...\n";
  return text;
}

std::optional<std::int64_t> pid_to_watch(const AlertEvent& event) {
  if (event.condition == AlertCondition::process_gone) return std::nullopt;
  if (event.subject.process) return event.subject.process->pid;
  if (!event.holders.empty()) return event.holders.front().pid;
  return std::nullopt;
}

std::string next_steps(const AlertEvent& event, Wording wording) {
  if (event.kind == AlertKind::resolved) return {};
  std::string text = "\n" + worded(N_("What to run next:"), wording) + "\n";
  const auto add = [&](const std::string& command, const char* about) {
    text += fmt::format("  {:<26}  {}\n", command, worded(about, wording));
  };
  add("vramscope status", N_("every GPU, who holds its memory, and what is wrong"));
  const bool is_driver = event.condition == AlertCondition::gpu_lost || event.condition == AlertCondition::xid;
  if (is_driver) {
    add("sudo dmesg | grep -i xid", N_("what the driver says"));
    return text;
  }
  const auto pid = pid_to_watch(event);
  if (!pid || *pid <= 0) return text;
  add(fmt::format("vramscope watch --pid {}", *pid), N_("follow that process: does it grow, and why does it end"));
  add(fmt::format("kill {}", *pid), N_("end it, which frees its memory"));
  return text;
}

// "Rule:  …" lines.
std::string facts_text(const AlertEvent& event, Wording wording) {
  std::string text;
  const auto add = [&](const char* what, const std::string& value) {
    text += fmt::format("  {} {}\n", worded(what, wording), value);
  };
  add(N_("Rule:"), event.rule);
  add(N_("Time:"), format_utc(event.real_time_ns));
  const std::int64_t lasted_ns = event.real_time_ns - event.since_real_ns;
  if (event.condition != AlertCondition::process_gone && lasted_ns > 0) {
    add(N_("Since:"), fmt::format("{} ({})", format_utc(event.since_real_ns),
                                  alert_value(static_cast<double>(lasted_ns), AlertUnit::nanoseconds, wording)));
  }
  add(N_("Machine:"), printable(event.subject.host));
  if (event.subject.gpu) {
    add(N_("Device:"), fmt::format("{}{}{}", device_words(event.subject), event.subject.gpu_uuid.empty() ? "" : ", ",
                                   printable(event.subject.gpu_uuid)));
  }
  if (event.memory_used_bytes && event.memory_total_bytes) {
    add(N_("Memory:"),
        filled(worded(N_("{used} of {total}"), wording), fmt::arg("used", format_bytes(*event.memory_used_bytes)),
               fmt::arg("total", format_bytes(*event.memory_total_bytes))));
  }
  return text;
}

}  // namespace

std::string alert_place(const AlertSubject& subject) {
  if (!subject.gpu) return subject.process ? fmt::format("pid {}", subject.process->pid) : "GPU";
  return subject.mig ? fmt::format("GPU {} MIG {}", *subject.gpu, *subject.mig) : fmt::format("GPU {}", *subject.gpu);
}

std::string alert_duration(std::int64_t nanoseconds, Wording wording) {
  constexpr std::int64_t kSecond = 1'000'000'000, kMinute = 60, kHour = 3600;
  const std::int64_t seconds = nanoseconds / kSecond;
  if (seconds >= kHour) {
    return filled(worded(N_("{hours} h {minutes:02} min"), wording), fmt::arg("hours", seconds / kHour),
                  fmt::arg("minutes", seconds % kHour / kMinute));
  }
  if (seconds >= kMinute) {
    return filled(worded(N_("{minutes} min {seconds:02} s"), wording), fmt::arg("minutes", seconds / kMinute),
                  fmt::arg("seconds", seconds % kMinute));
  }
  return fmt::format("{} s", seconds);
}

std::string alert_value(double value, AlertUnit unit, Wording wording) {
  if (!std::isfinite(value)) return worded(N_("N/A"), wording);
  const auto whole = [&] { return static_cast<std::int64_t>(std::llround(std::min(std::max(value, -9e18), 9e18))); };
  switch (unit) {
    case AlertUnit::bytes:
      return format_bytes(whole());
    case AlertUnit::bytes_per_second:
      return format_bytes(whole()) + "/s";
    case AlertUnit::bytes_per_hour:
      return shown({whole(), Unit::bytes_per_hour}, wording);
    case AlertUnit::percent: {
      const std::string text = fmt::format("{:.1f}", value);
      return (text.size() > 2 && text.substr(text.size() - 2) == ".0" ? text.substr(0, text.size() - 2) : text) + " %";
    }
    case AlertUnit::milliwatts:
      return fmt::format("{:.1f} W", value / 1000);
    case AlertUnit::millijoules:
      return fmt::format("{:.1f} J", value / 1000);
    case AlertUnit::megahertz:
      return fmt::format("{} MHz", whole());
    case AlertUnit::celsius:
      return fmt::format("{:g} °C", value);
    case AlertUnit::milliseconds:
      return fmt::format("{:g} ms", value);
    case AlertUnit::microseconds:
      return fmt::format("{:g} us", value);
    case AlertUnit::nanoseconds:
      return alert_duration(whole(), wording);
    case AlertUnit::none:
      break;
  }
  return fmt::format("{:g}", value);
}

std::string alert_sentence(const AlertEvent& event, Wording wording) {
  switch (event.condition) {
    case AlertCondition::metric:
    case AlertCondition::process_memory:
      return metric_sentence(event, wording);
    case AlertCondition::memory_growing:
      return growing_sentence(event, wording);
    case AlertCondition::full_within:
      return full_sentence(event, wording);
    case AlertCondition::gpu_lost: {
      const char* text = event.kind == AlertKind::resolved ? N_("{where} answers again.")
                                                           : N_("{where} does not answer any more: it is lost.");
      return filled(worded(text, wording), fmt::arg("where", device_words(event.subject)));
    }
    case AlertCondition::process_gone:
      return gone_sentence(event, wording);
    case AlertCondition::xid:
      break;
  }
  return filled(worded(N_("{where}: the driver reported Xid {number}."), wording),
                fmt::arg("where", device_words(event.subject)), fmt::arg("number", value_words(event, wording)));
}

AlertMessage alert_message(const AlertEvent& event, const AlertMessageOptions& options) {
  const WithoutColour guard(options.ascii);
  const Wording wording = options.wording;
  AlertMessage message;
  const char* subject = N_("{host}: {where}: {rule}");
  if (event.kind == AlertKind::repeated) subject = N_("{host}: {where}: still: {rule}");
  if (event.kind == AlertKind::resolved) subject = N_("{host}: {where}: resolved: {rule}");
  message.subject =
      "[vramscope] " + filled(worded(subject, wording), fmt::arg("host", printable(event.subject.host)),
                              fmt::arg("where", alert_place(event.subject)), fmt::arg("rule", event.rule));
  message.body = wrap(alert_sentence(event, wording), options.width);
  if (event.is_played_back) {
    message.body += wrap(worded(N_("This comes from a scenario or a recording that is being played: nothing of it "
                                   "happens on this machine now."),
                                wording),
                         options.width);
  }
  message.body += "\n" + facts_text(event, wording) + holders_text(event, options) + curve_text(event, options) +
                  next_steps(event, wording);
  return message;
}

}  // namespace vramscope
