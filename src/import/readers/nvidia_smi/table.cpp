// The table that `nvidia-smi` prints without options, of drivers 270 to 610: once, or hundreds behind each other.
#include <algorithm>
#include <array>
#include <map>

#include "import/readers/nvidia_smi/parser.h"
#include "import/readers/nvidia_smi/process_type.h"

namespace vramscope::nvidia_smi {

namespace {

// What stands between the bars; of a line that is a row of the box.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t at = line.find('|');
  while (at != line.npos) {
    const std::size_t end = line.find('|', at + 1);
    if (end == line.npos) break;
    cells.push_back(line.substr(at + 1, end - at - 1));
    at = end;
  }
  return cells;
}

// "580.126.09" behind "Driver Version:".
std::string_view behind(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == line.npos) return {};
  const auto words = words_of(line.substr(at + label.size()));
  return words.empty() ? std::string_view() : words[0];
}

class TableParser : public Parser {
 public:
  explicit TableParser(LogBuilder& log) : log_(log) {}
  void feed(const Line& line) override;
  void end() override {
    if (part_ != Part::outside && part_ != Part::done) log_.note("cut_table", begin_offset_);
    part_ = Part::outside;
  }

 private:
  enum class Part { outside, heading, gpus, between, mig_heading, migs, process_heading, processes, done };

  void begin(const Line& line);
  void take_rule(std::string_view line);
  void take_row(const Line& line);
  void take_gpu(const std::vector<std::string_view>& cells, std::int64_t offset);
  bool take_identity(const std::vector<std::string_view>& cells, std::int64_t offset);
  void take_usage(const std::vector<std::string_view>& cells, std::int64_t offset);
  void take_mig(const std::vector<std::string_view>& cells, std::int64_t offset);
  void take_process(const std::vector<std::string_view>& cells, std::int64_t offset);
  void set(std::uint32_t device, Metric metric, std::string_view text, std::int64_t offset) {
    log_.set_text(device, metric, text, {}, offset);
  }

  LogBuilder& log_;
  Part part_ = Part::outside;
  std::int64_t begin_offset_ = 0;
  std::optional<LogTime> time_;  // of the line in front of the table
  std::int64_t time_offset_ = 0;
  std::optional<std::uint32_t> gpu_;
  int gpu_lines_ = 0;  // of the row at hand
  std::map<std::int64_t, std::uint32_t> by_index_;
  std::optional<std::uint32_t> mig_;
  bool has_instances_ = false;  // the process table has GI and CI
  bool has_type_ = false;
};

void TableParser::begin(const Line& line) {
  if (part_ != Part::outside && part_ != Part::done) log_.note("cut_table", begin_offset_);
  log_.begin_moment();
  begin_offset_ = line.offset;
  if (time_) log_.set_time(*time_, time_offset_);
  time_.reset();
  part_ = Part::heading;
  gpu_.reset();
  mig_.reset();
  by_index_.clear();
  has_instances_ = has_type_ = false;
  // The newest tables name the kernel's part and the user's.
  std::string_view driver = behind(line.text, "Driver Version:");
  if (driver.empty()) driver = behind(line.text, "KMD Version:");
  std::string_view cuda = behind(line.text, "CUDA Version:");
  if (cuda.empty()) cuda = behind(line.text, "CUDA UMD Version:");
  if (!driver.empty() && !parse_marker(driver)) log_.set_driver(driver);
  if (!cuda.empty() && !parse_marker(cuda)) log_.set_cuda(cuda);
}

