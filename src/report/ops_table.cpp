// The operator table with the columns, cells and footer of PyTorch's key_averages().table().
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "report/ops_report.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kCellWidth = 12;
constexpr std::size_t kMostName = 55;
constexpr std::size_t kMostShapes = 80;
constexpr std::size_t kMostStack = 75;
constexpr std::size_t kGap = 2;

// What is left out first where the terminal is narrow. Columns of rank kStays never are, nor is the sorted one; the
// self or total beside that has rank kPartner.
enum Rank : int { kShares, kAverages, kSelfMemory, kMemory, kSelfTime, kTotals, kPartner, kCalls, kGroups, kStays };

struct Column {
  std::string title;
  Rank rank = kStays;
  OpColumn sorts = OpColumn::name;  // the sort key that this column shows
  std::size_t width = kCellWidth;
  bool left = false;
  bool is_text = false;   // may be cut
  std::size_t place = 0;  // in the whole table
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
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].place = i;
    if (terminal().fit == Fit::width) fit(terminal().columns);
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
  void add_text(std::string title, Rank rank, std::size_t most, bool left,
                std::function<std::vector<std::string>(const OpRow&)> cell) {
    Column column;
    column.title = std::move(title);
    column.rank = rank;
    column.left = left;
    column.is_text = true;
    column.cell = std::move(cell);
    constexpr std::size_t kAir = 4;
    column.width = std::min(std::max(display_width(column.title), widest_cell(column) + kAir), most);
    columns_.push_back(std::move(column));
  }

  std::size_t widest_cell(const Column& column) const {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < shown_; ++i) {
      for (const std::string& line : column.cell(table_.rows[i])) widest = std::max(widest, display_width(line));
    }
    return widest;
  }

  void choose_columns() {
    add_text(tr("Name"), kStays, kMostName, false,
             [](const OpRow& row) { return std::vector<std::string>{printable(row.name)}; });
    if (query_.by_step) {
      add(tr("Step"), kStays, OpColumn::name,
          [](const OpRow& row) { return row.step ? std::to_string(*row.step) : "-"; });
    }
    if (query_.by_annotation) {
      add_text(tr("Annotation"), kGroups, kMostName, false, [](const OpRow& row) {
        return std::vector<std::string>{row.annotation.empty() ? "-" : printable(row.annotation)};
      });
    }
    choose_time_columns();
    if (table_.has_memory) choose_memory_columns();
    add(tr("# of Calls"), kCalls, OpColumn::count, [](const OpRow& row) { return std::to_string(row.totals.count); });
    if (query_.by_shape) {
      add_text(tr("Input Shapes"), kGroups, kMostShapes, false,
               [](const OpRow& row) { return std::vector<std::string>{printable(row.shapes)}; });
    }
    if (query_.by_stack) {
      add_text(tr("Source Location"), kGroups, kMostStack, true, [](const OpRow& row) {
        std::vector<std::string> lines;
        for (const std::string_view frame : row.stack) lines.push_back(printable(frame));
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
    add_time(tr("CPU total"), kTotals, OpColumn::cpu_time_total);
    add_time(tr("CPU time avg"), kAverages, OpColumn::cpu_time);
    if (!table_.has_device_work) return;
    const std::int64_t device = table_.device_ns;
    add_time(of_device(N_("Self {device}"), device_), kSelfTime, OpColumn::self_device_time_total);
    add(of_device(N_("Self {device} %"), device_), kShares, OpColumn::name,
        [device](const OpRow& row) { return share_cell(row.totals.self_device_ns, device); });
    add_time(of_device(N_("{device} total"), device_), kTotals, OpColumn::device_time_total);
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

  // By rank the columns go, and between the ranks the texts get shorter and the numbers closer.
  void fit(std::size_t columns) {
    constexpr std::size_t kReadable = 28;
    constexpr std::size_t kShort = 16;
    constexpr std::size_t kLeast = 8;
    for (int rank = kShares; rank < kStays; ++rank) {
      if (rank == kSelfMemory) shrink_texts(columns, kReadable);
      if (rank == kSelfTime) close_up(columns);
      if (rank == kSelfTime) shrink_texts(columns, kShort);
      if (rank == kGroups) shrink_texts(columns, kLeast);
      leave_out(rank, columns);
    }
    shrink_texts(columns, kLeast);
    std::sort(left_out_.begin(), left_out_.end());
  }
  int rank_of(const Column& column) const {
    if (result_.sort == OpColumn::name || column.sorts == OpColumn::name) return column.rank;
    if (column.sorts == result_.sort) return kStays;
    return is_partner(column.sorts, result_.sort) ? kPartner : column.rank;
  }
  static bool is_partner(OpColumn a, OpColumn b) {
    constexpr std::pair<OpColumn, OpColumn> kPairs[] = {
        {OpColumn::self_cpu_time_total, OpColumn::cpu_time_total},
        {OpColumn::self_device_time_total, OpColumn::device_time_total},
        {OpColumn::self_cpu_memory_usage, OpColumn::cpu_memory_usage},
        {OpColumn::self_device_memory_usage, OpColumn::device_memory_usage}};
    return std::any_of(std::begin(kPairs), std::end(kPairs),
                       [&](const auto& pair) { return pair == std::pair(a, b) || pair == std::pair(b, a); });
  }
  void leave_out(int rank, std::size_t columns) {
    for (std::size_t i = columns_.size(); i > 0 && width() > columns; --i) {
      if (rank_of(columns_[i - 1]) != rank) continue;
      left_out_.emplace_back(columns_[i - 1].place, columns_[i - 1].title);
      columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
  }
  // Numbers need no more room than the widest of them.
  void close_up(std::size_t columns) {
    if (width() <= columns) return;
    for (Column& column : columns_) {
      if (!column.is_text) column.width = std::max(display_width(column.title), widest_cell(column));
    }
  }
  void shrink_texts(std::size_t columns, std::size_t least) {
    while (width() > columns) {
      Column* widest = nullptr;
      for (Column& column : columns_) {
        if (!column.is_text || column.width <= least) continue;
        if (widest == nullptr || column.width > widest->width) widest = &column;
      }
      if (widest == nullptr) return;
      --widest->width;
    }
  }

  std::string header() const {
    std::string line;
    for (const Column& column : columns_)
      line += padded(cut(column.title, column.width), column.width, column.left) + "  ";
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
      out += wrap(fmt::format(fmt::runtime(tr_n("{count} more row; --limit 0 shows all.",
                                                "{count} more rows; --limit 0 shows all.", static_cast<long>(count))),
                              fmt::arg("count", format_count(count))),
                  line_columns());
    }
    std::vector<std::string> titles;
    for (const auto& [place, title] : left_out_) titles.push_back(title);
    out += left_out_line(titles, line_columns(), 0);
    out += wrap(
        fmt::format(fmt::runtime(tr("Self CPU time total: {time}")), fmt::arg("time", time_cell(table_.self_cpu_ns))),
        line_columns());
    if (!table_.has_device_work) return out;
    out += wrap(fmt::format(fmt::runtime(tr("Self {device} time total: {time}")), fmt::arg("device", device_),
                            fmt::arg("time", time_cell(table_.device_ns))),
                line_columns());
    if (table_.unattributed.count > 0) {
      const std::string launched =
          tr_n("of it launched by no known operator: {time} ({count} kernel, copy or set)",
               "of it launched by no known operator: {time} ({count} kernels, copies and sets)",
               static_cast<long>(table_.unattributed.count));
      out += wrap(fmt::format(fmt::runtime(launched), fmt::arg("time", time_cell(table_.unattributed.device_ns)),
                              fmt::arg("count", format_count(table_.unattributed.count))),
                  line_columns());
    }
    return out;
  }

  const OpsResult& result_;
  const OpTable& table_;
  const OpQuery& query_;
  std::size_t shown_;
  std::string_view device_;
  std::vector<Column> columns_;
  std::vector<std::pair<std::size_t, std::string>> left_out_;  // place and title
};

}  // namespace

std::string ops_table_text(const OpsResult& result, const OpQuery& query, std::size_t limit) {
  if (!result.table.rows.empty()) return OpTableText(result, query, limit).text();
  std::string text = wrap(tr("The file holds no operators and no annotations."), line_columns());
  if (result.table.has_device_work && !query.all_rows) {
    text += wrap(tr("Kernels and API calls have rows with --rows all."), line_columns());
  }
  return text;
}

}  // namespace vramscope
