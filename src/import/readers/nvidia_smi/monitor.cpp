// `nvidia-smi dmon` (a line a GPU and moment) and `pmon` (a line a process), whatever columns were chosen.
#include <algorithm>
#include <map>
#include <set>

#include "import/readers/nvidia_smi/monitor_header.h"
#include "import/readers/nvidia_smi/parser.h"
#include "import/readers/nvidia_smi/process_type.h"

namespace vramscope::nvidia_smi {

namespace {

struct MonitorColumn {
  std::string_view name;
  Metric metric;
  std::string_view unit;  // where the line of units does not tell
};

// nvidia-smi dmon -h. "mem" is the share of time, "fb" the memory in use.
constexpr MonitorColumn kColumns[] = {
    {"pwr", Metric::power_draw, "W"},
    {"gtemp", Metric::temperature_gpu, "C"},
    {"temp", Metric::temperature_gpu, "C"},
    {"mtemp", Metric::temperature_memory, "C"},
    {"sm", Metric::utilization_gpu, "%"},
    {"mem", Metric::utilization_memory, "%"},
    {"enc", Metric::utilization_encoder, "%"},
    {"dec", Metric::utilization_decoder, "%"},
    {"jpg", Metric::utilization_jpeg, "%"},
    {"ofa", Metric::utilization_ofa, "%"},
    {"mclk", Metric::clocks_current_memory, "MHz"},
    {"pclk", Metric::clocks_current_sm, "MHz"},
    {"fb", Metric::memory_used, "MB"},
    {"bar1", Metric::bar1_used, "MB"},
    {"sbecc", Metric::ecc_errors_corrected_volatile_total, ""},
    {"dbecc", Metric::ecc_errors_uncorrected_volatile_total, ""},
    {"pci", Metric::pcie_replays, ""},
    {"rxpci", Metric::pcie_throughput_rx, "MB/s"},
    {"txpci", Metric::pcie_throughput_tx, "MB/s"},
};
// Of a process.
constexpr std::string_view kShares[] = {"sm", "mem", "enc", "dec", "jpg", "ofa"};

class MonitorParser : public Parser {
 public:
  explicit MonitorParser(LogBuilder& log) : log_(log) {}

  void feed(const Line& line) override {
    // The last number may be half of itself, and of a header the last name.
    if (!line.has_end) return log_.note("cut_line", line.offset);
    if (trimmed(line.text).empty()) return;
    if (auto names = parse_monitor_header(line.text)) {
      names_ = std::move(*names);
      has_pid_ = std::find(names_.begin(), names_.end(), "pid") != names_.end();
      return;
    }
    if (names_.empty() || line.text[line.text.find_first_not_of(" \t")] == '#') return;
    std::vector<std::string_view> words = words_of(line.text);
    // A command may have blanks.
    const bool is_named = has_pid_ && names_.back() == "command";
    if (words.size() < names_.size() || (!is_named && words.size() > names_.size())) {
      return log_.note("odd_row", line.offset);
    }
    if (is_named) {
      const std::string_view first = words[names_.size() - 1];
      const std::string_view last = words.back();
      words.resize(names_.size());
      words.back() = std::string_view(first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data()));
    }
    take(words, line.offset);
  }
  void end() override {
    names_.clear();
    seen_.clear();
  }

 private:
  std::string_view value_of(const std::vector<std::string_view>& words, std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? std::string_view() : words[static_cast<std::size_t>(found - names_.begin())];
  }

  void take(const std::vector<std::string_view>& words, std::int64_t offset) {
    DeviceKey key;
    key.index = parse_whole(value_of(words, "gpu"));
    if (!key.index || *key.index < 0) return log_.note("odd_row", offset);
    const std::int64_t pid = parse_whole(value_of(words, "pid")).value_or(-1);
    // What was seen in this moment comes again, or the first GPU behind a later one: a further moment.
    const bool is_new = seen_.empty() || seen_.count({*key.index, pid}) != 0 || *key.index < last_index_;
    if (is_new) {
      log_.begin_moment();
      seen_.clear();
      std::string text(value_of(words, "date"));
      text += (text.empty() ? "" : " ") + std::string(value_of(words, "time"));
      if (const auto time = parse_time(text)) log_.set_time(*time, offset);
    }
    seen_.insert({*key.index, pid});
    last_index_ = *key.index;
    const std::uint32_t device = log_.device(key);
    log_.set_text(device, Metric::index, value_of(words, "gpu"), {}, offset);
    if (has_pid_) {
      take_process(words, device, offset);
    } else {
      take_device(words, device, offset);
    }
  }

  void take_device(const std::vector<std::string_view>& words, std::uint32_t device, std::int64_t offset) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == "gpu" || names_[i] == "date" || names_[i] == "time") continue;
      const auto found = std::find_if(std::begin(kColumns), std::end(kColumns),
                                      [&](const MonitorColumn& column) { return column.name == names_[i]; });
      if (found == std::end(kColumns)) {
        log_.unknown_field(names_[i]);
      } else {
        log_.set_text(device, found->metric, words[i], found->unit, offset);
      }
    }
  }

  void take_process(const std::vector<std::string_view>& words, std::uint32_t device, std::int64_t offset) {
    log_.list_processes();
    const std::string_view pid_text = value_of(words, "pid");
    if (pid_text == "-") return;  // no process
    const auto pid = parse_whole(pid_text);
    if (!pid || *pid < 0) return log_.note("odd_value", offset);
    LogUse use;
    use.device = device;
    use.type = parse_process_type(value_of(words, "type"));
    for (std::size_t i = 0; i < std::size(kShares); ++i) {
      const auto share = parse_whole(value_of(words, kShares[i]));
      if (share && *share >= 0 && *share <= INT16_MAX) use.share_percent[i] = static_cast<std::int16_t>(*share);
    }
    if (const std::string_view used = value_of(words, "fb"); !used.empty()) {
      const auto bytes = parse_bytes(used, "MB");
      use.used_state = bytes ? ValueState::known : ValueState::not_supported;
      if (bytes) use.used_bytes = *bytes;
    }
    log_.add_use(use, *pid, value_of(words, "command"));
  }

  LogBuilder& log_;
  std::vector<std::string> names_;
  bool has_pid_ = false;
  std::set<std::pair<std::int64_t, std::int64_t>> seen_;  // of the moment: GPU and process
  std::int64_t last_index_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> parse_monitor_header(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line[0] != '#') return std::nullopt;
  std::vector<std::string> names;
  for (const std::string_view word : words_of(line.substr(1))) {
    names.emplace_back(word);
    for (char& c : names.back()) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  const auto gpu = std::find(names.begin(), names.end(), "gpu");
  if (gpu == names.end() || names.end() - gpu < 2 || gpu - names.begin() > 2) return std::nullopt;
  // What follows are its columns, and in front stand times alone: no sentence has these.
  if (std::any_of(names.begin(), gpu, [](const std::string& name) { return name != "date" && name != "time"; })) {
    return std::nullopt;
  }
  const std::string& second = *(gpu + 1);
  const bool is_known = second == "pid" || std::any_of(std::begin(kColumns), std::end(kColumns),
                                                       [&](const MonitorColumn& c) { return c.name == second; });
  return is_known ? std::optional(names) : std::nullopt;
}

bool is_monitor_units(std::string_view line) {
  line = trimmed(line);
  return !line.empty() && line[0] == '#' && line.find("Idx") != line.npos;
}

std::unique_ptr<Parser> monitor_parser(LogBuilder& log) {
  log.add_part("monitor");
  return std::make_unique<MonitorParser>(log);
}

}  // namespace vramscope::nvidia_smi