void TableParser::feed(const Line& line) {
  const std::string_view text = trimmed(line.text);
  if (text.find("NVIDIA-SMI") != text.npos && text.find('|') != text.npos) return begin(line);
  // A table whose first part somebody left out.
  if (part_ == Part::outside && text.find("MIG devices:") != text.npos && text.find('|') != text.npos) begin(line);
  if (part_ == Part::outside || part_ == Part::done) {
    if (const auto time = parse_time(text)) {
      time_ = time;
      time_offset_ = line.offset;
    }
    if (part_ == Part::outside) {
      if (!line.has_end && !text.empty()) log_.note("cut_line", line.offset);
      return;
    }
  }
  if (text.empty()) return;
  constexpr std::size_t kBox = 60;  // no table is narrower
  const bool is_rule = text.size() > kBox && text[0] == '+' && text.back() == '+';
  if (!line.has_end && !is_rule) log_.note("cut_line", line.offset);
  if (text[0] == '+' || text[0] == '\'' || text.substr(0, 3) == "|--" || text.substr(0, 3) == "|==") {
    return take_rule(text);
  }
  if (text[0] == '|') return take_row(line);
  if (const auto time = parse_time(text)) {
    time_ = time;
    time_offset_ = line.offset;
  }
}

// A line of '-' or '=' between two parts.
void TableParser::take_rule(std::string_view line) {
  const bool is_head_end = line.find("==") != line.npos;
  if (is_head_end && part_ == Part::heading) part_ = Part::gpus;
  if (is_head_end && part_ == Part::mig_heading) part_ = Part::migs;
  if (is_head_end && part_ == Part::process_heading) {
    part_ = Part::processes;
    log_.list_processes();
    return;
  }
  if (part_ == Part::processes) part_ = Part::done;
  gpu_lines_ = 0;
}

void TableParser::take_row(const Line& line) {
  const std::vector<std::string_view> cells = cells_of(line.text);
  if (cells.empty()) return log_.note(line.has_end ? "odd_row" : "cut_row", line.offset);
  if (line.text.find("MIG devices:") != line.text.npos) {
    part_ = Part::mig_heading;
  } else if (cells.size() == 1 && line.text.find("rocesses:") != line.text.npos) {
    part_ = Part::process_heading;
  } else if (part_ == Part::process_heading) {
    // "|  GPU   GI   CI   PID   Type   Process name": what the rows will have.
    const auto words = words_of(cells[0]);
    const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    has_instances_ = has_instances_ || has("GI");
    has_type_ = has_type_ || has("Type");
  } else if (part_ == Part::gpus) {
    take_gpu(cells, line.offset);
  } else if (part_ == Part::migs) {
    take_mig(cells, line.offset);
  } else if (part_ == Part::processes) {
    take_process(cells, line.offset);
  }
}

// "   0  NVIDIA H200      On  |   00000000:8D:00.0 Off |          0 ". False: the line is none of these.
bool TableParser::take_identity(const std::vector<std::string_view>& cells, std::int64_t offset) {
  std::vector<std::string_view> words = words_of(cells[0]);
  const std::vector<std::string_view> place = words_of(cells[1]);
  if (words.size() < 2 || place.empty()) return false;
  if (words[0].back() == '.') words[0].remove_suffix(1);  // "0." of the oldest
  const auto index = parse_whole(words[0]);
  if (!index || *index < 0) return false;
  DeviceKey key;
  key.index = index;
  key.bus_id = place[0];
  gpu_ = log_.device(key);
  by_index_[*index] = *gpu_;
  // The last word is the persistence mode or, on Windows, the driver model, where the layout has one.
  std::size_t name_end = words.size();
  const std::string_view last = words.back();
  constexpr std::array<std::string_view, 6> kModes = {"On", "Off", "WDDM", "TCC", "MCDM", "N/A"};
  if (words.size() > 2 && std::find(kModes.begin(), kModes.end(), last) != kModes.end()) {
    --name_end;
    const bool is_model = last == "WDDM" || last == "TCC" || last == "MCDM";
    set(*gpu_, is_model ? Metric::driver_model_current : Metric::persistence_mode, last, offset);
  }
  const char* const begin = words[1].data();
  const std::string_view name(
      begin, static_cast<std::size_t>(words[name_end - 1].data() + words[name_end - 1].size() - begin));
  set(*gpu_, Metric::name, name, offset);
  set(*gpu_, Metric::index, words[0], offset);
  set(*gpu_, Metric::pci_bus_id, place[0], offset);
  if (place.size() > 1) set(*gpu_, Metric::display_active, place[1], offset);
  // "Volatile Uncorr. ECC": a number, or whether it is on.
  const std::string_view errors = trimmed(cells[2]);
  if (parse_whole(errors)) set(*gpu_, Metric::ecc_errors_uncorrected_volatile_total, errors, offset);
  if (errors == "Off") set(*gpu_, Metric::ecc_mode_current, errors, offset);
  return true;
}

