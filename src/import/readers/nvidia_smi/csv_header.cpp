#include "import/readers/nvidia_smi/csv_header.h"

#include <algorithm>

#include "import/readers/nvidia_smi/cells.h"
#include "import/readers/nvidia_smi/times.h"

namespace vramscope::nvidia_smi {

namespace {

constexpr std::size_t kMostColumns = 1024;

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Names that nvidia-smi does not have; what their authors mean is plain.
constexpr std::string_view kTimes[] = {"time", "datetime", "date_time", "ts", "Timestamp", "Time", "unix_time"};
constexpr std::string_view kIndexes[] = {"gpu", "GPU", "gpu_id", "gpu_index", "gpu id", "device", "device_id"};

CsvColumn column_of(std::string_view cell, bool has_pid) {
  CsvColumn column;
  std::string_view name = trimmed(cell);
  if (!name.empty() && name.back() == ']') {
    const std::size_t open = name.rfind('[');
    if (open != name.npos) {
      column.unit = std::string(name.substr(open + 1, name.size() - open - 2));
      name = trimmed(name.substr(0, open));
    }
  }
  column.name = std::string(name);
  if (name == "timestamp" || is_one_of(name, kTimes)) {
    column.role = CsvRole::time;
  } else if (name == "date" || name == "Date") {
    column.role = CsvRole::date;
  } else if (name == "pid") {
    column.role = CsvRole::pid;
  } else if (name == "process_name" || (has_pid && name == "name")) {
    column.role = CsvRole::process_name;
  } else if (name == "used_gpu_memory" || (has_pid && name == "used_memory")) {
    column.role = CsvRole::used_memory;
  } else if (is_one_of(name, kIndexes)) {
    column.role = CsvRole::gpu_index;
  } else if (const auto metric = metric_named(name)) {
    column.role = CsvRole::metric;
    column.metric = *metric;
  }
  return column;
}

// A name that only nvidia-smi would use.
bool is_telling(const CsvColumn& column) {
  if (column.role == CsvRole::used_memory) return true;
  return column.role == CsvRole::metric && column.name.find('.') != std::string::npos;
}

char separator_of(std::string_view line) {
  char best = ',';
  auto most = std::count(line.begin(), line.end(), ',');
  for (const char each : {';', '\t'}) {
    const auto count = std::count(line.begin(), line.end(), each);
    if (count > most) {
      most = count;
      best = each;
    }
  }
  return best;
}

}  // namespace

const CsvColumn* CsvLayout::find(CsvRole role) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const CsvColumn& column) { return column.role == role; });
  return found == columns.end() ? nullptr : &*found;
}

bool CsvLayout::names_devices() const {
  return std::any_of(columns.begin(), columns.end(), [](const CsvColumn& column) {
    if (column.role != CsvRole::metric) return column.role == CsvRole::gpu_index;
    return column.metric == Metric::index || column.metric == Metric::uuid || column.metric == Metric::pci_bus_id;
  });
}

std::optional<CsvLayout> parse_csv_header(std::string_view line) {
  // The cheapest first: nearly every line of a text has none of these.
  if (line.find('.') == line.npos && line.find("used_") == line.npos) return std::nullopt;
  CsvLayout layout;
  layout.separator = separator_of(line);
  const std::vector<std::string> cells = split_cells(line, layout.separator);
  if (cells.size() > kMostColumns) return std::nullopt;
  for (const std::string& cell : cells) layout.has_pid = layout.has_pid || trimmed(cell) == "pid";
  std::size_t known = 0;
  std::size_t telling = 0;
  for (const std::string& cell : cells) {
    layout.columns.push_back(column_of(cell, layout.has_pid));
    const CsvColumn& column = layout.columns.back();
    if (column.role != CsvRole::unknown) ++known;
    if (is_telling(column)) ++telling;
    if (column.name == "max_memory_usage" || column.name == "retired_pages.address" ||
        column.name == "retired_pages.cause") {
      layout.is_other_query = true;
      ++telling;
    }
  }
  const bool is_single = cells.size() == 1 && !layout.columns[0].unit.empty();
  if (telling == 0 || known * 2 < cells.size() || (cells.size() < 2 && !is_single)) return std::nullopt;
  return layout;
}

std::vector<std::string> split_cells(std::string_view line, char separator, bool* is_open) {
  std::vector<std::string> cells;
  std::string cell;
  bool is_quoted = false;
  bool is_begin = true;  // of a cell: only blanks so far
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        is_quoted = false;
      }
    } else if (c == '"' && is_begin) {
      is_quoted = true;
      is_begin = false;
      cell.clear();
    } else if (c == separator) {
      cells.emplace_back(trimmed(cell));
      cell.clear();
      is_begin = true;
    } else {
      cell += c;
      if (c != ' ' && c != '\t') is_begin = false;
    }
  }
  cells.emplace_back(trimmed(cell));
  if (is_open != nullptr) *is_open = is_quoted;
  return cells;
}

bool is_headerless_row(std::string_view line) {
  const std::size_t comma = line.find(',');
  if (comma == line.npos || comma < 19) return false;
  // 2023/06/22 18:53:36.635
  const std::string_view first = trimmed(line.substr(0, comma));
  if (first.size() < 19 || first[4] != '/' || !parse_time(first)) return false;
  const std::string_view rest = line.substr(comma);
  return rest.find(" MiB") != rest.npos || rest.find(" %") != rest.npos || rest.find(" W") != rest.npos ||
         rest.find(" MHz") != rest.npos;
}

}  // namespace vramscope::nvidia_smi
