#include "import/readers/rocm_smi/parser.h"

#include <algorithm>
#include <set>

#include "import/readers/nvidia_smi/csv_header.h"
#include "import/readers/rocm_smi/fields.h"

namespace vramscope::rocm_smi {

namespace {

using namespace nvidia_smi;

constexpr std::int64_t kMostIndex = 4096;

std::optional<std::int64_t> index_in(std::string_view text) {
  const auto index = parse_whole(text);
  return index && *index >= 0 && *index < kMostIndex ? index : std::nullopt;
}

bool is_banner(std::string_view text) {
  return text.find("ROCm System Management Interface") != text.npos && text[0] == '=';
}

// A name of the short table and where its cells begin, in characters.
struct Column {
  std::string name;
  std::size_t begin = 0;
};

// Names stand apart by two blanks or more: "Temp (DieEdge)" is one.
std::vector<Column> columns_of(std::string_view line) {
  std::vector<Column> columns;
  for (std::size_t at = line.find_first_not_of(' '); at != line.npos; at = line.find_first_not_of(' ', at)) {
    std::size_t end = line.find("  ", at);
    if (end == line.npos) end = line.size();
    columns.push_back({std::string(line.substr(at, end - at)), at});
    at = end;
  }
  return columns;
}

bool is_table_header(std::string_view line) {
  const std::vector<Column> columns = columns_of(line);
  if (columns.size() < 4 || (columns[0].name != "GPU" && columns[0].name != "Device")) return false;
  const auto has = [&](std::string_view name) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  };
  return has("SCLK") && has("GPU%");
}

bool is_process_header(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.substr(0, 3) == "PID" && text.find("PROCESS NAME") != text.npos && text.find("VRAM USED") != text.npos;
}

// Between tabs, or between two blanks and more.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const std::string_view between = line.find('\t') != line.npos ? "\t" : "  ";
  while (!line.empty()) {
    const std::size_t end = line.find(between);
    const std::string_view cell = trimmed(line.substr(0, end));
    if (!cell.empty()) cells.push_back(cell);
    line.remove_prefix(end == line.npos ? line.size() : end + between.size());
  }
  return cells;
}

class RocmParser : public Parser {
 public:
  explicit RocmParser(LogBuilder& log) : log_(log) {}

  void feed(const Line& line) override {
    const std::string_view text = trimmed(line.text);
    if (text.empty() || text[0] == '#') return;
    if (is_banner(text)) {
      leave();
      seen_.clear();
      return;
    }
    if (text.find_first_not_of('=') == text.npos) return;
    // The last value may be half of itself.
    if (!line.has_end) return log_.note("cut_line", line.offset);
    if (const auto time = parse_time(text)) {
      time_ = time;
      return;
    }
    if (text[0] == '=') return leave();  // the title of the next part
    if (text.substr(0, 4) == "GPU[") return take_named(text, line.offset);
    if (is_table_header(line.text)) {
      leave();
      columns_ = columns_of(line.text);
      return;
    }
    if (is_process_header(text)) {
      leave();
      is_in_processes_ = true;
      begin_if_told({-1, "processes"}, line.offset);
      log_.list_processes();
      return;
    }
    if (is_rocm_csv_header(text)) {
      leave();
      names_ = split_cells(text, ',');
      return;
    }
    if (is_in_processes_) return take_process(text, line.offset);
    if (!columns_.empty()) return take_row(line.text, line.offset);
    if (!names_.empty()) return take_csv(text, line.offset);
    take_driver(text);
  }
  void end() override { leave(); }

 private:
  void leave() {
    columns_.clear();
    names_.clear();
    is_in_processes_ = false;
  }

  // What has been told in this moment comes again: a further moment.
  void begin_if_told(std::pair<std::int64_t, std::string> what, std::int64_t offset) {
    if (!seen_.empty() && seen_.count(what) == 0) {
      seen_.insert(std::move(what));
      return;
    }
    seen_.clear();
    seen_.insert(std::move(what));
    edges_.clear();
    log_.begin_moment();
    if (time_) log_.set_time(*time_, offset);
    time_.reset();
  }

