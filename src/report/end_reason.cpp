#include "report/end_reason.h"

#include <algorithm>

#include "report/phrases.h"
#include "system/signal_name.h"
#include "text/catalogue.h"
#include "text/curve.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kShownColumns = 300;  // of a line of output

std::string shown_program(const EndReason& reason) {
  return elide_middle(printable(reason.program), 40);
}

std::string shown_time(std::int64_t ns) {
  // From a minute on whole seconds are shown: those that have passed.
  return format_duration(ns < 60 * kSecondNs ? ns : ns / kSecondNs * kSecondNs);
}

std::string joined(const std::string& a, const std::string& b, Wording wording) {
  if (a.empty() || b.empty()) return a + b;
  const bool is_chinese = wording == Wording::chosen_language && language() == "zh";
  return a + (is_chinese ? "" : " ") + b;
}

std::string evidence_line(const Evidence& evidence) {
  const Wording wording = Wording::chosen_language;
  const std::string value = printable(shown(evidence.value, wording));
  std::string line = filled(tr("{what}: {value}"), fmt::arg("what", sentence(evidence.what, {}, wording)),
                            fmt::arg("value", elide_end(value, kShownColumns)));
  const std::string where = printable(sentence(evidence.where.id, evidence.where.arguments, wording));
  if (!where.empty()) line += " (" + where + ")";
  return line;
}

void write_worker(JsonWriter& json, const EndedWorker& worker) {
  json.key("worker").begin_object();
  if (worker.pid) json.member("pid", std::int64_t{*worker.pid});
  if (worker.rank) json.member("rank", std::int64_t{*worker.rank});
  if (!worker.name.empty()) json.member("name", std::string_view(worker.name));
  if (worker.exit_code) json.member("exit_code", std::int64_t{*worker.exit_code});
  if (worker.signal) json.member("signal", std::int64_t{*worker.signal});
  json.end_object();
}

