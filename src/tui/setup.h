#pragma once
// What a user can choose and keep: columns, order, curves. The names are those of the file (docs/configuration.md).
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tui/plot_history.h"

namespace vramscope::tui {

// What a plot can show of a GPU.
enum class Curve { memory, utilisation, temperature, power, fan };
inline constexpr std::size_t kCurves = 5;
struct CurveInfo {
  std::string_view name;  // in the file
  const char* title;      // English msgid
};
const std::array<CurveInfo, kCurves>& curve_table();

enum class Column {
  pid,
  user,
  gpu,
  type,
  gpu_share,
  encoder,
  decoder,
  memory,
  memory_share,
  trend,
  cpu,
  host_memory,
  age,
  state,
  place,
  command
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::command) + 1;
struct ColumnInfo {
  std::string_view name;  // in the file
  const char* title;      // English msgid, the head of the column
  const char* about;      // English msgid, for the dialogues
  int width;              // at least; that of `command` is what is left
  bool is_right;
  int drop;             // where there is no room those with the highest go first; 0 stays
  bool falls_at_first;  // the first order when it is chosen: numbers fall, texts rise
};
// In the order in which they are shown.
const std::array<ColumnInfo, kColumns>& column_table();
inline const ColumnInfo& info_of(Column column) {
  return column_table()[static_cast<std::size_t>(column)];
}
std::optional<Column> column_named(std::string_view name);

struct Setup {
  std::array<bool, kColumns> columns{};  // which are shown
  Column sort = Column::memory;
  bool is_falling = true;
  bool is_tree = false;
  std::array<bool, kCurves> curves{true, true, false, false, false};
  std::size_t zoom = 1;  // of kWindows
  bool show_plots = true;
  bool show_processes = true;
  bool newest_left = false;
  bool fahrenheit = false;
  Setup();
  bool shows(Column column) const { return columns[static_cast<std::size_t>(column)]; }
  bool shows(Curve curve) const { return curves[static_cast<std::size_t>(curve)]; }
  bool operator==(const Setup&) const = default;
};

}  // namespace vramscope::tui