  std::uint32_t device(std::int64_t index, std::int64_t offset) {
    DeviceKey key;
    key.index = index;
    const std::uint32_t found = log_.device(key);
    log_.set_text(found, Metric::index, std::to_string(index), {}, offset);
    if (std::find(devices_.begin(), devices_.end(), found) == devices_.end()) devices_.push_back(found);
    return found;
  }

  void take_value(std::int64_t index, std::string_view name, std::string_view value, std::int64_t offset) {
    const Field* field = rocm_field(name);
    const std::uint32_t at = device(index, offset);
    if (field == nullptr) {
      if (plain_name(name) == "unique id") {
        log_.learn_uuid(at, trimmed(value));
      } else {
        log_.unknown_field(trimmed(name));
      }
      return;
    }
    if (field->metric == Metric::temperature_gpu) {
      const bool is_edge = field->name.find("edge") != field->name.npos;
      if (is_edge && plain_value(value) != "N/A") edges_.insert(index);
      if (!is_edge && edges_.count(index) != 0) return log_.unknown_field(trimmed(name));
    }
    log_.set_text(at, field->metric, plain_value(value), field->unit, offset);
  }

  // "GPU[0]          : VRAM Total Memory (B): 4278190080"
  void take_named(std::string_view text, std::int64_t offset) {
    const std::size_t close = text.find(']');
    const std::size_t colon = text.find(':', close);
    const std::size_t second = colon == text.npos ? text.npos : text.find(':', colon + 1);
    const auto index = close == text.npos ? std::nullopt : index_in(text.substr(4, close - 4));
    if (!index || second == text.npos) return log_.note("odd_row", offset);
    const std::string_view name = trimmed(text.substr(colon + 1, second - colon - 1));
    begin_if_told({*index, plain_name(name)}, offset);
    take_value(*index, name, text.substr(second + 1), offset);
  }

  // Cells stand where their names begin; a degree sign is one character of two bytes.
  void take_row(std::string_view line, std::int64_t offset) {
    std::vector<std::size_t> starts;  // byte of each character
    for (std::size_t i = 0; i < line.size(); ++i) {
      if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) starts.push_back(i);
    }
    const auto cell = [&](std::size_t column) {
      const std::size_t begin = columns_[column].begin;
      if (begin >= starts.size()) return std::string_view();
      const std::size_t next = column + 1 < columns_.size() ? columns_[column + 1].begin : starts.size();
      const std::size_t end = next < starts.size() ? starts[next] : line.size();
      return trimmed(line.substr(starts[begin], end - starts[begin]));
    };
    const auto index = index_in(cell(0));
    if (!index) {
      // The names' second line, or the table is over.
      if (line.find('(') == line.npos) leave();
      return;
    }
    begin_if_told({*index, "table"}, offset);
    const std::uint32_t at = device(*index, offset);
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      const Field* field = rocm_column(columns_[i].name);
      if (field == nullptr) {
        log_.unknown_field(columns_[i].name);
      } else {
        log_.set_text(at, field->metric, plain_value(cell(i)), field->unit, offset);
      }
    }
  }

  // "card0,0,21458059264,27856896"
  void take_csv(std::string_view text, std::int64_t offset) {
    constexpr std::string_view kCard = "card";
    const std::vector<std::string> cells = split_cells(text, ',');
    const std::string_view first = cells[0];
    const auto index = index_in(first.substr(first.substr(0, kCard.size()) == kCard ? kCard.size() : 0));
    if (!index || cells.size() != names_.size()) return log_.note("odd_row", offset);
    begin_if_told({*index, "csv"}, offset);
    for (std::size_t i = 1; i < cells.size(); ++i) take_value(*index, names_[i], cells[i], offset);
  }

  // PID, name, number of GPUs, bytes of VRAM, bytes of SDMA, occupancy. Which GPUs is not told: it is known when there
  // is one.
  void take_process(std::string_view text, std::int64_t offset) {
    const std::vector<std::string_view> cells = cells_of(text);
    const auto pid = cells.size() < 4 ? std::nullopt : parse_whole(cells[0]);
    if (!pid || *pid < 0) {
      if (!text.empty() && text[0] >= '0' && text[0] <= '9') log_.note("odd_row", offset);
      return;
    }
    const auto gpus = parse_whole(cells[2]);
    if (gpus == 0) return log_.note("process_without_device", offset);
    if (devices_.size() > 1 || gpus.value_or(1) > 1) return log_.note("process_on_unknown_device", offset);
    LogUse use;
    use.device = devices_.empty() ? log_.device({}) : devices_[0];
    if (devices_.empty()) devices_.push_back(use.device);
    use.type = LogProcessType::compute;
    const auto bytes = parse_bytes(cells[3], "B");
    use.used_state = bytes ? ValueState::known : ValueState::not_supported;
    if (bytes) use.used_bytes = *bytes;
    log_.add_use(use, *pid, cells[1]);
  }

  void take_driver(std::string_view text) {
    constexpr std::string_view kDriver = "Driver version:";
    if (text.substr(0, kDriver.size()) == kDriver) log_.set_driver(trimmed(text.substr(kDriver.size())));
  }

  LogBuilder& log_;
  std::vector<Column> columns_;     // of the short table
  std::vector<std::string> names_;  // of --csv
  bool is_in_processes_ = false;
  std::set<std::pair<std::int64_t, std::string>> seen_;  // of the moment: GPU and what was told
  std::set<std::int64_t> edges_;                         // of the moment: GPUs whose edge told a temperature
  std::vector<std::uint32_t> devices_;
  std::optional<LogTime> time_;  // stood in front of what comes
};