void write_curve(JsonWriter& json, const EndCurve& curve) {
  json.key("curve").begin_object();
  json.member("gpu", std::int64_t{curve.gpu});
  json.member("gpu_uuid", std::string_view(curve.gpu_uuid));
  json.member("total_bytes", curve.total_bytes);
  json.key("points").begin_array();
  for (const auto& [before_ns, bytes] : curve.points) {
    json.begin_object();
    json.member("before_end_ns", before_ns);
    json.member("used_bytes", bytes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_fixes(JsonWriter& json, const EndReason& reason) {
  json.key("fixes").begin_array();
  for (const Message& fix : reason.fixes) {
    json.value(std::string_view(sentence(fix.id, fix.arguments, Wording::english)));
  }
  json.end_array();
  if (!reason.fix_command.empty()) json.member("fix_command", std::string_view(reason.fix_command));
  if (!reason.doc.empty()) json.member("doc", std::string_view("docs/rules/" + reason.doc + ".md"));
}

void write_reason(JsonWriter& json, const EndReason& reason, std::int64_t lasted_ns) {
  json.member("program", std::string_view(reason.program));
  if (lasted_ns >= 0) json.member("lasted_ns", lasted_ns);
  if (reason.exit_code) json.member("exit_code", std::int64_t{*reason.exit_code});
  if (reason.signal) json.member("signal", std::int64_t{*reason.signal});
  if (reason.has_dumped_core) json.member("core_dumped", true);
  json.member("reason", end_kind_name(reason.kind));
  json.member("certainty", reason.certainty == Certainty::certain ? "certain" : "likely");
  const std::string why = why_text(reason, Wording::english);
  if (!why.empty()) json.member("why", std::string_view(why));
  json.key("evidence");
  write_evidence(json, reason.evidence, {}, {});
  write_fixes(json, reason);
  if (reason.worker) write_worker(json, *reason.worker);
  if (!reason.last_lines.empty()) {
    json.key("last_lines").begin_array();
    for (const std::string& line : reason.last_lines) json.value(std::string_view(line));
    json.end_array();
  }
  if (reason.curve) write_curve(json, *reason.curve);
}

}  // namespace

const char* end_kind_name(EndKind kind) {
  switch (kind) {
    case EndKind::success:
      return "success";
    case EndKind::on_request:
      return "on-request";
    case EndKind::gpu_out_of_memory:
      return "gpu-out-of-memory";
    case EndKind::host_out_of_memory:
      return "host-out-of-memory";
    case EndKind::shared_memory:
      return "shared-memory-full";
    case EndKind::driver:
      return "driver";
    case EndKind::device_error:
      return "device-error";
    case EndKind::communication:
      return "communication";
    case EndKind::worker:
      return "worker";
    case EndKind::exception:
      return "exception";
    case EndKind::signal:
      return "signal";
    case EndKind::exit_code:
      return "exit-code";
    case EndKind::unknown:
      break;
  }
  return "unknown";
}

Severity end_severity(const EndReason& reason) {
  if (reason.kind == EndKind::success || reason.kind == EndKind::on_request) return Severity::info;
  return reason.kind == EndKind::unknown ? Severity::warning : Severity::error;
}

std::string end_sentence(const EndReason& reason, std::int64_t lasted_ns, Wording wording) {
  const std::string name = shown_program(reason);  // what the arguments refer to
  const std::string lasted = shown_time(lasted_ns);
  const auto program = fmt::arg("program", name);
  const auto time = fmt::arg("time", lasted);
  if (lasted_ns < 0 || !(reason.exit_code || reason.signal)) {
    return filled(worded(N_("{program} ({pid}) has ended."), wording), program, fmt::arg("pid", reason.pid));
  }
  if (reason.signal) {
    const char* id = reason.has_dumped_core
                         ? N_("{program} was killed by signal {number} ({name}) after {time}, and left a core dump.")
                         : N_("{program} was killed by signal {number} ({name}) after {time}.");
    return filled(worded(id, wording), program, time, fmt::arg("number", *reason.signal),
                  fmt::arg("name", signal_name(*reason.signal)));
  }
  if (reason.exit_code == 0) return filled(worded(N_("{program} ended well after {time}."), wording), program, time);
  return filled(worded(N_("{program} ended with exit code {code} after {time}."), wording), program, time,
                fmt::arg("code", *reason.exit_code));
}

std::string why_text(const EndReason& reason, Wording wording) {
  std::string text = sentence(reason.summary.id, reason.summary.arguments, wording);
  if (reason.certainty == Certainty::likely && !text.empty() && reason.kind != EndKind::unknown) {
    text = filled(worded(N_("Likely: {reason}"), wording), fmt::arg("reason", text));
  }
  for (const Message& detail : reason.details) {
    text = joined(text, sentence(detail.id, detail.arguments, wording), wording);
  }
  return text;
}

std::string end_details_text(const EndReason& reason) {
  std::string text;
  for (const Evidence& evidence : reason.evidence) text += wrap(evidence_line(evidence), table_columns(), 2, 2);
  text += advice_text(reason.fixes);
  if (!reason.fix_command.empty()) text += wrap(reason.fix_command, table_columns(), 4, 2);
  return text;
}

std::string end_curve_text(const EndReason& reason) {
  if (!reason.curve) return {};
  CurveLine line;
  for (const auto& [before_ns, bytes] : reason.curve->points) {
    line.points.emplace_back(before_ns, static_cast<double>(bytes));
  }
  CurveOptions options;
  options.width = std::min<std::size_t>(table_columns(), 80);
  options.height = 6;
  options.ascii = !terminal().utf8;
  options.format_value = [](double bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); };
  options.format_time = [](std::int64_t ns) { return format_duration(ns / kSecondNs * kSecondNs); };
  const std::string curve = plot({line}, {}, options);
  if (curve.empty()) return {};
  return filled(tr("The last minute of the memory of GPU {gpu}:"), fmt::arg("gpu", reason.curve->gpu)) + "\n" + curve;
}

std::string end_json(std::int64_t real_time_ns, const EndReason& reason, std::int64_t lasted_ns) {
  JsonWriter json;
  json.begin_object();
  json.member("time_ns", real_time_ns);
  json.member("kind", "ended");
  json.member("severity", severity_name(end_severity(reason)));
  if (reason.pid != 0) json.member("pid", std::int64_t{reason.pid});
  json.member("message", std::string_view(end_sentence(reason, lasted_ns, Wording::english)));
  json.key("end").begin_object();
  write_reason(json, reason, lasted_ns);
  json.end_object();
  json.end_object();
  return json.text();
}

}  // namespace vramscope
