// The operator table with the columns, cells and footer of PyTorch's key_averages().table().
#include <algorithm>
#include <cmath>
#include <functional>

#include "fmt/format.h"
#include "report/ops_report.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::size_t kCellWidth = 12;
constexpr std::size_t kMostName = 55;
constexpr std::size_t kMostShapes = 80;
constexpr std::size_t kMostStack = 75;
constexpr std::size_t kGap = 2;

// What is left out first where the terminal is narrow. Columns of rank kStays never are.
enum Rank : int { kShares, kAverages, kSelfMemory, kMemory, kSelfTime, kStays };

struct Column {
  std::string title;
  Rank rank = kStays;
  OpColumn sorts = OpColumn::name;  // the sort key that this column shows
  std::size_t width = kCellWidth;
  bool left = false;
  // The lines of a cell: one, save for stacks.
  std::function<std::vector<std::string>(const OpRow&)> cell;
};

std::string time_cell(std::int64_t ns) {
  return format_torch_time(static_cast<double>(ns) / 1e3);
}

std::string share_cell(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "NaN";
  return fmt::format("{:.2f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string of_device(const char* message, std::string_view device) {
  return fmt::format(fmt::runtime(tr(message)), fmt::arg("device", device));
}

std::string cut(const std::string& text, std::size_t width) {
  return elide_end(text, width, true);
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::size_t own = display_width(text);
  const std::string space(own < width ? width - own : 0, ' ');
  return left ? text + space : space + text;
}

// Flops in the unit that suits the smallest row that has any, as PyTorch chooses it.
struct FlopsUnit {
  const char* title;
  double gigaflops;
};

FlopsUnit flops_unit(const std::vector<OpRow>& rows) {
  constexpr FlopsUnit kUnits[] = {{N_("Total FLOPs"), 1e-9}, {N_("Total KFLOPs"), 1e-6}, {N_("Total MFLOPs"), 1e-3},
                                  {N_("Total GFLOPs"), 1},   {N_("Total TFLOPs"), 1e3},  {N_("Total PFLOPs"), 1e6}};
  double least = 0;
  for (const OpRow& row : rows) {
    const double flops = row.gigaflops.value_or(0);
    if (flops > 0 && (least <= 0 || flops < least)) least = flops;
  }
  FlopsUnit unit = kUnits[0];
  for (const FlopsUnit& larger : kUnits) {
    if (least >= larger.gigaflops) unit = larger;
  }
  return unit;
}

class OpTableText {
 public:
  OpTableText(const OpsResult& result, const OpQuery& query, std::size_t limit)
      : result_(result),
        table_(result.table),
        query_(query),
        shown_(shown_rows(table_.rows.size(), limit)),
        device_(device_label(result.source->trace)) {
    choose_columns();
    if (terminal().is_terminal) fit(terminal().columns);
  }

  std::string text() const {
    std::string rule;
    for (const Column& column : columns_)
      rule += std::string(column.width, '-') + (&column == &columns_.back() ? "\n" : "  ");
    std::string out = rule + header() + rule;
    for (std::size_t i = 0; i < shown_; ++i) out += row_lines(table_.rows[i]);
    return out + rule + footer();
  }

 private:
  using Cell = std::function<std::string(const OpRow&)>;

  void add(std::string title, Rank rank, OpColumn sorts, const Cell& cell) {
    Column column;
    column.title = std::move(title);
    column.rank = rank;
    column.sorts = sorts;
    column.width = std::max(kCellWidth, display_width(column.title));
    column.cell = [cell](const OpRow& row) { return std::vector<std::string>{cell(row)}; };
    columns_.push_back(std::move(column));
  }
  void add_time(std::string title, Rank rank, OpColumn key) {
    add(std::move(title), rank, key, [key](const OpRow& row) { return time_cell(value_of(row, key)); });
  }
  void add_memory(std::string title, Rank rank, OpColumn key) {
    add(std::move(title), rank, key, [key](const OpRow& row) { return format_torch_memory(value_of(row, key)); });
  }
  // A column as wide as its longest line and four more, up to `most`.
  void add_text(std::string title, std::size_t most, bool left,
                std::function<std::vector<std::string>(const OpRow&)> cell) {
    Column column;
    column.title = std::move(title);
    column.left = left;
    column.cell = std::move(cell);
    column.width = display_width(column.title);
    for (std::size_t i = 0; i < shown_; ++i) {
      for (const std::string& line : column.cell(table_.rows[i])) {
        column.width = std::max(column.width, display_width(line) + 4);
      }
    }
    column.width = std::min(column.width, most);
    columns_.push_back(std::move(column));
  }

  void choose_columns() {
    add_text(tr("Name"), kMostName, false,
             [](const OpRow& row) { return std::vector<std::string>{printable(row.name)}; });
    if (query_.by_step) {
      add(tr("Step"), kStays, OpColumn::name,
          [](const OpRow& row) { return row.step ? std::to_string(*row.step) : "-"; });
    }
    if (query_.by_annotation) {
      add_text(tr("Annotation"), kMostName, false, [](const OpRow& row) {
        return std::vector<std::string>{row.annotation.empty() ? "-" : printable(row.annotation)};
      });
    }
    choose_time_columns();
    if (table_.has_memory) choose_memory_columns();
    add(tr("# of Calls"), kStays, OpColumn::count, [](const OpRow& row) { return std::to_string(row.totals.count); });
    if (query_.by_shape) {
      add_text(tr("Input Shapes"), kMostShapes, false,
               [](const OpRow& row) { return std::vector<std::string>{printable(row.shapes)}; });
    }
    if (query_.by_stack) {
      add_text(tr("Source Location"), kMostStack, true, [](const OpRow& row) {
        std::vector<std::string> lines;
        for (const std::string& frame : row.stack) lines.push_back(printable(frame));
        return lines;
      });
    }
    if (table_.has_flops) {
      const FlopsUnit unit = flops_unit(table_.rows);
      add(tr(unit.title), kAverages, OpColumn::flops, [unit](const OpRow& row) {
        const double flops = row.gigaflops.value_or(0);
        return flops > 0 ? fmt::format("{:8.3f}", flops / unit.gigaflops) : std::string("--");
      });
    }
  }

  void choose_time_columns() {
    const std::int64_t cpu = table_.self_cpu_ns;
    add(tr("Self CPU %"), kShares, OpColumn::name,
        [cpu](const OpRow& row) { return share_cell(row.totals.self_cpu_ns, cpu); });
    add_time(tr("Self CPU"), kSelfTime, OpColumn::self_cpu_time_total);
    add(tr("CPU total %"), kShares, OpColumn::name,
        [cpu](const OpRow& row) { return share_cell(row.totals.total_cpu_ns, cpu); });
    add_time(tr("CPU total"), kStays, OpColumn::cpu_time_total);
    add_time(tr("CPU time avg"), kAverages, OpColumn::cpu_time);
    if (!table_.has_device_work) return;
    const std::int64_t device = table_.device_ns;
    add_time(of_device(N_("Self {device}"), device_), kSelfTime, OpColumn::self_device_time_total);
    add(of_device(N_("Self {device} %"), device_), kShares, OpColumn::name,
        [device](const OpRow& row) { return share_cell(row.totals.self_device_ns, device); });
    add_time(of_device(N_("{device} total"), device_), kStays, OpColumn::device_time_total);
    add_time(of_device(N_("{device} time avg"), device_), kAverages, OpColumn::device_time);
  }

  void choose_memory_columns() {
    add_memory(tr("CPU Mem"), kMemory, OpColumn::cpu_memory_usage);
    add_memory(tr("Self CPU Mem"), kSelfMemory, OpColumn::self_cpu_memory_usage);
    if (!table_.has_device_memory) return;
    add_memory(of_device(N_("{device} Mem"), device_), kMemory, OpColumn::device_memory_usage);
    add_memory(of_device(N_("Self {device} Mem"), device_), kSelfMemory, OpColumn::self_device_memory_usage);
  }

  std::size_t width() const {
    std::size_t sum = 0;
    for (const Column& column : columns_) sum += column.width + kGap;
    return sum - kGap;
  }

  // Leaves columns out by rank, the name shrinking between the cheap and the dear ones; never the sorted one.
  void fit(std::size_t columns) {
    constexpr std::size_t kReadableName = 28;
    constexpr std::size_t kLeastName = 16;
    for (const Rank rank : {kShares, kAverages, kSelfMemory, kMemory, kSelfTime}) {
      if (rank == kSelfMemory) shrink_name(columns, kReadableName);
      for (std::size_t i = columns_.size(); i > 0 && width() > columns; --i) {
        const Column& column = columns_[i - 1];
        if (column.rank != rank || (column.sorts == result_.sort && result_.sort != OpColumn::name)) continue;
        left_out_ = column.title + (left_out_.empty() ? "" : ", " + left_out_);
        columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      }
    }
    shrink_name(columns, kLeastName);
  }
  void shrink_name(std::size_t columns, std::size_t least) {
    const std::size_t all = width();
    std::size_t& name = columns_.front().width;
    if (all > columns && name > least) name = std::max(least, name > all - columns ? name - (all - columns) : 0);
  }

  std::string header() const {
    std::string line;
    for (const Column& column : columns_) line += padded(column.title, column.width, column.left) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  // Stacks go on over further lines and end in an empty one, as in PyTorch.
  std::string row_lines(const OpRow& row) const {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (const Column& column : columns_) {
      cells.push_back(column.cell(row));
      lines = std::max(lines, cells.back().size());
    }
    if (query_.by_stack) ++lines;
    std::string out;
    for (std::size_t at = 0; at < lines; ++at) {
      std::string line;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : std::string();
        const std::size_t wide = columns_[i].width;
        line += padded(columns_[i].left ? elide_middle(cell, wide, true) : cut(cell, wide), wide, columns_[i].left);
        line += "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

  std::string footer() const {
    std::string out;
    if (shown_ < table_.rows.size()) {
      const auto count = static_cast<std::int64_t>(table_.rows.size() - shown_);
      out += fmt::format(fmt::runtime(tr_n("{count} more row; --limit 0 shows all.",
                                           "{count} more rows; --limit 0 shows all.", static_cast<long>(count))),
                         fmt::arg("count", format_count(count))) +
             "\n";
    }
    if (!left_out_.empty()) {
      out += fmt::format(fmt::runtime(tr("Left out to fit the terminal: {columns}.")), fmt::arg("columns", left_out_)) +
             "\n";
    }
    out +=
        fmt::format(fmt::runtime(tr("Self CPU time total: {time}")), fmt::arg("time", time_cell(table_.self_cpu_ns))) +
        "\n";
    if (!table_.has_device_work) return out;
    out += fmt::format(fmt::runtime(tr("Self {device} time total: {time}")), fmt::arg("device", device_),
                       fmt::arg("time", time_cell(table_.device_ns))) +
           "\n";
    if (table_.unattributed.count > 0) {
      out += fmt::format(fmt::runtime(tr("of it launched by no known operator: {time} ({count} kernels, copies and "
                                         "sets)")),
                         fmt::arg("time", time_cell(table_.unattributed.device_ns)),
                         fmt::arg("count", format_count(table_.unattributed.count))) +
             "\n";
    }
    return out;
  }

  const OpsResult& result_;
  const OpTable& table_;
  const OpQuery& query_;
  std::size_t shown_;
  std::string_view device_;
  std::vector<Column> columns_;
  std::string left_out_;
};

}  // namespace

std::string ops_table_text(const OpsResult& result, const OpQuery& query, std::size_t limit) {
  if (!result.table.rows.empty()) return OpTableText(result, query, limit).text();
  std::string text = std::string(tr("The file holds no operators and no annotations.")) + "\n";
  if (result.table.has_device_work && !query.all_rows) {
    text += std::string(tr("Kernels and API calls have rows with --rows all.")) + "\n";
  }
  return text;
}

}  // namespace vramscope
