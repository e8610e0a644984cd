// vramscope watch: keeps watch over the devices, over a running process, or over a program that it starts.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/app.h"
#include "cli/commands/watch/program.h"
#include "cli/commands/watch/session.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "system/files.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"

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

bool is_gone(std::int32_t pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

Error no_such_process(std::size_t pid) {
  return {ExitCode::machine,
          fmt::format(fmt::runtime(tr("There is no process {pid} here; `vramscope status` lists those "
                                      "that use a GPU.")),
                      fmt::arg("pid", pid))};
}

// Everything on the machine, or a process that runs already, until it ends.
ExitCode watch_devices(const WatchOptions& options, WatchSession& session, const Descriptor& signals,
                       std::int64_t duration_ns) {
  const auto target = static_cast<std::int32_t>(options.pid.value_or(0));
  const bool is_here = target != 0 && !session.is_played_back();
  if (is_here && is_gone(target)) return fail(no_such_process(*options.pid));
  while (true) {
    if (target != 0) session.follow_tree(target);
    if (!session.sample_if_due()) break;
    if (duration_ns > 0 && session.elapsed_ns() >= duration_ns) break;
    if (is_here && is_gone(target)) {
      // It is not our child: only its parent is told how it ended.
      session.teller().say(fmt::format(fmt::runtime(tr("Process {pid} has ended; how, only the one that started it is "
                                                       "told.")),
                                       fmt::arg("pid", target)),
                           Severity::warning);
      break;
    }
    pollfd ready{signals.get(), POLLIN, 0};
    if (poll(&ready, 1, session.wait_ms()) > 0) break;
  }
  session.finish();
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
  const Descriptor signals = ending_signals();  // before any thread starts: all must leave them to us
  auto session = WatchSession::open(options);
  if (!session) return fail(session.error());
  if (!options.command.empty()) return watch_program(options, **session, signals);
  return watch_devices(options, **session, signals, duration_ns);
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
  app.footer(tr("COMMAND: a program to start and to watch, with its arguments; its options are not ours."));
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
