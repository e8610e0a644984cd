// What the program, its workers and its exit tell where memory and device are not the reason.
#include <csignal>

#include "monitor/end_reason_parts.h"
#include "rules/arguments.h"
#include "system/signal_name.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

Value plain(std::int64_t number) {
  return {number, Unit::none};
}

bool is_readable(const EndFacts& facts) {
  return facts.is_kernel_log_readable && facts.are_pids_the_kernels;
}

// What it usually is, as nobody can be asked.
const char* meaning_of(int number) {
  switch (number) {
    case SIGKILL:
      return N_(
          "Who sent it cannot be known: usually a scheduler at a limit, `kill -9`, or a daemon that saves memory "
          "(systemd-oomd, earlyoom).");
    case SIGTERM:
      return N_(
          "Somebody asked it to end: usually a scheduler at a time limit, the end of a container or a session, or "
          "`kill`.");
    case SIGSEGV:
      return N_(
          "It touched memory that is not its own: an error in native code, most often in a library or an "
          "extension.");
    case SIGABRT:
      return N_("It stopped itself: a failed check or an exception that nobody caught; the lines before tell which.");
    case SIGBUS:
      return N_(
          "Memory behind a mapped file was not to be had: a full /dev/shm, a file that got shorter, or a failing "
          "disk.");
    case SIGFPE:
      return N_("It divided a whole number by zero.");
    case SIGILL:
      return N_("It ran an instruction that this processor does not have: it was built for another one.");
    case SIGHUP:
      return N_("Its terminal or session was closed.");
    case SIGINT:
      return N_("It was interrupted, as by Ctrl-C.");
    case SIGPIPE:
      return N_("Nobody reads its output any more.");
    case SIGXCPU:
      return N_("It reached its limit of processor time (ulimit -t).");
    case SIGXFSZ:
      return N_("A file of it reached the limit of size (ulimit -f).");
    default:
      break;
  }
  return "";
}

std::vector<Message> advice_for_signal(int number) {
  switch (number) {
    case SIGKILL:
      return {{N_("Look at the scheduler's own record of the job, and at journalctl -u systemd-oomd."), {}}};
    case SIGSEGV:
    case SIGABRT:
    case SIGILL:
    case SIGFPE:
      return {
          {N_("Run it with PYTHONFAULTHANDLER=1 to get the Python line, or look at the core dump (coredumpctl gdb)."),
           {}}};
    case SIGHUP:
      return {{N_("Start long runs in tmux or screen, with nohup, or as a service."), {}}};
    case SIGBUS:
      return {{N_("Check that /dev/shm has room (df -h /dev/shm)."), {}}};
    default:
      break;
  }
  return {};
}

// Without this the absence of evidence would look like evidence.
void say_what_is_not_known(EndReason& reason, const EndFacts& facts) {
  const bool has_counters = !facts.cgroups.empty() || (facts.host_before.oom_kills && facts.host_after.oom_kills);
  if (has_counters) {
    reason.details.push_back({N_("The kernel counted no kill for want of memory."), {}});
  } else if (!is_readable(facts)) {
    reason.details.push_back(
        {N_("Whether the kernel killed it for want of memory cannot be seen here: neither its counters nor its log can "
            "be read. On the host, `sudo dmesg | grep -i \"killed process\"` tells."),
         {}});
  }
}

Message worker_summary(const EndedWorker& worker) {
  Arguments arguments;
  if (worker.pid) arguments.push_back({"pid", plain(*worker.pid)});
  if (worker.rank) arguments.push_back({"rank", plain(*worker.rank)});
  if (worker.signal) {
    arguments.push_back({"signal", text_value(signal_name(*worker.signal))});
    if (worker.rank) return {N_("Rank {rank} was killed by {signal}, and the others ended with it."), arguments};
    if (worker.pid) return {N_("Its worker process {pid} was killed by {signal}."), arguments};
    return {N_("One of its workers was killed by {signal}."), arguments};
  }
  if (worker.exit_code) arguments.push_back({"code", plain(*worker.exit_code)});
  if (worker.exit_code && worker.rank) {
    return {N_("Rank {rank} ended with exit code {code}, and the others ended with it."), arguments};
  }
  if (worker.pid) return {N_("Its worker process {pid} ended."), arguments};
  return {N_("One of its workers ended."), arguments};
}

}  // namespace

