#include "tui/view.h"

#include <algorithm>

#include "text/catalogue.h"
#include "text/wrap.h"

namespace vramscope::tui {

namespace {

Layout layout_of(const Frame& frame, const Scene& scene, const UiState& ui, std::size_t processes, std::size_t notes) {
  LayoutInput input;
  input.columns = frame.columns();
  input.rows = frame.rows();
  for (const SceneDevice& device : scene.devices) input.is_mig.push_back(device.is_mig);
  input.processes = processes;
  input.notes = notes;
  input.show_plots = ui.setup.show_plots;
  input.show_processes = ui.setup.show_processes;
  input.first_device = ui.first_device;
  input.first_plot = ui.first_plot;
  return lay_out(input);
}

bool is_page(Mode mode) {
  return mode == Mode::details || mode == Mode::verdicts || mode == Mode::help;
}

// Why there is nothing to see, in the middle.
void draw_reason(Frame& frame, const Look& look) {
  const std::string text = !look.scene.problem.empty()   ? look.scene.problem
                           : look.scene.sample_count > 0 ? tr("There is no GPU that could be watched.")
                                                         : tr("Asking the driver …");
  const int width = std::min(frame.columns() - 2, 76);
  const std::vector<std::string> lines = wrap_lines(text, static_cast<std::size_t>(std::max(width, 8)));
  int y = std::max((frame.rows() - 1 - static_cast<int>(lines.size())) / 2, 0);
  for (const std::string& line : lines) {
    frame.put((frame.columns() - width) / 2, y++, line,
              look.scene.sample_count > 0 || !look.scene.problem.empty() ? Style::bold : Style::dim, width);
  }
}

void draw_panels(Frame& frame, const Layout& layout, const Look& look, View& view) {
  if (!layout.title.is_empty()) draw_title(frame, layout.title, look);
  for (const Block& block : layout.meters) draw_meter(frame, block, layout.form, look);
  for (const Block& block : layout.plots) draw_plot(frame, block, look);
  if (!layout.processes.is_empty()) draw_processes(frame, layout.processes, look, view);
  if (!layout.notes.is_empty()) draw_notes(frame, layout.notes, look);
}

}  // namespace

void draw(Frame& frame, const Scene& scene, UiState& ui, std::optional<std::int64_t> silent_ns,
          const ViewOptions& options, View& view) {
  view = View();
  view.is_played_back = scene.is_played_back;
  const std::vector<ProcessRow> rows = list_processes(scene, ui.setup, ui.filter, options.ascii);
  const std::vector<Note> notes = make_notes(scene, ui, silent_ns);
  const Layout layout = layout_of(frame, scene, ui, rows.size(), notes.size());
  if (layout.is_too_small) {
    frame.put_elided(0, 0, tr("The window is too small"), Style::normal, frame.columns(), options.ascii);
    return;
  }
  view.rows.reserve(rows.size());
  for (const ProcessRow& row : rows) {
    view.rows.push_back({scene.processes[row.process].key, scene.processes[row.process].device});
  }
  const Rect& table = layout.processes;
  view.table = {table.x, table.y + 1, table.width, std::max(table.height - 1, 0)};
  view.hidden_devices = scene.devices.size() - std::min(scene.devices.size(), layout.meters.size());
  view.shown_plots = layout.plots.size();
  view.gpus = static_cast<std::size_t>(std::count_if(scene.devices.begin(), scene.devices.end(),
                                                     [](const SceneDevice& device) { return !device.is_mig; }));
  settle(ui, view);
  const Look look{scene,         ui, rows, notes, silent_ns, options.interval_ns, options.is_simulated, options.ascii,
                  options.colour};
  if (ui.mode == Mode::details) {
    draw_details(frame, look, view);
  } else if (ui.mode == Mode::verdicts) {
    draw_verdicts(frame, look, view);
  } else if (ui.mode == Mode::help) {
    draw_help(frame, look, view);
  } else if (scene.devices.empty()) {
    if (!layout.title.is_empty()) draw_title(frame, layout.title, look);
    if (!layout.notes.is_empty()) draw_notes(frame, layout.notes, look);
    draw_reason(frame, look);
  } else {
    draw_panels(frame, layout, look, view);
  }
  if (!is_page(ui.mode)) draw_dialog(frame, look, view);
  draw_keys(frame, layout.keys, look, view);
}

}  // namespace vramscope::tui
