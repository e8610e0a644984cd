#include "cli/commands/watch/program.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <utility>

#include "cli/commands/watch/sampling_thread.h"
#include "cli/inputs.h"
#include "monitor/output_scan.h"
#include "system/relayed_child.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// What is needed to the last: a driver that never answers may keep the sampling thread in the middle of any of it.
struct ProgramWatch {
  ProgramWatch(WatchSession& watched, const std::string& program)
      : session(watched), end(Roots(), program, Watched::child), sampling(watched, &end) {}

  WatchSession& session;
  EndWatch end;
  SamplingThread sampling;
  OutputScan output;
  KernelNews kernel;
  std::deque<std::pair<std::int64_t, ProcessEnd>> deaths;  // of processes left behind: when we were told, how
};

void take_deaths(ProgramWatch& watch, RelayedChild& child) {
  constexpr std::size_t kMostDeaths = 64;  // the latest are kept
  for (ProcessEnd& death : child.take_deaths()) watch.deaths.emplace_back(monotonic_now_ns(), std::move(death));
  while (watch.deaths.size() > kMostDeaths) watch.deaths.pop_front();
}

void follow(ProgramWatch& watch, RelayedChild& child) {
  std::set<std::int64_t> pids = {child.pid()};
  for (const std::int32_t pid : child.follow()) pids.insert(pid);
  watch.sampling.follow(std::move(pids));
  take_deaths(watch, child);
}

// Passes on until the program and its output have ended.
void relay(ProgramWatch& watch, RelayedChild& child, std::int64_t interval_ns) {
  // Twice in a sample, so that none is judged by an old list.
  const std::int64_t step_ns = std::clamp<std::int64_t>(interval_ns / 2, kSecondNs / 20, kSecondNs / 2);
  std::int64_t next_ns = 0;
  std::vector<pollfd> ready;
  while (!child.is_over()) {
    if (!child.end() && monotonic_now_ns() >= next_ns) {
      follow(watch, child);
      watch.session.tell_silence();
      next_ns = monotonic_now_ns() + step_ns;
    }
    ready.clear();
    child.collect(ready);
    auto wait_ms = static_cast<int>((next_ns - monotonic_now_ns()) / 1'000'000 + 1);
    if (child.end()) wait_ms = 1000;
    const int own_ms = child.timeout_ms();
    poll(ready.data(), ready.size(), std::max(own_ms < 0 ? wait_ms : std::min(wait_ms, own_ms), 0));
    child.on_ready(ready);
  }
  take_deaths(watch, child);
}

EndReason reason_of(ProgramWatch& watch, const RelayedChild& child, const Monitor& monitor) {
  constexpr std::int64_t kDeathCountsNs = 15 * 60 * kSecondNs;
  EndWatch::End end;
  end.end = *child.end();
  end.asked_to_end = child.asked_to_end();
  end.time_ns = monotonic_now_ns();
  end.real_time_ns = recording::read_clocks().realtime_ns;
  for (auto& [when_ns, death] : watch.deaths) {
    if (end.time_ns - when_ns <= kDeathCountsNs) end.deaths.push_back(death);
  }
  watch.output.finish();
  end.output = &watch.output;
  watch.kernel.update();
  return watch.end.explain(end, monitor, watch.kernel);
}

}  // namespace

ExitCode watch_program(const WatchOptions& options, WatchSession& session) {
  // A program neither starts nor ends late for want of an answer.
  constexpr std::int64_t kDriverMayTakeNs = 2 * kSecondNs;
  auto watch = std::make_unique<ProgramWatch>(session, options.command[0]);
  watch->sampling.start();
  watch->sampling.wait_for_first(kDriverMayTakeNs);  // what was there before the program
  RelayedChildOptions child_options;
  child_options.command = options.command;
  child_options.look = [&](int stream, std::string_view bytes) {
    watch->output.feed(stream, bytes, monotonic_now_ns());
    session.teller().note_output(stream, bytes);
  };
  auto child = RelayedChild::start(std::move(child_options));
  if (!child) {
    if (!watch->sampling.stop(kDriverMayTakeNs)) leave_at_once(fail(child.error()));
    return fail(child.error());
  }
  const std::int64_t began_ns = monotonic_now_ns();
  follow(*watch, **child);
  relay(*watch, **child, session.interval_ns());
  const std::int64_t lasted_ns = monotonic_now_ns() - began_ns;
  const bool has_stopped = watch->sampling.stop(kDriverMayTakeNs);
  if (!has_stopped) session.take_over_or_leave(static_cast<ExitCode>((*child)->end()->shell_code()));
  const EndReason reason = reason_of(*watch, **child, session.monitor());
  session.record_end(reason, lasted_ns);
  session.finish();
  session.teller().tell_end(reason, lasted_ns);
  const auto code = static_cast<ExitCode>((*child)->end()->shell_code());
  if (!has_stopped) leave_at_once(code);
  return code;
}

}  // namespace vramscope