std::optional<EndReason> worker_ended(const EndView& view) {
  // A rank that an exception ended tells the exception; the list of ranks tells no more than its exit code.
  if (view.signal()) return std::nullopt;
  const OutputSign* sign = view.first(SignKind::worker);
  auto worker = view.worker();
  if (sign == nullptr || !worker) return std::nullopt;
  if (!worker->signal && view.exception != nullptr && view.has_ranks && view.first(SignKind::exception) != nullptr &&
      view.first(SignKind::exception)->type.find("ChildFailedError") == std::string::npos) {
    return std::nullopt;
  }
  EndReason reason;
  reason.kind = EndKind::worker;
  reason.summary = worker_summary(*worker);
  reason.evidence.push_back(from_output(N_("its own words"), sign->text, sign->line));
  if (worker->signal) {
    const char* meaning = meaning_of(*worker->signal);
    if (*meaning != '\0') reason.details.push_back({meaning, {}});
    if (*worker->signal == SIGKILL) say_what_is_not_known(reason, view.facts);
    reason.fixes = advice_for_signal(*worker->signal);
  } else {
    reason.fixes.push_back({N_("Set num_workers=0 to see the worker's own error, or look at the output before."), {}});
  }
  reason.worker = std::move(worker);
  return reason;
}

std::optional<EndReason> python_exception(const EndView& view) {
  if (view.exception == nullptr || view.facts.end.signal) return std::nullopt;
  // Of ranks the first: the others ended because of it.
  const OutputSign* sign = view.has_ranks ? view.first(SignKind::exception) : view.exception;
  EndReason reason;
  reason.kind = EndKind::exception;
  reason.summary = {N_("A Python exception ended it: {type}"), {{"type", text_value(sign->type)}}};
  if (!sign->detail.empty()) {
    reason.summary = {N_("A Python exception ended it: {type}: {text}"),
                      {{"type", text_value(sign->type)}, {"text", text_value(sign->detail)}}};
  }
  if (sign->type == "KeyboardInterrupt") reason.summary = {N_("It was interrupted, as by Ctrl-C."), {}};
  if (!sign->frame.empty()) {
    reason.evidence.push_back(from_output(N_("place in the program"), sign->frame, sign->line));
  } else {
    reason.evidence.push_back(from_output(N_("its own words"), sign->text, sign->line));
  }
  if (sign->rank) {
    reason.worker.emplace();
    reason.worker->rank = sign->rank;
  }
  return reason;
}

std::optional<EndReason> plain_signal(const EndView& view) {
  const auto number = view.signal();
  const OutputSign* crash = view.first(SignKind::crash);
  if (!number) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::signal;
  const char* meaning = meaning_of(*number);
  if (view.facts.end.signal) {
    reason.summary = {meaning, {}};  // that it was killed is told with how it ended
  } else {
    reason.certainty = Certainty::likely;
    reason.summary = {N_("A process that it had started was killed by {signal}: its exit code is 128 and {number}."),
                      {{"signal", text_value(signal_name(*number))}, {"number", plain(*number)}}};
    if (*meaning != '\0') reason.details.push_back({meaning, {}});
  }
  if (*number == SIGKILL) say_what_is_not_known(reason, view.facts);
  if (crash != nullptr) reason.evidence.push_back(from_output(N_("its own words"), crash->text, crash->line));
  reason.fixes = advice_for_signal(*number);
  return reason;
}

}  // namespace vramscope