// " N/A   29C    P0             76W /  700W |       0MiB / 143771MiB |      0%      Default ".
void TableParser::take_usage(const std::vector<std::string_view>& cells, std::int64_t offset) {
  const std::uint32_t gpu = *gpu_;
  const std::vector<std::string_view> words = words_of(cells[0]);
  constexpr std::array<Metric, 3> kFirst = {Metric::fan_speed, Metric::temperature_gpu, Metric::pstate};
  for (std::size_t i = 0; i < std::min(words.size(), kFirst.size()); ++i) set(gpu, kFirst[i], words[i], offset);
  const std::size_t slash = cells[0].find(" / ");
  if (words.size() > 3 && slash != cells[0].npos) {
    const std::string_view draw = cells[0].substr(0, slash);
    const auto before = words_of(draw);
    // The oldest have a blank in front of the unit: "77 W / 225W".
    const bool is_parted = before.size() > 1 && before.back() == "W";
    const std::string_view drawn = before.empty() ? std::string_view() : before[before.size() - (is_parted ? 2 : 1)];
    set(gpu, Metric::power_draw, drawn, offset);
    set(gpu, Metric::enforced_power_limit, cells[0].substr(slash + 3), offset);
  }
  const std::size_t parting = cells[1].find('/');
  const std::string_view memory = trimmed(cells[1]);
  if (const auto marker = parse_marker(memory)) {
    log_.set(gpu, Metric::memory_used, *marker);
    log_.set(gpu, Metric::memory_total, *marker);
  } else if (parting != cells[1].npos) {
    // "1% 11MB / 5375MB" has a share in front.
    const auto used = words_of(cells[1].substr(0, parting));
    if (!used.empty()) set(gpu, Metric::memory_used, used.back(), offset);
    set(gpu, Metric::memory_total, cells[1].substr(parting + 1), offset);
  }
  const std::vector<std::string_view> load = words_of(cells[2]);
  if (load.empty()) return;
  set(gpu, Metric::utilization_gpu, load[0], offset);
  if (load.size() > 1) {
    const std::size_t at = static_cast<std::size_t>(load[1].data() - cells[2].data());
    set(gpu, Metric::compute_mode, cells[2].substr(at), offset);
  }
}

void TableParser::take_gpu(const std::vector<std::string_view>& cells, std::int64_t offset) {
  if (cells.size() < 3) return log_.note("odd_row", offset);
  if (gpu_lines_ == 0) {
    if (take_identity(cells, offset)) {
      gpu_lines_ = 1;
    } else {
      log_.note("odd_row", offset);
    }
    return;
  }
  ++gpu_lines_;
  if (gpu_lines_ == 2) return take_usage(cells, offset);
  const std::string_view mode = trimmed(cells[2]);
  if (gpu_lines_ == 3 && !mode.empty() && mode[0] != '*') {
    set(*gpu_, Metric::mig_mode_current, mode, offset);
  } else if (gpu_lines_ == 3 && !mode.empty()) {
    // "Enabled*", "Disabled*": another mode is pending.
    set(*gpu_, Metric::mig_mode_current, mode.substr(0, mode.find('*')), offset);
  }
}

