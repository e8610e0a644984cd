// vramscope watch: keeps watch over the devices, over a running process, or over a program that it starts.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <memory>

#include "cli/app.h"
#include "cli/commands/watch/program.h"
#include "cli/commands/watch/session.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "system/files.h"
#include "system/process_tree.h"
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

// Everything on the machine, or a process that runs already.
ExitCode watch_devices(const WatchOptions& options, WatchSession& session, const Descriptor& signals,
                       std::int64_t duration_ns) {
  const Roots roots;
  const auto target = static_cast<std::int32_t>(options.pid.value_or(0));
  bool is_over = false;
  while (!is_over) {
    if (target != 0) {
      std::set<std::int64_t> pids{target};
      for (const std::int32_t pid : descendants(roots, target)) pids.insert(pid);
      session.follow(std::move(pids));
    }
    if (!session.sample_if_due()) break;
    if (duration_ns > 0 && session.elapsed_ns() >= duration_ns) break;
    pollfd ready{signals.get(), POLLIN, 0};
    if (poll(&ready, 1, session.wait_ms()) > 0) is_over = true;
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
  app.add_option("--record", options->record, tr("Keep everything in this file (.vrs)"));
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
