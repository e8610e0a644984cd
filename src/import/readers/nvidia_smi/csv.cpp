// `nvidia-smi --query-gpu=… --format=csv` and --query-compute-apps, once or in a loop, and imitations of them.
#include <cstdlib>
#include <set>

#include "import/readers/nvidia_smi/csv_header.h"
#include "import/readers/nvidia_smi/parser.h"

namespace vramscope::nvidia_smi {

namespace {

// Rows of GPUs that are further apart are of two moments, those of processes far less: one call has one time for all.
constexpr std::int64_t kDeviceGapNs = 2'000'000'000;
constexpr std::int64_t kProcessGapNs = 50'000'000;
constexpr std::size_t kMostOpenLines = 64;  // in a quoted cell

class CsvParser : public Parser {
 public:
  explicit CsvParser(LogBuilder& log) : log_(log) {}
  void feed(const Line& line) override;
  void end() override;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::int64_t offset = 0;
    std::optional<LogTime> time;
    bool has_time = false;  // the layout has one, and this row does, readable or not
    DeviceKey key;
    bool has_key = false;
  };
  bool take_header(std::string_view text);
  void take_row(const Line& line, std::string_view text);
  void fit_process_name(std::vector<std::string>& cells) const;
  void read_keys(Row& row) const;
  bool is_new_moment(const Row& row, std::uint32_t device, std::int64_t pid);
  void begin(const Row& row);
  void take_device(Row& row);
  void take_process(const Row& row);
  void set_metrics(const Row& row, std::uint32_t device);
  void close_header();

