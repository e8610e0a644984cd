#pragma once
// Options whose values are checked here, so that every refusal is one sentence in the user's language. The sentence is
// the text of a CLI::ValidationError.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace vramscope {

struct NumberRange {
  std::size_t least = 0;
  std::size_t most = 1'000'000'000;
};

// A whole number; anything else, and a number outside the range, is refused.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<std::size_t>& target, NumberRange range,
                        const std::string& help);
// One of a few words.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& target, std::vector<std::string> choices,
                        const std::string& help);
// Words that completions and the manual offer for the option's value, without blanks. Nothing is checked: others may be
// allowed. add_choice does this by itself.
CLI::Option* suggest(CLI::Option* option, const std::vector<std::string>& words);
std::vector<std::string> suggestions(CLI::Option& option);
// The sentence about a word that is none of the choices; empty when it is one.
std::string choice_problem(const std::string& name, const std::string& word, const std::vector<std::string>& choices);

}  // namespace vramscope
