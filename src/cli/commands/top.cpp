// vramscope top: the interactive screen.
#include <memory>

#include "cli/commands/top/once.h"
#include "cli/commands/top/options.h"
#include "cli/commands/top/screen_session.h"
#include "cli/commands/top/setup_file.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "text/catalogue.h"
#include "text/terminal.h"

namespace vramscope {

namespace {

ExitCode run(const TopOptions& options) {
  if (options.no_colour) terminal().colour = false;
  if (options.snapshot || options.loop) return print_snapshots(options);
  const std::string path = options.setup_path.empty() ? usual_setup_path() : options.setup_path;
  SetupReading reading = read_setup(path);
  options.apply(reading.setup);
  if (!options.once) {
    return run_screen(options, reading.setup, path, reading.problems.empty() ? "" : reading.problems.front());
  }
  for (const std::string& problem : reading.problems) std::fprintf(stderr, "vramscope: %s\n", problem.c_str());
  return print_frame(options, reading.setup);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  add_live_options(app, options->live);
  app.add_option("--interval", options->live.interval, tr("Time between two looks: 1s, 500ms, 1m"));
  add_number(app, "-d,--delay", options->delay, {1, 36'000}, tr("The same in tenths of seconds"));
  app.add_flag("--once", options->once, tr("Print one screen as text and end"));
  app.add_option("--look", options->look, tr("With --once: how long to look before, for curves: 30s, 5m"));
  add_number(app, "--height", options->height, {1, 1000},
             tr("With --once: rows of the screen; --width has the columns"));
  app.add_flag("-s,--snapshot", options->snapshot, tr("Print what nvtop --snapshot prints: JSON"));
  app.add_flag("-l,--loop", options->loop, tr("Print that again and again"));
  app.add_option("--filter", options->filter, tr("Show processes with these words alone: python, gpu:0, user:name"));
  app.add_flag("-p,--no-plot", options->no_plots, tr("No plots"));
  app.add_flag("-P,--no-processes", options->no_processes, tr("No processes"));
  app.add_flag("-r,--reverse-abs", options->newest_left, tr("Newest at the left of plots"));
  app.add_flag("-f,--freedom-unit", options->fahrenheit, tr("Temperatures in Fahrenheit"));
  app.add_flag("-C,--no-color", options->no_colour, tr("No colours"));
  app.add_flag("--pcie", options->pcie, tr("Traffic over PCIe, too; each look takes the driver 40 ms a GPU for it"));
  app.add_option("-c,--setup", options->setup_path,
                 tr("Where the setup is kept (F12 saves it); else "
                    "~/.config/vramscope/top.toml"))
      ->type_name(tr("FILE"));
  app.add_option("--alert", options->alerts.rules, tr("Show when this holds: 'memory.used > 90%'; again for more"))
      ->allow_extra_args(false);
  app.add_option("--config", options->alerts.config, tr("Configuration file with alert rules"))->type_name(tr("FILE"));
  return [options] { return run(*options); };
}

}  // namespace

Command command_top() {
  return {"top", N_("An interactive screen: GPUs, their history, their processes, what is wrong"), 2, declare};
}

}  // namespace vramscope