  LogBuilder& log_;
  std::optional<CsvLayout> layout_;
  std::int64_t rows_ = 0;                                  // since the header
  bool is_fresh_ = true;                                   // no row since the header: the next one begins a moment
  std::set<std::pair<std::uint32_t, std::int64_t>> seen_;  // of the moment: devices, with the pid of a process
  std::optional<std::int64_t> moment_ns_;
  std::int64_t keyless_ = 0;  // rows without a device in the moment
  std::string open_;          // a row whose quote is not closed
  std::size_t open_lines_ = 0;
  std::int64_t open_offset_ = 0;
};

// A header without rows in a log of processes: none used the devices.
void CsvParser::close_header() {
  if (layout_ && layout_->has_pid && !layout_->is_other_query && rows_ == 0) {
    log_.begin_moment();
    log_.list_processes();
  }
}

bool CsvParser::take_header(std::string_view text) {
  const std::string_view first = trimmed(text.substr(0, text.find_first_of(",;\t")));
  if (layout_) {
    // A row's first cell is a value; a header's a name.
    const std::string_view name = trimmed(first.substr(0, first.find('[')));
    const bool is_name = name == layout_->columns[0].name || name == "timestamp" || name == "pid" || metric_named(name);
    if (!is_name) return false;
  }
  auto layout = parse_csv_header(text);
  if (!layout) return false;
  close_header();
  layout_ = std::move(layout);
  rows_ = 0;
  is_fresh_ = true;
  return true;
}

void CsvParser::feed(const Line& line) {
  std::string_view text = line.text;
  if (!open_.empty()) {
    open_ += '\n';
    open_ += text;
    text = open_;
  } else if (trimmed(text).empty() || text[0] == '#' || take_header(text)) {
    if (!line.has_end) log_.note("cut_row", line.offset);
    return;
  }
  if (!layout_) return;
  bool is_open = false;
  std::vector<std::string> cells = split_cells(text, layout_->separator, &is_open);
  if (is_open && open_lines_ < kMostOpenLines && line.has_end) {
    if (open_.empty()) {
      open_ = std::string(text);
      open_offset_ = line.offset;
    }
    ++open_lines_;
    return;
  }
  const Line whole{text, open_.empty() ? line.offset : open_offset_, line.has_end};
  const std::string copy(text);
  open_.clear();
  open_lines_ = 0;
  take_row({copy, whole.offset, whole.has_end}, copy);
}

// A process may have separators in its name, and nvidia-smi does not quote.
void CsvParser::fit_process_name(std::vector<std::string>& cells) const {
  if (cells.size() <= layout_->columns.size()) return;
  for (std::size_t i = 0; i < layout_->columns.size(); ++i) {
    if (layout_->columns[i].role != CsvRole::process_name) continue;
    while (cells.size() > layout_->columns.size()) {
      cells[i] += std::string(1, layout_->separator) + " " + cells[i + 1];
      cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

void CsvParser::read_keys(Row& row) const {
  std::string date;
  std::string time;
  bool has_own_index = false;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const CsvColumn& column = layout_->columns[i];
    const std::string& cell = row.cells[i];
    if (column.role == CsvRole::time) time = cell;
    if (column.role == CsvRole::date) date = cell;
    if (column.role == CsvRole::gpu_index) {
      // Whoever writes a column "gpu" beside "index" means the GPU with it.
      std::string_view digits = cell;
      if (digits.substr(0, 3) == "GPU" || digits.substr(0, 3) == "gpu") digits.remove_prefix(3);
      if (const auto index = parse_whole(digits)) {
        row.key.index = index;
        has_own_index = true;
      }
    }
    if (column.role != CsvRole::metric) continue;
    if (column.metric == Metric::index && !has_own_index) row.key.index = parse_whole(cell);
    if (column.metric == Metric::uuid) row.key.uuid = cell;
    if (column.metric == Metric::pci_bus_id) row.key.bus_id = cell;
  }
  if (!date.empty()) time = time.empty() ? date : date + " " + time;
  row.has_time = !time.empty();
  row.time = parse_time(time);
  row.has_key = row.key.index || !row.key.uuid.empty() || !row.key.bus_id.empty();
}

bool CsvParser::is_new_moment(const Row& row, std::uint32_t device, std::int64_t pid) {
  if (is_fresh_ || seen_.count({device, pid}) != 0) return true;
  if (!row.time || !moment_ns_) return false;
  const std::int64_t gap_ns = std::llabs(row.time->ns - *moment_ns_);
  return gap_ns > (layout_->has_pid ? kProcessGapNs : kDeviceGapNs);
}

void CsvParser::begin(const Row& row) {
  log_.begin_moment();
  seen_.clear();
  is_fresh_ = false;
  keyless_ = 0;
  moment_ns_.reset();
  if (row.time) {
    moment_ns_ = row.time->ns;
    log_.set_time(*row.time, row.offset);
  }
}

void CsvParser::set_metrics(const Row& row, std::uint32_t device) {
  const bool has_own_index = layout_->find(CsvRole::gpu_index) != nullptr;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const CsvColumn& column = layout_->columns[i];
    if (column.role == CsvRole::unknown ||
        (has_own_index && column.role == CsvRole::metric && column.metric == Metric::index)) {
      log_.unknown_field(column.name);
    } else if (column.role == CsvRole::metric) {
      log_.set_text(device, column.metric, row.cells[i], column.unit, row.offset);
      if (column.metric == Metric::driver_version) log_.set_driver(row.cells[i]);
    }
  }
}

void CsvParser::take_device(Row& row) {
  // Rows without a device that have the same time are those of the GPUs in turn.
  if (!row.has_key) {
    const bool is_same_time = row.time && moment_ns_ && row.time->ns == *moment_ns_ && !is_fresh_;
    if (!is_same_time) is_fresh_ = true;
    row.key.index = is_same_time ? keyless_ : 0;
    if (is_same_time) log_.note("row_without_device", row.offset);
  }
  const std::uint32_t device = log_.device(row.key);
  if (is_new_moment(row, device, -1)) begin(row);
  seen_.insert({device, -1});
  ++keyless_;
  set_metrics(row, device);
}

void CsvParser::take_process(const Row& row) {
  LogUse use;
  std::optional<std::int64_t> pid;
  std::string_view name;
  std::string_view used;
  std::string_view unit;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const CsvRole role = layout_->columns[i].role;
    if (role == CsvRole::pid) pid = parse_whole(row.cells[i]);
    if (role == CsvRole::process_name) name = row.cells[i];
    if (role == CsvRole::used_memory) {
      used = row.cells[i];
      unit = layout_->columns[i].unit;
    }
  }
  if (!pid || *pid < 0) return log_.note("odd_row", row.offset);
  use.device = log_.device(row.key);
  if (is_new_moment(row, use.device, *pid)) begin(row);
  seen_.insert({use.device, *pid});
  set_metrics(row, use.device);
  if (const auto marker = parse_marker(used)) {
    use.used_state = marker->state;
  } else if (const auto bytes = parse_bytes(used, unit)) {
    use.used_bytes = *bytes;
    use.used_state = ValueState::known;
  } else if (!used.empty()) {
    log_.note("odd_value", row.offset);
  }
  log_.add_use(use, *pid, name);
}

void CsvParser::take_row(const Line& line, std::string_view text) {
  if (layout_->is_other_query) {
    for (const CsvColumn& column : layout_->columns) log_.unknown_field(column.name);
    return;
  }
  Row row;
  row.offset = line.offset;
  row.cells = split_cells(text, layout_->separator);
  fit_process_name(row.cells);
  const std::size_t columns = layout_->columns.size();
  // Of the last line the last cell may be half of itself, unless it ends with its unit or a bracket.
  const std::string& last = row.cells.back();
  const std::string unit = " " + layout_->columns.back().unit;
  const bool is_closed =
      (!last.empty() && last.back() == ']') ||
      (unit.size() > 1 && last.size() > unit.size() && last.compare(last.size() - unit.size(), unit.size(), unit) == 0);
  const bool may_be_cut = !line.has_end && (row.cells.size() < columns || !is_closed);
  if (may_be_cut) {
    log_.note("cut_row", line.offset);
    row.cells.pop_back();
    if (row.cells.empty()) return;
  } else if (row.cells.size() != columns) {
    // What stands between the rows of a log: messages of nvidia-smi, of a shell.
    return log_.note(row.cells.size() == 1 ? "other_line" : "odd_row", line.offset);
  }
  row.cells.resize(std::min(row.cells.size(), columns));
  read_keys(row);
  if (may_be_cut && !row.has_key && layout_->names_devices()) return;
  if (row.has_time && !row.time && !may_be_cut) return log_.note("odd_time", line.offset);
  if (layout_->has_pid) {
    const bool has_pid_cell = &layout_->columns[0] + row.cells.size() > layout_->find(CsvRole::pid);
    if (!has_pid_cell) return;
    take_process(row);
  } else {
    take_device(row);
  }
  ++rows_;
}

void CsvParser::end() {
  if (!open_.empty()) log_.note("cut_row", open_offset_);
  open_.clear();
  open_lines_ = 0;
  close_header();
  layout_.reset();
  rows_ = 0;
  is_fresh_ = true;
}

}  // namespace

std::unique_ptr<Parser> csv_parser(LogBuilder& log) {
  log.add_part("csv");
  return std::make_unique<CsvParser>(log);
}

}  // namespace vramscope::nvidia_smi
