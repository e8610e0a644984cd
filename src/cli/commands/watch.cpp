// vramscope watch: keeps watch over the devices, over a running process, or over a program that it starts.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "cli/app.h"
#include "cli/commands/watch/program.h"
#include "cli/commands/watch/sampling_thread.h"
#include "cli/commands/watch/session.h"
#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "system/files.h"
#include "system/followed_process.h"
#include "system/process_tree.h"
#include "system/relayed_child.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// SIGINT and the like, as something to poll.
Descriptor ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// A process that runs already, with all that it starts.
class Target {
 public:
  explicit Target(FollowedProcess process)
      : process_(std::move(process)), end_(Roots(), process_.name(), Watched::program) {}

  std::set<std::int64_t> pids() const {
    std::set<std::int64_t> pids = {process_.key().pid};
    for (const std::int32_t pid : descendants(Roots(), process_.key().pid)) pids.insert(pid);
    return pids;
  }
  EndWatch& end() { return end_; }
  int descriptor() const { return process_.descriptor(); }
  bool has_ended() const { return process_.has_ended(); }
  EndReason reason(const Monitor& monitor) {
    kernel_.update();
    EndWatch::End end;
    end.end.pid = process_.key().pid;
    end.time_ns = monotonic_now_ns();
    end.real_time_ns = recording::read_clocks().realtime_ns;
    return end_.explain(end, monitor, kernel_);
  }

 private:
  FollowedProcess process_;
  EndWatch end_;
  KernelNews kernel_;
};

// What is played back, to its end.
ExitCode watch_playback(const WatchOptions& options, WatchSession& session, const Descriptor& signals,
                        std::int64_t duration_ns) {
  if (options.pid) session.follow({static_cast<std::int64_t>(*options.pid)});
  while (session.sample_if_due()) {
    if (duration_ns > 0 && session.elapsed_ns() >= duration_ns) break;
    pollfd ready = {signals.get(), POLLIN, 0};
    if (poll(&ready, 1, session.wait_ms()) > 0) break;
  }
  session.finish();
  return ExitCode::ok;
}

// What is needed to the last, should the driver keep the thread in the middle of it.
struct DeviceWatch {
  DeviceWatch(WatchSession& session, std::optional<Target> followed, std::int64_t duration_ns)
      : target(std::move(followed)), sampling(session, target ? &target->end() : nullptr, duration_ns) {}

  std::optional<Target> target;
  SamplingThread sampling;
};

// True when the process that is followed has ended.
bool wait_for_end(DeviceWatch& watch, WatchSession& session, const Descriptor& signals, std::int64_t duration_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const std::int64_t latest_ns = monotonic_now_ns() + duration_ns + kLetGoNs;
  const std::int64_t rhythm_ns = std::clamp<std::int64_t>(session.interval_ns() / 2, kSecondNs / 20, kSecondNs / 2);
  while (duration_ns == 0 || monotonic_now_ns() < latest_ns) {
    if (watch.target) watch.sampling.follow(watch.target->pids());
    session.tell_silence();
    pollfd ready[3] = {{signals.get(), POLLIN, 0},
                       {watch.sampling.descriptor(), POLLIN, 0},
                       {watch.target ? watch.target->descriptor() : -1, POLLIN, 0}};
    poll(ready, 3, static_cast<int>((watch.target ? rhythm_ns : 2 * kSecondNs) / 1'000'000));
    if (((ready[0].revents | ready[1].revents) & POLLIN) != 0) return false;
    if (watch.target && watch.target->has_ended()) return true;
  }
  return false;
}

// Everything on the machine, or a process that runs already, until it ends.
ExitCode watch_devices(const WatchOptions& options, WatchSession& session, const Descriptor& signals,
                       std::int64_t duration_ns) {
  std::optional<Target> target;
  if (options.pid) {
    auto process = FollowedProcess::open(static_cast<std::int32_t>(*options.pid));
    if (!process) return fail(process.error());
    target.emplace(std::move(*process));
  }
  auto watch = std::make_unique<DeviceWatch>(session, std::move(target), duration_ns);
  if (watch->target) watch->sampling.follow(watch->target->pids());
  watch->sampling.start();
  const bool has_ended = wait_for_end(*watch, session, signals, duration_ns);
  const bool has_stopped = watch->sampling.stop(kLetGoNs);
  if (!has_stopped) session.take_over_or_leave(ExitCode::machine);
  std::optional<EndReason> end;
  if (has_ended) end = watch->target->reason(session.monitor());
  if (end) session.record_end(*end, -1);
  session.finish();
  if (end) session.teller().tell_end(*end, -1);
  if (!has_stopped) leave_at_once(ExitCode::machine);
  return ExitCode::ok;
}

ExitCode run(const WatchOptions& options) {
  std::int64_t duration_ns = 0;
  if (!options.duration.empty()) {
    const auto wanted_ns = parse_duration_ns(options.duration);
    if (!wanted_ns) return fail(duration_error("--duration", options.duration));
    duration_ns = *wanted_ns;
  }
  if (!options.command.empty() && (options.pid || !options.duration.empty())) {
    return fail({ExitCode::usage, tr("A program that the watch starts is watched until it ends; leave out --pid and "
                                     "--duration.")});
  }
  // Before any thread starts: all must leave these signals to us.
  if (!options.command.empty()) RelayedChild::block_signals();
  const Descriptor signals = options.command.empty() ? ending_signals() : Descriptor();
  auto session = WatchSession::open(options);
  if (!session) return fail(session.error());
  if (!options.command.empty()) return watch_program(options, **session);
  return (*session)->is_played_back() ? watch_playback(options, **session, signals, duration_ns)
                                      : watch_devices(options, **session, signals, duration_ns);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<WatchOptions>();
  add_live_options(app, options->live);
  app.add_option("--interval", options->live.interval, tr("Time between two looks: 1s, 500ms, 1m"));
  add_number(app, "--pid", options->pid, {1, 1 << 22}, tr("Follow this process and what it starts"));
  add_alert_options(app, options->alerts);
  app.add_option("--duration", options->duration, tr("End after this time: 10m, 8h"));
  app.add_option("--record", options->record, tr("Keep everything in this file (.vrs)"))->type_name(tr("FILE"));
  app.add_flag("--replace", options->replace, tr("Overwrite the recording when it exists"));
  app.add_flag("--json", options->json, tr("Print JSON for machines"));
  app.add_flag("--quiet", options->quiet, tr("Tell problems alone"));
  app.footer(
      tr("COMMAND: a program to start and to watch, with its arguments; its options are not ours. -- or --for may "
         "stand before it."));
  return [options] {
    options->command = program_words();
    return run(*options);
  };
}

}  // namespace

Command command_watch() {
  return {"watch", N_("Keep watch: a line when something changes, a recording, alerts, and why a run died"), 3,
          declare};
}

}  // namespace vramscope
