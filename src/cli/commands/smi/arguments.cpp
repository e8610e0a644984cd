#include "cli/commands/smi/arguments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/commands/smi/option_table.h"
#include "fmt/format.h"
#include "report/smi_text.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

using Name = SmiName;
using Takes = SmiTakes;

Error usage(std::string sentence) {
  return {ExitCode::usage, std::move(sentence), 0};
}

Error in_their_words(std::string text) {
  constexpr int kBadArgument = 2;
  return {ExitCode::usage, std::move(text), kBadArgument};
}

Error contradiction() {
  return in_their_words("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
}

std::string option_word(const char* sentence, std::string_view option) {
  return fmt::format(fmt::runtime(sentence), fmt::arg("option", printable(option)));
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = list.find(',');
    std::string_view part = list.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
    if (end == list.npos) return parts;
    list.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// dmon and pmon stand first. Our own options, which nvidia-smi does not have, may stand before them.
std::vector<std::string> with_table_first(std::vector<std::string> arguments) {
  auto word = arguments.begin();
  while (word != arguments.end() && (word->starts_with("--device") || word->starts_with("--lang"))) {
    if (word->find('=') == word->npos && ++word == arguments.end()) return arguments;
    ++word;
  }
  if (word != arguments.end() && (*word == "dmon" || *word == "pmon")) std::rotate(arguments.begin(), word, word + 1);
  return arguments;
}

class Parser {
 public:
  explicit Parser(std::vector<std::string> arguments) : arguments_(with_table_first(std::move(arguments))) {}
  Result<SmiOptions> parse();

 private:
  std::optional<Error> parse_all();
  std::optional<Error> take(const SmiOption& option, std::string_view word, std::string_view value);
  std::optional<Error> take_command(const SmiOption& option, std::string_view value);
  std::optional<Error> take_rhythm(const SmiOption& option, std::string_view word, std::string_view value);
  std::optional<Error> take_task(SmiTask task, SmiQuery query, std::string_view fields);
  std::optional<Error> take_format(std::string_view value);
  std::optional<Error> take_number(std::string_view word, std::string_view value, std::int64_t least, std::int64_t most,
                                   std::int64_t& number);
  std::optional<Error> take_select(std::string_view value);
  std::optional<Error> take_moment(std::string_view value);
  std::optional<Error> take_displays(std::string_view value);
  std::optional<Error> settle_task();
  std::optional<Error> resolve_fields();
  bool is_table() const { return options_.task == SmiTask::device_table || options_.task == SmiTask::process_table; }

  const std::vector<std::string> arguments_;
  std::size_t next_ = 0;
  SmiOptions options_;
  bool has_task_ = false, has_csv_ = false, wants_help_ = false;
  std::string_view fields_, switch_;
};

std::optional<Error> Parser::take_task(SmiTask task, SmiQuery query, std::string_view fields) {
  if (has_task_) return contradiction();
  has_task_ = true;
  options_.task = task;
  options_.query = query;
  fields_ = fields;
  return std::nullopt;
}

std::optional<Error> Parser::take_format(std::string_view value) {
  for (const std::string_view word : split(value)) {
    if (word == "csv") {
      has_csv_ = options_.table.is_csv = true;
    } else if (word == "noheader") {
      options_.with_header = options_.table.with_names = false;
      if (is_table()) options_.table.with_units = false;
    } else if (word == "nounits" || (is_table() && word == "nounit")) {
      options_.with_units = options_.table.with_units = false;
    } else {
      return usage(fmt::format(fmt::runtime(tr("--format: \"{word}\" is none of csv, noheader and nounits.")),
                               fmt::arg("word", printable(word))));
    }
  }
  return std::nullopt;
}

std::optional<Error> Parser::take_number(std::string_view word, std::string_view value, std::int64_t least,
                                         std::int64_t most, std::int64_t& number) {
  const std::optional<std::int64_t> found = whole_number(value);
  if (!found || *found < least || *found > most) {
    return usage(fmt::format(fmt::runtime(tr("{option}: \"{word}\" is no whole number from {least} to {most}.")),
                             fmt::arg("option", word), fmt::arg("word", printable(value)), fmt::arg("least", least),
                             fmt::arg("most", most)));
  }
  number = *found;
  return std::nullopt;
}

std::optional<Error> Parser::take_select(std::string_view value) {
  const std::string_view known = options_.task == SmiTask::device_table ? kDeviceGroups : kProcessGroups;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool is_new = value.find(value[i]) == i;
    if (known.find(value[i]) != known.npos && is_new) continue;
    return usage(fmt::format(
        fmt::runtime(tr("-s: \"{word}\" is no choice of columns; write some of the letters {known}, each once.")),
        fmt::arg("word", printable(value)), fmt::arg("known", known)));
  }
  if (!value.empty()) options_.table.groups = value;
  return std::nullopt;
}

std::optional<Error> Parser::take_moment(std::string_view value) {
  for (const char letter : value) {
    if (letter == 'D') {
      options_.table.with_date = true;
    } else if (letter == 'T') {
      options_.table.with_time = true;
    } else {
      return usage(
          fmt::format(fmt::runtime(tr("-o: \"{word}\" is none of D, T and DT.")), fmt::arg("word", printable(value))));
    }
  }
  return std::nullopt;
}

std::optional<Error> Parser::take_displays(std::string_view value) {
  for (const std::string_view name : split(value)) {
    const std::optional<SmiDisplay> display = smi_display_named(name);
    if (!display) {
      return usage(fmt::format(fmt::runtime(tr("-d: \"{word}\" is no section of -q; `vramscope smi -h` lists them.")),
                               fmt::arg("word", printable(name))));
    }
    options_.displays |= bit_of(*display);
  }
  return std::nullopt;
}

// What is to be done.
std::optional<Error> Parser::take_command(const SmiOption& option, std::string_view value) {
  switch (option.name) {
    case Name::query_gpu:
      return take_task(SmiTask::query, SmiQuery::gpu, value);
    case Name::query_compute:
      return take_task(SmiTask::query, SmiQuery::compute_apps, value);
    case Name::query_accounted:
      return take_task(SmiTask::query, SmiQuery::accounted_apps, value);
    case Name::help_gpu:
      return take_task(SmiTask::query_help, SmiQuery::gpu, {});
    case Name::help_compute:
      return take_task(SmiTask::query_help, SmiQuery::compute_apps, {});
    case Name::help_accounted:
      return take_task(SmiTask::query_help, SmiQuery::accounted_apps, {});
    case Name::list:
      return take_task(SmiTask::list, SmiQuery::gpu, {});
    case Name::full_query:
      return take_task(SmiTask::full_query, SmiQuery::gpu, {});
    default:
      return take_task(SmiTask::version, SmiQuery::gpu, {});
  }
}

// How often, how many times.
std::optional<Error> Parser::take_rhythm(const SmiOption& option, std::string_view word, std::string_view value) {
  constexpr std::int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000, kDay = 86'400, kMost = 1'000'000'000;
  constexpr std::int64_t kDefaultSeconds = 5;
  std::int64_t number = kDefaultSeconds;
  if (option.name == Name::count) {
    if (auto problem = take_number(word, value, 1, kMost, number)) return problem;
    options_.count = number;
    return std::nullopt;
  }
  const bool is_fine = option.name == Name::loop_ms;
  if (!value.empty() || option.takes == SmiTakes::value) {
    if (auto problem = take_number(word, value, 1, is_fine ? kDay * 1000 : kDay, number)) return problem;
  }
  options_.interval_ns = number * (is_fine ? kMillisecond : kSecond);
  return std::nullopt;
}

std::optional<Error> Parser::take(const SmiOption& option, std::string_view word, std::string_view value) {
  if (option.name <= Name::version) {
    switch_ = option.long_name;
    return take_command(option, value);
  }
  if (option.name >= Name::loop && option.name <= Name::count) return take_rhythm(option, word, value);
  switch (option.name) {
    case Name::help:
      wants_help_ = true;
      return std::nullopt;
    case Name::format:
      return take_format(value);
    case Name::id:
      for (const std::string_view id : split(value)) options_.ids.emplace_back(id);
      return std::nullopt;
    case Name::file:
      options_.file = value;
      return std::nullopt;
    case Name::device:
      options_.device = value;
      return std::nullopt;
    case Name::language:  // was obeyed before
      return std::nullopt;
    case Name::select:
      return take_select(value);
    case Name::moment:
      return take_moment(value);
    case Name::xml:
      options_.is_xml = true;
      return std::nullopt;
    case Name::display:
      return take_displays(value);
    case Name::dtd:
      options_.with_dtd = true;
      return std::nullopt;
    case Name::setting:
      return usage(option_word(tr("vramscope changes nothing on a GPU; give {option} to NVIDIA's own nvidia-smi."),
                               option.long_name));
    default:
      return usage(
          option_word(tr("vramscope smi does not have {option}; ask NVIDIA's own nvidia-smi."), option.long_name));
  }
}

std::optional<Error> Parser::resolve_fields() {
  if (options_.task != SmiTask::query) return std::nullopt;
  if (!has_csv_) {
    return usage(option_word(tr("{option} needs --format=csv, to which noheader and nounits may be added with commas."),
                             switch_));
  }
  for (const std::string_view field : split(fields_)) {
    const std::optional<SmiColumn> column = smi_column(options_.query, field);
    if (!column) return in_their_words(smi_field_error(field));
    options_.columns.push_back(*column);
  }
  return std::nullopt;
}

std::optional<Error> Parser::parse_all() {
  if (!arguments_.empty() && (arguments_[0] == "dmon" || arguments_[0] == "pmon")) {
    const bool is_devices = arguments_[0] == "dmon";
    options_.task = is_devices ? SmiTask::device_table : SmiTask::process_table;
    options_.table.groups = is_devices ? "puc" : "u";
    options_.interval_ns = 1'000'000'000;
    has_task_ = true;
    next_ = 1;
  }
  while (next_ < arguments_.size()) {
    const std::string_view argument = arguments_[next_++];
    if (next_ == 1 && is_smi_subcommand(argument)) {
      return usage(option_word(tr("vramscope smi does not have {option}; ask NVIDIA's own nvidia-smi."), argument));
    }
    const std::size_t equals = argument.find('=');
    const std::string_view word = argument.substr(0, equals);
    const SmiOption* const option = find_smi_option(word, is_table());
    if (option == nullptr || (option->takes == Takes::nothing && equals != argument.npos)) {
      return in_their_words(smi_option_error(printable(argument)));
    }
    std::string_view value;
    if (equals != argument.npos) {
      value = argument.substr(equals + 1);
    } else if (option->takes == Takes::value && next_ < arguments_.size()) {
      value = arguments_[next_++];
    } else if (option->takes == Takes::maybe_number && next_ < arguments_.size() && whole_number(arguments_[next_])) {
      value = arguments_[next_++];
    }
    const bool is_ours_to_refuse = option->name >= Name::setting;
    if (option->takes == Takes::value && value.empty() && !is_ours_to_refuse) {
      return usage(option_word(tr("{option} needs a value."), word));
    }
    if (auto problem = take(*option, word, value)) return problem;
  }
  if (auto problem = settle_task()) return problem;
  return resolve_fields();
}

// Without a command there is the table; a document type alone is printed, and else stands in XML.
std::optional<Error> Parser::settle_task() {
  const bool is_full = options_.task == SmiTask::full_query;
  const bool has_query_options = options_.is_xml || options_.displays != 0;
  if (!has_task_) {
    if (has_query_options || has_csv_) return contradiction();
    options_.task = options_.with_dtd ? SmiTask::dtd : SmiTask::summary;
    return std::nullopt;
  }
  if (!is_full) return has_query_options || options_.with_dtd ? std::optional(contradiction()) : std::nullopt;
  const bool has_sections_of_xml = options_.is_xml && options_.displays != 0;
  if (has_sections_of_xml || (options_.with_dtd && !options_.is_xml)) return contradiction();
  return std::nullopt;
}

Result<SmiOptions> Parser::parse() {
  if (auto problem = parse_all(); problem && !wants_help_) return *problem;
  if (wants_help_) {
    options_.task = options_.task == SmiTask::device_table    ? SmiTask::device_table_help
                    : options_.task == SmiTask::process_table ? SmiTask::process_table_help
                                                              : SmiTask::help;
    return options_;
  }
  return options_;
}

}  // namespace

Result<SmiOptions> parse_smi(const std::vector<std::string>& arguments) {
  return Parser(arguments).parse();
}

}  // namespace vramscope
