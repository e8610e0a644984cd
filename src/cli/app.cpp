#include "cli/app.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>

#include "cli/command.h"
#include "cli/commands/smi/run.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/terminal.h"

namespace vramscope {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all = command_table();
    std::sort(all.begin(), all.end(), [](const Command& a, const Command& b) { return a.order < b.order; });
    return all;
  }();
  return table;
}

namespace {

void set_width(std::size_t width) {
  constexpr std::size_t kProse = 100;  // where no table is cut
  terminal().fit = width == 0 ? Fit::nothing : Fit::width;
  terminal().columns = width == 0 ? kProse : std::max(width, kFewestColumns);
}

// Help is made while options are declared, so the language must be known before parsing.
bool choose_language(int argc, char** argv) {
  set_language_from_environment();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view kOption = "--lang";
    if (argument == kOption && i + 1 < argc) return set_language(argv[i + 1]);
    if (argument.substr(0, kOption.size() + 1) == "--lang=") return set_language(argument.substr(kOption.size() + 1));
  }
  return true;
}

std::string language_list() {
  std::string list;
  for (const std::string_view name : languages()) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = &app;
  for (const CLI::App* used : app.get_subcommands()) verb = used;
  const std::string call = verb == &app ? "vramscope --help" : fmt::format("vramscope {} --help", verb->get_name());
  std::string what = error.what();
  while (!what.empty() && (what.back() == '\n' || what.back() == '.')) what.pop_back();
  // A value that was refused: the sentence is complete.
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return {ExitCode::usage, error.what()};
  // CLI11 speaks English alone: its sentences are made anew.
  const auto behind = [&](std::string_view colon) { return what.substr(what.find(colon) + colon.size()); };
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && what.find(": ") != std::string::npos) {
    what = fmt::format(fmt::runtime(tr("\"{argument}\" is no verb or option of this command")),
                       fmt::arg("argument", behind(": ")));
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = fmt::format(fmt::runtime(tr("{argument} is missing")),
                       fmt::arg("argument", what.substr(0, what.find(" is required"))));
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool is_many = what.find("received") != std::string::npos;
    what = fmt::format(fmt::runtime(is_many ? tr("{option} is given more than once") : tr("{option} needs a value")),
                       fmt::arg("option", what.substr(0, what.find(':'))));
  } else {
    what = tr("The command line cannot be understood");
  }
  return {ExitCode::usage, fmt::format(fmt::runtime(tr("{problem}; `{call}` lists what there is.")),
                                       fmt::arg("problem", what), fmt::arg("call", call))};
}

void translate_help(CLI::App& app) {
  app.option_defaults()->group(tr("Options"));
  const auto formatter = app.get_formatter();
  formatter->label("Usage", tr("Usage"));
  formatter->label("OPTIONS", tr("OPTIONS"));
  formatter->label("SUBCOMMAND", tr("VERB"));
  formatter->label("Positionals", tr("Arguments"));
  formatter->label("REQUIRED", "");
  formatter->label("TEXT", tr("TEXT"));
  formatter->label("UINT", "N");
  app.set_help_flag("-h,--help", tr("Show this help"));
}

std::vector<std::string>& own_words() {
  static std::vector<std::string> words;
  return words;
}

// Takes a program's own words off the command line of `watch`: what stands behind "--" or "--for", or from the first
// word on that is neither an option nor an option's value. The number of arguments that are left.
int cut_off_program(int argc, char** argv) {
  constexpr std::string_view kFlags[] = {"--json", "--quiet", "--replace", "--ascii", "--help", "-h", "--version"};
  bool is_watch = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if ((argument == "--" || argument == "--for") && is_watch) {
      own_words().assign(argv + i + 1, argv + argc);
      return i;
    }
    if (argument.substr(0, 1) == "-") {
      const bool is_flag = std::find(std::begin(kFlags), std::end(kFlags), argument) != std::end(kFlags);
      if (!is_flag && argument.find('=') == argument.npos) ++i;  // its value
    } else if (is_watch) {
      own_words().assign(argv + i, argv + argc);
      return i;
    } else if (argument == "watch") {
      is_watch = true;
    } else {
      return argc;  // another verb
    }
  }
  return argc;
}