// "  0    2   0   0  |  11091MiB / 40448MiB  | 60      0 |  3   0    3    0    3 ", below it the BAR1 memory.
void TableParser::take_mig(const std::vector<std::string_view>& cells, std::int64_t offset) {
  if (cells.size() < 3) return log_.note("odd_row", offset);
  const std::vector<std::string_view> ids = words_of(cells[0]);
  const std::size_t parting = cells[1].find('/');
  const bool is_first = ids.size() == 4;
  if (is_first) {
    const auto gpu = parse_whole(ids[0]);
    const auto found = gpu ? by_index_.find(*gpu) : by_index_.end();
    DeviceKey key;
    key.index = gpu;
    const std::uint32_t parent = found != by_index_.end() ? found->second : log_.device(key);
    mig_ = log_.mig_device(parent, parse_whole(ids[3]), parse_whole(ids[1]), parse_whole(ids[2]));
  } else if (!ids.empty()) {
    return log_.note("odd_row", offset);
  }
  if (!mig_ || parting == cells[1].npos) return;
  set(*mig_, is_first ? Metric::memory_used : Metric::bar1_used, cells[1].substr(0, parting), offset);
  set(*mig_, is_first ? Metric::memory_total : Metric::bar1_total, cells[1].substr(parting + 1), offset);
  const auto counts = words_of(cells[2]);
  if (is_first && !counts.empty()) set(*mig_, Metric::mig_multiprocessors, counts[0], offset);
}

// "    0    2    0            21180      C   /root/tools/memhog                     2296MiB ".
void TableParser::take_process(const std::vector<std::string_view>& cells, std::int64_t offset) {
  // A name may hold bars.
  const std::string_view row(cells[0].data(),
                             static_cast<std::size_t>(cells.back().data() + cells.back().size() - cells[0].data()));
  const std::vector<std::string_view> words = words_of(row);
  const std::size_t pid_at = has_instances_ ? 3 : 1;
  const std::size_t name_at = pid_at + (has_type_ ? 2 : 1);
  // "0." of the oldest.
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  const auto gpu = parse_whole(first.substr(0, first.find('.')));
  if (!gpu) {
    // "No running processes found", "Not Supported".
    const bool is_known = row.find("No running") != row.npos || row.find("Not Supported") != row.npos ||
                          row.find("not supported") != row.npos;
    return is_known ? void() : log_.note("odd_row", offset);
  }
  if (words.size() <= pid_at) {
    // "|    0                  Not Supported |"
    return row.find("Supported") != row.npos ? void() : log_.note("odd_row", offset);
  }
  const auto pid = parse_whole(words[pid_at]);
  if (!pid || *pid < 0) return row.find("Supported") != row.npos ? void() : log_.note("odd_row", offset);
  LogUse use;
  const auto known = by_index_.find(*gpu);
  DeviceKey key;
  key.index = gpu;
  use.device = known != by_index_.end() ? known->second : log_.device(key);
  if (has_instances_) {
    const auto instance = [](std::string_view word) {
      const auto number = parse_whole(word);
      return number && *number >= 0 && *number < INT32_MAX ? static_cast<std::int32_t>(*number) : -1;
    };
    use.gpu_instance = instance(words[1]);
    use.compute_instance = instance(words[2]);
  }
  if (has_type_ && words.size() > pid_at + 1) use.type = parse_process_type(words[pid_at + 1]);
  const std::string_view used = words.back();
  const bool has_used = words.size() > name_at;
  const auto marker = parse_marker(used);
  const auto bytes = parse_bytes(used);
  if (has_used && marker) {
    use.used_state = marker->state;
  } else if (has_used && bytes) {
    use.used_bytes = *bytes;
    use.used_state = ValueState::known;
  } else {
    log_.note("odd_value", offset);
  }
  std::string_view name;
  if (words.size() > name_at + 1) {
    const char* const begin = words[name_at].data();
    const std::string_view last = words[words.size() - 2];
    name = std::string_view(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
  }
  log_.add_use(use, *pid, name);
}

}  // namespace

std::unique_ptr<Parser> table_parser(LogBuilder& log) {
  log.add_part("table");
  return std::make_unique<TableParser>(log);
}

}  // namespace vramscope::nvidia_smi
