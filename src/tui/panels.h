#pragma once
// The panels: what is there to see and what the user did -> cells. Pure functions; one file a panel.
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "tui/frame.h"
#include "tui/layout.h"
#include "tui/process_list.h"
#include "tui/scene.h"
#include "tui/ui_state.h"

namespace vramscope::tui {

// A line below the table: an alert, a verdict, what the last key did.
struct Note {
  Severity severity = Severity::info;
  bool is_good = false;
  std::string text;
};

// All that a panel may look at.
struct Look {
  const Scene& scene;
  const UiState& ui;
  const std::vector<ProcessRow>& rows;  // of the whole table
  const std::vector<Note>& notes;
  std::optional<std::int64_t> silent_ns;  // the devices have not answered since then
  std::int64_t interval_ns = 0;
  bool is_simulated = false;  // its clock is its own
  bool ascii = false;
  bool colour = false;  // curves are told apart without
};

std::vector<Note> make_notes(const Scene& scene, const UiState& ui, std::optional<std::int64_t> silent_ns);

void draw_title(Frame& frame, const Rect& area, const Look& look);
void draw_meter(Frame& frame, const Block& block, MeterForm form, const Look& look);
void draw_plot(Frame& frame, const Block& block, const Look& look);
// What keys and the mouse can reach goes into the View.
void draw_processes(Frame& frame, const Rect& area, const Look& look, View& view);
void draw_notes(Frame& frame, const Rect& area, const Look& look);
void draw_keys(Frame& frame, const Rect& area, const Look& look, View& view);
void draw_dialog(Frame& frame, const Look& look, View& view);   // sort, columns, curves, signal, confirm
void draw_details(Frame& frame, const Look& look, View& view);  // of one process
void draw_verdicts(Frame& frame, const Look& look, View& view);
void draw_help(Frame& frame, const Look& look, View& view);

// --- shared by panels ---------------------------------------------------------------------------------------------

// A line of a page, in pieces of one style each.
struct Piece {
  std::string text;
  Style style = Style::normal;
};
using Line = std::vector<Piece>;

// A box with a border and a title over the panels; the area inside. Empty when there is no room inside.
Rect draw_box(Frame& frame, const Rect& area, std::string_view title, const Look& look);
// A page in a box over the whole screen, scrolled to UiState::first_line; its lines are at most page_width() wide.
void draw_page(Frame& frame, std::string_view title, const std::vector<Line>& lines, const Look& look, View& view);
int page_width(const Frame& frame);
// Broken into lines of that width, all in one style.
void add_text(std::vector<Line>& lines, std::string_view text, Style style, int width, int indent = 0);

// Lines of levels into braille cells (or ASCII), 0 % at the bottom; with `colour` each in its style, else told apart
// by gaps. Two pieces a column in braille, one in ASCII.
struct LevelLine {
  std::vector<LevelRange> pieces;
  Style style = Style::normal;
};
void draw_levels(Frame& frame, const Rect& area, const std::vector<LevelLine>& lines, bool ascii, bool colour);
// Pieces that a line needs in that many columns.
std::size_t pieces_of(int columns, bool ascii);
// Two cells as that line looks.
std::string_view sample_of_line(std::size_t index, bool ascii, bool colour);

// "12.3 GiB", "61.0/80.0 GiB"; tr("N/A") for unknown.
std::string bytes_text(std::optional<std::int64_t> bytes);
std::string part_of_bytes(std::optional<std::int64_t> part, std::optional<std::int64_t> whole);
std::string temperature_text(std::optional<std::int64_t> celsius, bool fahrenheit, bool ascii);
std::string power_text(std::optional<std::int64_t> milliwatts, std::optional<std::int64_t> limit);
std::string percent_text(std::optional<std::int64_t> percent);
Style load_style(double share);  // of memory: calm, high, full
Style severity_style(Severity severity);
Style curve_style(Curve curve);
std::string window_text(std::size_t zoom);  // "5 min"

}  // namespace vramscope::tui
