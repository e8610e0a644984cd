#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

std::size_t number_of(const std::string& name, const std::string& text, const NumberRange& range) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (!text.empty() && error == std::errc() && stop == end && number >= range.least && number <= range.most) {
    return number;
  }
  throw CLI::ValidationError(
      fmt::format(fmt::runtime(tr("{option} {text} cannot be used; give a whole number from {least} to {most}.")),
                  fmt::arg("option", name), fmt::arg("text", text),
                  fmt::arg("least", format_count(static_cast<std::int64_t>(range.least))),
                  fmt::arg("most", format_count(static_cast<std::int64_t>(range.most)))));
}

}  // namespace

CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<std::size_t>& target, NumberRange range,
                        const std::string& help) {
  const auto take = [name, range, &target](const std::string& text) { target = number_of(name, text, range); };
  return app.add_option_function<std::string>(name, take, help)->type_name("N");
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& target, std::vector<std::string> choices,
                        const std::string& help) {
  const auto take = [name, &target, all = choices](const std::string& text) {
    if (const std::string problem = choice_problem(name, text, all); !problem.empty()) {
      throw CLI::ValidationError(problem);
    }
    target = text;
  };
  return suggest(app.add_option_function<std::string>(name, take, help), choices);
}

// CLI11 has no place for them: they are the name of a validator that is switched off.
constexpr char kBetweenWords = ' ';

CLI::Option* suggest(CLI::Option* option, const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : std::string(1, kBetweenWords)) + word;
  CLI::Validator carrier([](std::string&) { return std::string(); }, "", list);
  carrier.active(false);
  return option->check(carrier);
}

std::vector<std::string> suggestions(CLI::Option& option) {
  try {
    return CLI::detail::split(option.get_validator()->get_name(), kBetweenWords);
  } catch (const CLI::OptionNotFound&) {  // it has no validator
    return {};
  }
}

std::string choice_problem(const std::string& name, const std::string& word, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return {};
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  return fmt::format(fmt::runtime(tr("{option} {text} cannot be used; choose one of {list}.")),
                     fmt::arg("option", name), fmt::arg("text", word), fmt::arg("list", list));
}

}  // namespace vramscope
