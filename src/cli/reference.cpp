#include "cli/reference.h"

#include <algorithm>
#include <array>

#include "cli/options.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string value_of(const CLI::Option& option, const std::vector<std::string>& words) {
  if (option.get_items_expected_max() == 0) return {};
  constexpr std::size_t kMostInPlace = 4;
  std::string name = option.get_type_name();
  if (name.empty() && option.get_positional()) name = option.get_name(true);
  if (name.empty() && !words.empty() && words.size() <= kMostInPlace) name = joined(words, "|");
  return name.empty() || name == "TEXT" ? tr("TEXT") : name;
}

OptionEntry entry_of(CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.words = suggestions(option);
  entry.value = value_of(option, entry.words);
  entry.help = option.get_description();
  entry.is_argument = option.get_positional();
  if (entry.is_argument) entry.names = {option.get_name(true)};
  entry.is_required = option.get_required();
  entry.is_repeatable = option.get_items_expected_max() > 1;
  entry.is_file = entry.value == "FILE" || entry.value == tr("FILE") || (entry.is_argument && entry.names[0] == "FILE");
  return entry;
}

std::vector<OptionEntry> entries_of(CLI::App& app) {
  std::vector<OptionEntry> entries;
  // An empty group hides an option.
  for (CLI::Option* option : app.get_options([](CLI::Option* each) { return !each->get_group().empty(); })) {
    entries.push_back(entry_of(*option));
  }
  return entries;
}

OptionEntry program_entry() {
  OptionEntry entry;
  entry.names = {"COMMAND"};
  entry.value = "COMMAND";
  entry.help = tr("A program to start and to watch, with its arguments; its options are not ours");
  entry.is_argument = entry.is_repeatable = true;
  return entry;
}

struct Row {
  const char* question;
  const char* call;
};
struct Rows {
  const char* title;
  std::vector<Row> rows;
};

std::vector<Rows> all_rows() {
  return {
      {N_("The GPUs now"),
       {{N_("Is it all right, and who holds the memory?"), "vramscope"},
        {N_("The same over a while, for what one moment does not tell"), "vramscope status --look 30s"},
        {N_("Keep an eye on it, on a screen with keys"), "vramscope top"},
        {N_("What scripts ask nvidia-smi for"), "vramscope smi --query-gpu=memory.used,memory.total --format=csv"},
        {N_("Keep watch over a run, and if it dies, why?"), "vramscope watch python train.py"},
        {N_("Follow a program that runs already"), "vramscope watch --pid 4242"},
        {N_("Keep everything, to look at it later"), "vramscope watch --record run.vrs"},
        {N_("What was there when it was recorded?"), "vramscope status --replay run.vrs"},
        {N_("Warn me before the memory is full"),
         "vramscope watch --alert 'full within 20m' --notify mail:me@example.org"},
        {N_("What would an alert rule have sent?"), "vramscope alerts test --device sim:leak --alert 'memory growing'"},
        {N_("Is my configuration right?"), "vramscope check-config"},
        {N_("Try it with no GPU"), "vramscope status --device sim:leak"}}},
      {N_("What a run left behind"),
       {{N_("What is this file, and is it whole?"), "vramscope info trace.json.gz"},
        {N_("What is wrong, and what should I do?"), "vramscope diagnose trace.json.gz"},
        {N_("Why did it run out of memory? The error text is enough"), "vramscope diagnose error.txt"},
        {N_("Which operator uses the memory?"), "vramscope ops trace.json.gz --sort self_cuda_memory_usage --limit 10"},
        {N_("In which step is it freed, and by which operator?"),
         "vramscope ops trace.json.gz --group-by step --lifetimes"},
        {N_("Where is the memory, over time and at its peak?"), "vramscope memory trace.json.gz"},
        {N_("Who holds it at the end, by Python stack?"), "vramscope memory snapshot.pickle --by stack --at end"},
        {N_("What grew between snapshots?"), "vramscope memory first.pickle second.pickle third.pickle"},
        {N_("Fail the build when a training leaks"), "vramscope diagnose trace.json.gz --fail-on warning"}}},
      {N_("Around it"),
       {{N_("All options of a verb"), "vramscope help ops"},
        {N_("Complete verbs and options with the Tab key"), "eval \"$(vramscope help --completion bash)\""}}},
  };
}

bool has_verb(const Reference& reference, const std::string& call) {
  const std::size_t begin = std::string("vramscope ").size();
  if (call.rfind("vramscope ", 0) != 0) return true;  // no verb at all, or not a call of ours alone
  const std::string verb = call.substr(begin, call.find(' ', begin) - begin);
  return std::any_of(reference.verbs.begin(), reference.verbs.end(),
                     [&](const VerbEntry& each) { return each.name == verb; });
}

}  // namespace

Reference reference_of(CLI::App& root) {
  Reference reference;
  reference.version = "vramscope " VRAMSCOPE_VERSION;
  reference.about = root.get_description();
  reference.options = entries_of(root);
  for (CLI::App* verb : root.get_subcommands([](CLI::App* each) { return !each->get_group().empty(); })) {
    VerbEntry entry{verb->get_name(), verb->get_description(), entries_of(*verb), false, false};
    std::erase_if(entry.options, [](const OptionEntry& option) { return option.names.back() == "--help"; });
    entry.is_foreign = verb->get_prefix_command();
    // Its words are taken off before CLI11 sees the line (app.cpp), so that no option stands for them.
    entry.runs_command = entry.name == "watch";
    if (entry.runs_command) entry.options.push_back(program_entry());
    reference.verbs.push_back(std::move(entry));
  }
  return reference;
}

std::vector<ChoiceGroup> choice_table(const Reference& reference) {
  std::vector<ChoiceGroup> groups;
  for (const Rows& rows : all_rows()) {
    ChoiceGroup group{tr(rows.title), {}};
    for (const Row& row : rows.rows) {
      if (has_verb(reference, row.call)) group.choices.push_back({tr(row.question), row.call});
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace vramscope
