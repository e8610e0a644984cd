#pragma once
// What the command line understands, as plain data: for the manual page, the completions and docs/reference.
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace vramscope {

struct OptionEntry {
  std::vector<std::string> names;  // "-h", "--help"; of an argument without a name its placeholder alone
  std::string value;               // placeholder of the value: "N", "text|json"; empty: a flag
  std::string help;                // in the user's language
  std::vector<std::string> words;  // values that are offered; others may be allowed
  bool is_argument = false;        // without a name, given by its place
  bool is_required = false;
  bool is_repeatable = false;
  bool is_file = false;  // the value is the path of a file
};

struct VerbEntry {
  std::string name;
  std::string about;
  std::vector<OptionEntry> options;  // its own; those of every verb are in Reference
  bool runs_command = false;         // what follows is a program and its arguments
  bool is_foreign = false;           // what follows is read by the verb itself, in another program's spelling
};

struct Reference {
  std::string version;  // "vramscope 0.1.0"
  std::string about;
  std::vector<OptionEntry> options;  // of every verb
  std::vector<VerbEntry> verbs;      // in the order of --help
};

// Of the whole command line, in the language that is in use.
Reference reference_of(CLI::App& root);

// An example or a question, and the line that one types. Questions of verbs that there are not are left out.
struct Choice {
  std::string question;  // in the user's language
  std::string call;      // "vramscope status …"
};
struct ChoiceGroup {
  std::string title;
  std::vector<Choice> choices;
};
// Which verb for which question.
std::vector<ChoiceGroup> choice_table(const Reference& reference);

// vramscope(1): troff with the man macros.
std::string manual_page(const Reference& reference);
// The same as Markdown.
std::string reference_page(const Reference& reference);

std::string bash_completion(const Reference& reference);
std::string zsh_completion(const Reference& reference);
std::string fish_completion(const Reference& reference);

}  // namespace vramscope
