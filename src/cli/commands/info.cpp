// vramscope info FILE…: what is this file, is it whole, what is in it.
#include "report/info.h"

#include "cli/inputs.h"
#include "command_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<InputOptions>();
  add_input_options(app, *options);
  return [options] {
    const Result<Case> input = load_case(*options);
    if (!input) return fail(input.error());
    print(options->json ? info_json(*input) : trouble_header(*input) + info_text(*input));
    return ExitCode::ok;
  };
}

}  // namespace

Command command_info() {
  return {"info", N_("What a file is, whether it is whole, and what is in it"), 10, declare};
}

}  // namespace vramscope