class XpuParser : public Parser {
 public:
  explicit XpuParser(LogBuilder& log) : log_(log) {}

  void feed(const Line& line) override {
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return;
    if (!line.has_end) return log_.note("cut_line", line.offset);
    if (is_xpu_header(text)) {
      names_ = split_cells(text, ',');
      return;
    }
    if (names_.empty()) return;
    const std::vector<std::string> cells = split_cells(text, ',');
    const auto index = cells.size() < 2 ? std::nullopt : index_in(cells[1]);
    if (!index || cells.size() != names_.size()) return log_.note("odd_row", line.offset);
    if (seen_.empty() || seen_.count(*index) != 0 || cells[0] != time_) {
      seen_.clear();
      time_ = cells[0];
      log_.begin_moment();
      if (const auto time = parse_time(time_)) log_.set_time(*time, line.offset);
    }
    seen_.insert(*index);
    DeviceKey key;
    key.index = *index;
    const std::uint32_t at = log_.device(key);
    log_.set_text(at, Metric::index, std::to_string(*index), {}, line.offset);
    for (std::size_t i = 2; i < cells.size(); ++i) {
      const Field* field = xpu_field(names_[i]);
      if (field == nullptr) {
        log_.unknown_field(names_[i]);
      } else {
        log_.set_text(at, field->metric, plain_value(cells[i]), field->unit, line.offset);
      }
    }
  }
  void end() override {}

 private:
  LogBuilder& log_;
  std::vector<std::string> names_;
  std::set<std::int64_t> seen_;  // of the moment
  std::string time_;
};

}  // namespace

bool is_rocm_csv_header(std::string_view line) {
  const std::string_view text = trimmed(line);
  constexpr std::string_view kFirst = "device,";
  if (text.substr(0, kFirst.size()) != kFirst) return false;
  const std::vector<std::string> names = split_cells(text, ',');
  return std::any_of(names.begin() + 1, names.end(),
                     [](const std::string& name) { return rocm_field(name) != nullptr; });
}

bool is_rocm_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return false;
  if (is_banner(text) || is_table_header(line) || is_rocm_csv_header(text)) return true;
  if (text.substr(0, 4) != "GPU[") return false;
  const std::size_t colon = text.find(':');
  const std::size_t second = colon == text.npos ? text.npos : text.find(':', colon + 1);
  return second != text.npos && rocm_field(text.substr(colon + 1, second - colon - 1)) != nullptr;
}

bool is_xpu_header(std::string_view line) {
  const std::vector<std::string> names = split_cells(trimmed(line), ',');
  return names.size() > 2 && names[0] == "Timestamp" && names[1] == "DeviceId";
}

std::unique_ptr<Parser> rocm_parser(LogBuilder& log) {
  log.add_part("rocm-smi");
  return std::make_unique<RocmParser>(log);
}

std::unique_ptr<Parser> xpu_parser(LogBuilder& log) {
  log.add_part("xpu-smi");
  return std::make_unique<XpuParser>(log);
}

}  // namespace vramscope::rocm_smi
