// What is wrong, in lines; and the bar of keys.
#include <algorithm>

#include "fmt/format.h"
#include "report/alert_message.h"
#include "report/findings.h"
#include "report/phrases.h"
#include "report/process_words.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

std::string verdict_line(const Verdict& verdict) {
  return printable(sentence(verdict.finding.title, verdict.finding.arguments, Wording::chosen_language));
}

struct KeyLabel {
  const char* key;
  const char* label;  // English msgid
  Input meaning;
};

const std::vector<KeyLabel>& key_labels(Mode mode) {
  static const std::vector<KeyLabel> kMain{{"F1", N_("Help"), {Key::f1}},
                                           {"F2", N_("Setup"), {Key::f2}},
                                           {"F4", N_("Filter"), {Key::f4}},
                                           {"F6", N_("Sort"), {Key::f6}},
                                           {"F7", N_("Columns"), {Key::f7}},
                                           {"F8", N_("Findings"), {Key::f8}},
                                           {"F9", N_("Signal"), {Key::f9}},
                                           {"F10", N_("Quit"), {Key::f10}},
                                           {"F12", N_("Save"), {Key::f12}},
                                           {"Enter", N_("Details"), {Key::enter}},
                                           {"z", N_("Zoom"), {Key::character, U'z'}}};
  static const std::vector<KeyLabel> kDialog{{"Space", N_("Choose"), {Key::character, U' '}},
                                             {"Enter", N_("Done"), {Key::enter}},
                                             {"Esc", N_("Back"), {Key::escape}}};
  static const std::vector<KeyLabel> kConfirm{{"y", N_("Yes"), {Key::character, U'y'}},
                                              {"n", N_("No"), {Key::character, U'n'}}};
  static const std::vector<KeyLabel> kDetails{{"Esc", N_("Back"), {Key::escape}},
                                              {"e", N_("Environment"), {Key::character, U'e'}},
                                              {"F9", N_("Signal"), {Key::f9}},
                                              {"z", N_("Zoom"), {Key::character, U'z'}}};
  static const std::vector<KeyLabel> kPage{{"Esc", N_("Back"), {Key::escape}}};
  switch (mode) {
    case Mode::main:
    case Mode::filter:
      return kMain;
    case Mode::sort:
    case Mode::columns:
    case Mode::curves:
    case Mode::signal:
      return kDialog;
    case Mode::confirm:
      return kConfirm;
    case Mode::details:
      return kDetails;
    case Mode::verdicts:
    case Mode::help:
      break;
  }
  return kPage;
}

}  // namespace

std::vector<Note> make_notes(const Scene& scene, const UiState& ui, std::optional<std::int64_t> silent_ns) {
  std::vector<Note> notes;
  if (!ui.message.empty()) notes.push_back({Severity::info, false, ui.message});
  if (silent_ns) {
    notes.push_back({Severity::error, false,
                     filled(tr("The driver has not answered for {time}; what is shown is older than that."),
                            fmt::arg("time", age_text(*silent_ns)))});
  }
  for (auto event = scene.alerts.rbegin(); event != scene.alerts.rend(); ++event) {
    notes.push_back({event->severity, false,
                     filled(tr("ALERT {sentence}"),
                            fmt::arg("sentence", printable(alert_sentence(*event, Wording::chosen_language))))});
  }
  for (const Verdict& verdict : scene.verdicts) {
    notes.push_back({verdict.finding.severity, false, verdict_line(verdict)});
  }
  if (notes.empty() && scene.sample_count > 0 && scene.problem.empty() && !scene.devices.empty()) {
    notes.push_back({Severity::info, true, tr("Nothing wrong was found.")});
  }
  return notes;
}

void draw_notes(Frame& frame, const Rect& area, const Look& look) {
  const auto shown = static_cast<std::size_t>(std::max(area.height, 0));
  for (std::size_t i = 0; i < std::min(shown, look.notes.size()); ++i) {
    const Note& note = look.notes[i];
    const int y = area.y + static_cast<int>(i);
    const Style style = note.is_good ? Style::good : severity_style(note.severity);
    const std::size_t left = look.notes.size() - i - 1;
    std::string more;
    if (i + 1 == shown && left > 0) {
      more = "  " + counted(NN_("{count} more: v", "{count} more: v"), static_cast<std::int64_t>(left));
    }
    const int room = area.width - static_cast<int>(std::min<std::size_t>(display_width(more), 1000));
    const char* mark = note.is_good || note.severity == Severity::info ? "  " : "! ";
    int x = area.x + frame.put(area.x, y, mark, style, room);
    x += frame.put_elided(x, y, note.text, style, room - 2, look.ascii);
    frame.put(x, y, more, Style::dim);
  }
}

void draw_keys(Frame& frame, const Rect& area, const Look& look, View& view) {
  frame.fill(area, ' ', Style::normal);
  if (look.ui.mode == Mode::filter) {
    int x = area.x + frame.put(area.x, area.y, std::string(tr("Filter:")) + " ", Style::title, area.width);
    x += frame.put(x, area.y, printable(look.ui.filter), Style::bold, area.width - x);
    x += frame.put(x, area.y, "_", Style::bold, 1) + 2;
    frame.put_elided(x, area.y, tr("Enter keeps it, Esc takes it back; gpu:0 user:name pid:42 look there alone"),
                     Style::dim, area.width - x, look.ascii);
    return;
  }
  int x = area.x;
  for (const KeyLabel& one : key_labels(look.ui.mode)) {
    const char* label = tr(one.label);
    const int needed = static_cast<int>(display_width(one.key) + display_width(label)) + 1;
    if (x + needed > area.x + area.width) break;
    const int begin = x;
    x += frame.put(x, area.y, one.key, Style::bold);
    x += frame.put(x, area.y, label, Style::key);
    view.buttons.emplace_back(Rect{begin, area.y, x - begin, 1}, one.meaning);
    ++x;
  }
}

}  // namespace vramscope::tui
