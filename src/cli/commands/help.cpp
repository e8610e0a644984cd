// vramscope help: which verb for which question; a verb's options; the manual page and completions for shells.
#include <memory>

#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/reference.h"
#include "command_table.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

struct Options {
  std::string verb;
  bool manual = false;
  bool page = false;
  std::string shell;
};

std::string choice_text(const Reference& reference) {
  std::string text;
  for (const ChoiceGroup& group : choice_table(reference)) {
    if (!text.empty()) text += "\n";
    text += paint(group.title, Colour::bold) + "\n";
    for (const Choice& choice : group.choices) {
      // The call stays one line: it is copied.
      text += wrap(choice.question, line_columns(), 2) + "      " + paint(choice.call, Colour::cyan) + "\n";
    }
  }
  return text;
}

std::string completion(const Reference& reference, const std::string& shell) {
  if (shell == "bash") return bash_completion(reference);
  return shell == "zsh" ? zsh_completion(reference) : fish_completion(reference);
}

ExitCode run(const Options& options, CLI::App& root) {
  if (!options.verb.empty()) {
    const auto found = root.get_subcommands([&](CLI::App* verb) { return verb->get_name() == options.verb; });
    if (found.empty()) {
      return fail({ExitCode::usage, fmt::format(fmt::runtime(tr("There is no verb \"{name}\"; `vramscope --help` lists "
                                                                "them.")),
                                                fmt::arg("name", options.verb))});
    }
    print(found.front()->help(root.get_name()));
    return ExitCode::ok;
  }
  const Reference reference = reference_of(root);
  if (!options.shell.empty()) {
    print(completion(reference, options.shell));
  } else if (options.manual) {
    print(manual_page(reference));
  } else {
    print(options.page ? reference_page(reference) : choice_text(reference));
  }
  return ExitCode::ok;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> verbs;
  for (const Command& command : commands()) verbs.emplace_back(command.name);
  suggest(app.add_option("VERB", options->verb, tr("Show the options of this verb")), verbs)->type_name("");
  add_choice(app, "--completion", options->shell, {"bash", "zsh", "fish"},
             tr("Print what completes the command line in this shell: bash, zsh, fish"))
      ->type_name("");
  app.add_flag("--man", options->manual, tr("Print the manual page, as man reads it"));
  app.add_flag("--reference", options->page, tr("Print every verb and option as Markdown"));
  return [options, &app] { return run(*options, *app.get_parent()); };
}

}  // namespace

Command command_help() {
  return {"help", N_("Which verb answers which question"), 90, declare};
}

}  // namespace vramscope
