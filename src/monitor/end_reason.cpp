#include "monitor/end_reason.h"

#include <csignal>

#include "monitor/end_reason_parts.h"
#include "rules/arguments.h"
#include "system/signal_name.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kRanksNs = 15 * kMinuteNs;  // longer than collectives wait for each other
constexpr int kShellSignal = 128;

// In this order: who killed comes before what it said; its own words before what other things suggest.
constexpr EndRule kRules[] = {killed_for_host_memory, own_gpu_out_of_memory, own_host_out_of_memory,
                              driver_failed,          shared_memory_full,    device_error,
                              worker_ended,           communication_failed,  python_exception,
                              gpu_full_by_curve,      plain_signal};

EndReason by_exit_code(const EndFacts& facts) {
  EndReason reason;
  if (!facts.end.is_known()) {
    reason.kind = EndKind::unknown;
    reason.certainty = Certainty::likely;
    reason.summary = {N_("How is told to its parent alone, and nothing else shows a reason."), {}};
    return reason;
  }
  reason.kind = EndKind::exit_code;
  const int code = facts.end.exit_code.value_or(1);
  if (code == 127 || code == 126) {
    reason.summary.id = N_("A shell ends so when a program is not found (127) or may not be executed (126).");
  } else if (facts.output != nullptr) {
    reason.summary.id = N_("Nothing in its output tells why.");
  }
  return reason;
}

EndReason by_request(int number) {
  EndReason reason;
  reason.kind = EndKind::on_request;
  reason.summary = {number == SIGINT ? N_("It was interrupted ({signal}).") : N_("It was asked to end ({signal})."),
                    {{"signal", text_value(signal_name(number))}}};
  return reason;
}

EndReason choose(const EndFacts& facts) {
  const EndView view(facts);
  if (facts.end.is_success()) {
    EndReason reason;
    reason.kind = EndKind::success;
    return reason;
  }
  // Asked to end, it may end as it likes; a SIGKILL that follows is another's, or the kernel's.
  const bool is_killed_after = facts.end.signal == SIGKILL;
  if (facts.asked_to_end && !is_killed_after) return by_request(*facts.asked_to_end);
  for (const EndRule rule : kRules) {
    if (auto reason = rule(view)) return *reason;
  }
  return by_exit_code(facts);
}

}  // namespace

EndView::EndView(const EndFacts& input) : facts(input) {
  if (facts.output == nullptr) return;
  for (const OutputSign& sign : facts.output->signs()) {
    has_ranks = has_ranks || sign.rank || sign.kind == SignKind::communication;
  }
  for (const OutputSign& sign : facts.output->signs()) {
    if (!is_recent(sign.time_ns)) continue;
    signs.push_back(&sign);
    if (sign.kind == SignKind::exception) exception = &sign;
  }
  // Programs log exceptions that they live on with. One that ended it is among its last words.
  constexpr std::int64_t kLastWords = 200;
  if (exception != nullptr && !has_ranks &&
      facts.output->line_count(exception->stream) - exception->line > kLastWords) {
    exception = nullptr;
  }
}

bool EndView::is_recent(std::int64_t time_ns) const {
  return facts.end_ns - time_ns <= (has_ranks ? kRanksNs : kMinuteNs);
}

std::optional<int> EndView::signal() const {
  if (facts.end.signal) return facts.end.signal;
  const int code = facts.end.exit_code.value_or(0);
  if (code > kShellSignal && code <= kShellSignal + 64) return code - kShellSignal;
  return std::nullopt;
}

bool EndView::is_killed() const {
  if (signal() == SIGKILL) return true;
  for (const ProcessEnd& death : facts.deaths) {
    if (death.signal == SIGKILL) return true;
  }
  for (const OutputSign* sign : signs) {
    if (sign->kind == SignKind::worker && sign->signal == SIGKILL) return true;
  }
  return false;
}

const OutputSign* EndView::first(SignKind kind) const {
  for (const OutputSign* sign : signs) {
    if (sign->kind == kind) return sign;
  }
  return nullptr;
}

std::string EndView::name_of(std::int32_t pid) const {
  const auto found = facts.names.find(pid);
  return found == facts.names.end() ? std::string() : found->second;
}

std::optional<EndedWorker> EndView::worker(std::int32_t pid, std::optional<int> signal) const {
  if (pid == facts.end.pid) return std::nullopt;
  EndedWorker worker;
  worker.pid = pid;
  worker.name = name_of(pid);
  worker.signal = signal;
  for (const OutputSign* sign : signs) {
    if (sign->kind != SignKind::worker || sign->pid != pid) continue;
    if (sign->rank) worker.rank = sign->rank;
    if (!worker.signal) worker.signal = sign->signal;
    if (!worker.exit_code) worker.exit_code = sign->exit_code;
  }
  return worker;
}

std::optional<EndedWorker> EndView::worker() const {
  const OutputSign* sign = first(SignKind::worker);
  if (sign != nullptr && sign->pid) return worker(*sign->pid, sign->signal);
  if (sign != nullptr) {
    EndedWorker worker;
    worker.rank = sign->rank;
    worker.signal = sign->signal;
    worker.exit_code = sign->exit_code;
    return worker;
  }
  for (const ProcessEnd& death : facts.deaths) {
    if (death.signal) return worker(death.pid, death.signal);
  }
  return std::nullopt;
}

Evidence from_output(const char* what, const std::string& text, std::int64_t line) {
  return {what, text_value(text), {N_("output, line {line}"), {{"line", {line, Unit::none}}}}};
}

Evidence from_kernel(const std::string& text) {
  return {N_("message of the kernel"), text_value(text), {N_("the kernel's log"), {}}};
}

EndReason explain_end(const EndFacts& facts) {
  EndReason reason = choose(facts);
  reason.pid = facts.end.pid;
  reason.program = facts.program;
  reason.exit_code = facts.end.exit_code;
  reason.signal = facts.end.signal;
  reason.has_dumped_core = facts.end.has_dumped_core;
  if (reason.kind == EndKind::success) return reason;
  if (!facts.is_child && reason.kind != EndKind::unknown) {
    reason.details.push_back({N_("This watch did not start it: its exit code is not known."), {}});
  }
  if (facts.output != nullptr) reason.last_lines = facts.output->last_lines();
  if (reason.kind != EndKind::on_request) reason.curve = end_curve(facts);
  return reason;
}

}  // namespace vramscope
