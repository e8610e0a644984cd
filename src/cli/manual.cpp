// The manual page and the reference, from the same data.
#include <string_view>

#include "cli/reference.h"
#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// Text as troff shows it letter by letter: no control lines, no escapes, a hyphen that can be copied.
std::string troff(std::string_view text) {
  std::string shown;
  bool at_line_start = true;
  for (const char letter : text) {
    if (at_line_start && (letter == '.' || letter == '\'')) shown += "\\&";
    at_line_start = letter == '\n';
    if (letter == '\\') {
      shown += "\\e";
    } else if (letter == '-') {
      shown += "\\-";
    } else if (letter == '\'') {
      shown += "\\(aq";
    } else if (letter == '"') {
      shown += "\\(dq";
    } else if (letter == '~') {
      shown += "\\(ti";
    } else if (letter == '^') {
      shown += "\\(ha";
    } else if (letter == '`') {
      shown += "\\(ga";
    } else {
      shown += letter;
    }
  }
  return shown;
}

// "--device TEXT" with the names bold and the value slanted.
std::string troff_term(const OptionEntry& option) {
  std::string term;
  if (option.is_argument) {
    term = "\\fI" + troff(option.names[0]) + "\\fR";
    return option.is_repeatable ? term + " \\&..." : term;
  }
  for (const std::string& name : option.names) term += (term.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
  return option.value.empty() ? term : term + " \\fI" + troff(option.value) + "\\fR";
}

// Words that help and placeholder do not name already.
std::string offered_words(const OptionEntry& option) {
  constexpr std::size_t kMostWords = 40;
  std::string list;
  if (option.words.size() > kMostWords) return list;
  for (const std::string& word : option.words) {
    if (option.help.find(word) != std::string::npos || option.value.find(word) != std::string::npos) continue;
    list += (list.empty() ? "" : ", ") + word;
  }
  return list;
}

std::string full_help(const OptionEntry& option) {
  const std::string list = offered_words(option);
  if (list.empty()) return option.help;
  return fmt::format(fmt::runtime(tr("{help}. Among others: {list}")), fmt::arg("help", option.help),
                     fmt::arg("list", list));
}

void add_options(std::string& page, const std::vector<OptionEntry>& options) {
  for (const OptionEntry& option : options)
    page += ".TP\n" + troff_term(option) + "\n" + troff(full_help(option)) + "\n";
}

void add_section(std::string& page, std::string_view title) {
  page += fmt::format(".SH \"{}\"\n", troff(title));
}

struct Meaning {
  std::string term;
  std::string text;
};

std::vector<Meaning> exit_codes() {
  return {{"0", tr("All is well, or nothing was asked that could fail.")},
          {"1", tr("There are findings at or above --fail-on.")},
          {"2", tr("Wrong usage.")},
          {"3", tr("The machine lacks something: a GPU, a driver, a permission.")},
          {"4", tr("Bad input: a file that cannot be read or trusted.")}};
}

std::vector<Meaning> environment() {
  return {{"COLUMNS", tr("How wide text may be, where --width is not given.")},
          {"NO_COLOR", tr("No colours when it is set and not empty.")},
          {"LANGUAGE, LC_ALL, LC_MESSAGES, LANG", tr("The language of what people read, where --lang is not given.")},
          {"VRAMSCOPE_NVML", tr("Path of the NVIDIA management library, in place of the driver's own.")},
          {"VRAMSCOPE_PROC", tr("Folder in place of /proc, as where a container looks at its host.")},
          {"VRAMSCOPE_SYS", tr("Folder in place of /sys, likewise.")},
          {"XDG_CONFIG_HOME", tr("Where the configuration file is looked for, in place of ~/.config.")}};
}

std::vector<Meaning> files() {
  return {{"~/.config/vramscope/config.toml", tr("Mail server, alert rules, how to watch.")},
          {"/etc/vramscope/config.toml", tr("The same for everyone, where there is none of one's own.")}};
}

void add_meanings(std::string& page, const std::vector<Meaning>& meanings) {
  for (const Meaning& meaning : meanings) {
    page += ".TP\n\\fB" + troff(meaning.term) + "\\fR\n" + troff(meaning.text) + "\n";
  }
}

const char* smi_codes() {
  return tr("smi ends with nvidia-smi's codes. watch COMMAND ends with the code of that command.");
}

std::string foreign_help(const VerbEntry& verb) {
  return fmt::format(fmt::runtime(tr("Its options are those of nvidia-smi; `{call}` lists them.")),
                     fmt::arg("call", "vramscope " + verb.name + " --help"));
}

std::string usage_of(const VerbEntry& verb) {
  std::string usage = fmt::format("vramscope {} [{}]", verb.name, tr("OPTIONS"));
  for (const OptionEntry& option : verb.options) {
    if (!option.is_argument) continue;
    const std::string name = option.names[0] + (option.is_repeatable ? "..." : "");
    usage += option.is_required ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

void add_option_table(std::string& page, const std::vector<OptionEntry>& options) {
  page += fmt::format("| {} | {} |\n|---|---|\n", tr("Option"), tr("Meaning"));
  for (const OptionEntry& option : options) {
    std::string term;
    for (const std::string& name : option.names) term += (term.empty() ? "`" : ", `") + name + "`";
    if (!option.is_argument && !option.value.empty()) term += " " + option.value;
    page += fmt::format("| {} | {} |\n", cell(term), cell(full_help(option)));
  }
  page += "\n";
}

void add_meaning_list(std::string& page, std::string_view title, const std::vector<Meaning>& meanings) {
  page += fmt::format("## {}\n\n", title);
  for (const Meaning& meaning : meanings) page += fmt::format("- `{}`: {}\n", meaning.term, meaning.text);
  page += "\n";
}

}  // namespace

std::string manual_page(const Reference& reference) {
  std::string page = fmt::format(".\\\" {}\n", "Generated from the command line by vramscope help --man");
  page += fmt::format(".TH VRAMSCOPE 1 \"\" \"{}\" \"{}\"\n", troff(reference.version), troff(tr("User commands")));
  page += ".nh\n.ad l\n";
  add_section(page, tr("NAME"));
  page += fmt::format("vramscope \\- {}\n", troff(tr("the GPU memory check-up")));
  add_section(page, tr("SYNOPSIS"));
  page +=
      fmt::format("\\fBvramscope\\fR [\\fI{0}\\fR]\n.br\n\\fBvramscope\\fR \\fI{1}\\fR [\\fI{0}\\fR] [\\fI{2}\\fR]\n",
                  tr("OPTIONS"), tr("VERB"), tr("Arguments"));
  add_section(page, tr("DESCRIPTION"));
  page += troff(reference.about) + "\n.PP\n" +
          troff(tr("Without a verb it is status: one look at every GPU, who holds its memory, and what is wrong. Every "
                   "verb prints tables for people and, with --json, exact figures for machines.")) +
          "\n";
  add_section(page, tr("OPTIONS OF EVERY VERB"));
  add_options(page, reference.options);
  add_section(page, tr("VERBS"));
  for (const VerbEntry& verb : reference.verbs) {
    page += fmt::format(".SS \"{}\"\n{}\n", troff(usage_of(verb)), troff(verb.about + "."));
    if (verb.is_foreign) page += ".PP\n" + troff(foreign_help(verb)) + "\n";
    add_options(page, verb.options);
  }
  add_section(page, tr("EXIT STATUS"));
  add_meanings(page, exit_codes());
  page += fmt::format(".PP\n{}\n", troff(smi_codes()));
  add_section(page, tr("ENVIRONMENT"));
  add_meanings(page, environment());
  add_section(page, tr("FILES"));
  add_meanings(page, files());
  add_section(page, tr("EXAMPLES"));
  for (const ChoiceGroup& group : choice_table(reference)) {
    page += fmt::format(".SS \"{}\"\n", troff(group.title));
    for (const Choice& choice : group.choices) {
      if (&choice != &group.choices.front()) page += ".PP\n";
      page += fmt::format("{}\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", troff(choice.question), troff(choice.call));
    }
  }
  add_section(page, tr("SEE ALSO"));
  page += ".BR nvidia\\-smi (1),\n" + troff(tr("and the pages in /usr/share/doc/vramscope.")) + "\n";
  return page;
}

std::string reference_page(const Reference& reference) {
  std::string page = fmt::format("# {}\n\n{}\n\n", tr("The command line"), reference.about);
  page += fmt::format("## {}\n\n", tr("Options of every verb"));
  add_option_table(page, reference.options);
  for (const VerbEntry& verb : reference.verbs) {
    page += fmt::format("## {}\n\n`{}`\n\n{}.\n\n", verb.name, usage_of(verb), verb.about);
    if (verb.is_foreign) {
      page += foreign_help(verb) + "\n\n";
    } else {
      add_option_table(page, verb.options);
    }
  }
  add_meaning_list(page, tr("Exit status"), exit_codes());
  page += fmt::format("{}\n\n", smi_codes());
  add_meaning_list(page, tr("Environment"), environment());
  add_meaning_list(page, tr("Files"), files());
  page.pop_back();
  return page;
}

}  // namespace vramscope
