#pragma once
// What the output can show. Read once, at start.
#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope {

// What is done with lines that are longer than the terminal is wide.
enum class Fit {
  usual,   // a pipe or file of unknown width: prose and small tables are fitted to `columns`, wide tables are not
  width,   // everything is fitted: a terminal, COLUMNS or --width
  nothing  // no table loses anything: --width 0
};

struct Terminal {
  bool is_terminal = false;   // stdout
  bool colour = false;        // a terminal, TERM is not "dumb", NO_COLOR is unset or empty
  bool utf8 = true;           // the locale's character set; when false curves and rules are ASCII
  std::size_t columns = 100;  // COLUMNS, else the window's width, else 100 when stdout is no terminal; at least 40
  Fit fit = Fit::usual;
};

// No table and no sentence is fitted to fewer columns.
inline constexpr std::size_t kFewestColumns = 40;

// From the environment and the window.
Terminal detect_terminal();
// The one in use by reports; detect_terminal() at first use. Tests and --ascii, --width set it.
Terminal& terminal();

// Columns for a table that fits most screens, and for a line or table that pipes get in full.
std::size_t table_columns();
std::size_t line_columns();

enum class Colour { red, yellow, green, blue, cyan, grey, bold };
// The text in that colour when terminal().colour, else as it is.
std::string paint(std::string_view text, Colour colour);

// A line on stderr that is rewritten in place while long work goes on. Silent unless stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // At most ten redraws a second. total 0: only a count is shown.
  void update(long long done_bytes, long long total_bytes);
  // The same for work that is not counted in bytes: "12 s of 60 s".
  void update(const std::string& amount);

 private:
  bool is_due() const;

  std::string label_;
  bool enabled_ = false;
  bool drawn_ = false;
  long long last_ms_ = 0;
  long long start_ms_ = 0;
};

}  // namespace vramscope