// Options without a verb are those of `status`.
std::vector<char*> with_verb(int argc, char** argv) {
  static char status[] = "status";
  std::vector<char*> arguments(argv, argv + argc);
  if (argc > 1 && argv[1][0] != '-') return arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-h" || argument == "--help" || argument == "--version") return arguments;
    for (const Command& command : commands()) {
      if (argument == command.name) return arguments;
    }
  }
  arguments.insert(arguments.begin() + 1, status);
  return arguments;
}

// Only a verb whose name is one of the words can be the one that is meant. `help` tells of all.
bool is_named(const Command& command, const std::vector<char*>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string_view argument) { return argument == command.name || argument == "help"; });
}

// The arguments of `smi`, when that is the verb or the program is called through a link named nvidia-smi. Scripts call
// it often: it does without the parser of the other verbs, which takes longer than the answer.
std::optional<std::vector<std::string>> smi_arguments(int argc, char** argv) {
  std::string_view program = argc > 0 ? argv[0] : "";
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  int first = 1;
  if (program != "nvidia-smi") {
    if (argc < 2 || std::string_view(argv[1]) != "smi") return std::nullopt;
    first = 2;
  }
  return std::vector<std::string>(argv + std::min(first, argc), argv + argc);
}

int run_parsed(int argc, char** argv) {
  argc = cut_off_program(argc, argv);
  const bool has_language = choose_language(argc, argv);
  if (const auto arguments = smi_arguments(argc, argv)) return run_smi(*arguments);
  CLI::App app(tr("The GPU memory check-up: where the memory is, what is wrong, and what to do."), "vramscope");
  translate_help(app);
  app.set_version_flag("--version", "vramscope " VRAMSCOPE_VERSION, tr("Show the version"));
  app.require_subcommand(0, 1);
  app.footer(
      tr("With --json every verb prints exact figures for machines. Exit codes: 0 ok, 1 findings, 2 wrong usage, "
         "3 the machine lacks something, 4 bad input."));
  app.fallthrough();
  std::string language_name;
  suggest(app.add_option("--lang", language_name, tr("Language of what people read: en or zh")), {"en", "zh"});
  std::optional<std::size_t> width;
  add_number(app, "--width", width, {0, 10'000},
             tr("Fit text to this many columns, at least 40; 0 shows every column of wide tables"));
  bool ascii = false;
  app.add_flag("--ascii", ascii, tr("Draw with ASCII characters alone"));

  std::vector<char*> arguments = with_verb(argc, argv);
  std::vector<std::pair<CLI::App*, std::function<ExitCode()>>> verbs;
  for (const Command& command : commands()) {
    CLI::App* verb = app.add_subcommand(command.name, tr(command.about));
    verb->group(tr("Verbs"));
    if (!is_named(command, arguments)) continue;  // its options cost time and memory that a watch keeps for days
    translate_help(*verb);
    verbs.emplace_back(verb, command.declare(*verb));
  }
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return static_cast<int>(fail(usage_error(app, error)));
  }
  if (!has_language) {
    return static_cast<int>(
        fail({ExitCode::usage, fmt::format(fmt::runtime(tr("There is no language \"{name}\"; choose "
                                                           "one of {list}.")),
                                           fmt::arg("name", language_name), fmt::arg("list", language_list()))}));
  }
  if (width) set_width(*width);
  if (ascii) terminal().utf8 = false;
  for (const auto& [verb, action] : verbs) {
    if (!verb->parsed()) continue;
    const ExitCode code = action();
    return static_cast<int>(could_print() ? code : ExitCode::machine);
  }
  print(app.help());  // options alone that ask for nothing
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

const std::vector<std::string>& program_words() {
  return own_words();
}

int run(int argc, char** argv) {
  try {
    return run_parsed(argc, argv);
  } catch (const std::bad_alloc&) {
    return static_cast<int>(fail({ExitCode::machine, tr("The machine's memory is full; close other programs or give "
                                                        "vramscope a smaller file.")}));
  } catch (const std::exception& error) {
    return static_cast<int>(
        fail({ExitCode::machine, fmt::format(fmt::runtime(tr("vramscope failed ({reason}); please report this with the "
                                                             "command that you ran.")),
                                             fmt::arg("reason", error.what()))}));
  }
}

}  // namespace vramscope
