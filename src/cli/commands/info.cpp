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
    const Result<Loaded> loaded = load_case(*options);
    if (!loaded) return fail(loaded.error());
    const Case& input = loaded->input;
    print(options->json() ? info_json(input) : trouble_header(input) + info_text(input));
    return loaded->end(ExitCode::ok);
  };
}

}  // namespace

Command command_info() {
  return {"info", N_("What a file is, whether it is whole, and what is in it"), 10, declare};
}

}  // namespace vramscope
