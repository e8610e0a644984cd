// vramscope smi: nvidia-smi's table and queries. Its command line is not parsed here, see smi/arguments.h.
#include "cli/commands/smi/run.h"
#include "command_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::function<ExitCode()> declare(CLI::App& app) {
  app.prefix_command();
  app.set_help_flag();
  app.allow_extras();
  return [&app] { return static_cast<ExitCode>(run_smi(app.remaining(true))); };
}

}  // namespace

Command command_smi() {
  return {"smi", N_("nvidia-smi's table and queries, with its options, output and exit codes"), 2, declare};
}

}  // namespace vramscope
