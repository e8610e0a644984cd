// All that was found, with what to do; and the page of keys.
#include "fmt/format.h"
#include "report/alert_message.h"
#include "report/findings.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "tui/panels.h"

namespace vramscope::tui {

namespace {

std::string words(const char* id, const Finding& finding) {
  return printable(sentence(id, finding.arguments, Wording::chosen_language));
}

std::string evidence_line(const Finding& finding) {
  std::string text;
  for (const Evidence& evidence : finding.evidence) {
    std::string part = filled(tr("{what}: {value}"), fmt::arg("what", words(evidence.what, finding)),
                              fmt::arg("value", shown(evidence.value, Wording::chosen_language)));
    const std::string where = sentence(evidence.where.id, evidence.where.arguments, Wording::chosen_language);
    if (!where.empty()) part += " (" + where + ")";
    text += (text.empty() ? "" : "; ") + printable(part);
  }
  return text;
}

struct KeyHelp {
  const char* keys;
  const char* about;  // English msgid
};

constexpr KeyHelp kHelp[] = {
    {"Up Down PgUp PgDn Home End j k", N_("choose a process")},
    {"Left Right h l", N_("scroll the command lines")},
    {"Enter", N_("details of the process: command, container, memory over time, environment")},
    {"F9 x", N_("send a signal, after a question")},
    {"F4 /", N_("filter: every word must match; gpu:0, user:name and pid:42 look there alone")},
    {"F6 s", N_("sort by a column; a click on its head does it, too")},
    {"+ -", N_("smallest first, largest first")},
    {"F7 c", N_("choose columns")},
    {"t", N_("processes as a tree")},
    {"z Z", N_("plots over a shorter, a longer time: 1 minute to 24 hours")},
    {"Tab g", N_("next GPUs, where not all fit")},
    {"F2", N_("curves, panels, units")},
    {"F8 v", N_("what was found, and what to do")},
    {"Space p", N_("hold the picture; devices are watched on")},
    {"F12", N_("keep this setup")},
    {"F5 Ctrl-L", N_("draw the screen anew")},
    {"F10 q Esc", N_("quit")},
};

}  // namespace

void draw_verdicts(Frame& frame, const Look& look, View& view) {
  const int width = page_width(frame);
  std::vector<Line> lines;
  for (const AlertEvent& event : look.scene.alerts) {
    add_text(lines,
             filled(tr("ALERT {sentence}"),
                    fmt::arg("sentence", printable(alert_sentence(event, Wording::chosen_language)))),
             severity_style(event.severity), width);
    lines.emplace_back();
  }
  for (const Verdict& verdict : look.scene.verdicts) {
    const Finding& finding = verdict.finding;
    add_text(lines, words(finding.title, finding), severity_style(finding.severity), width);
    add_text(lines, words(finding.summary, finding), Style::normal, width, 2);
    add_text(lines, evidence_line(finding), Style::dim, width, 2);
    add_text(lines, filled(tr("What to do: {fix}"), fmt::arg("fix", words(finding.fix, finding))), Style::normal, width,
             2);
    lines.emplace_back();
  }
  if (lines.empty()) add_text(lines, tr("Nothing wrong was found."), Style::good, width);
  draw_page(frame, tr("Findings"), lines, look, view);
}

void draw_help(Frame& frame, const Look& look, View& view) {
  const int width = page_width(frame);
  constexpr std::size_t kKeys = 32;
  std::vector<Line> lines;
  for (const KeyHelp& one : kHelp) {
    if (width < 60) {
      lines.push_back({{one.keys, Style::bold}});
      add_text(lines, tr(one.about), Style::normal, width, 2);
      continue;
    }
    std::vector<Line> about;
    add_text(about, tr(one.about), Style::normal, width, static_cast<int>(kKeys));
    for (std::size_t i = 0; i < about.size(); ++i) {
      std::string text = about[i][0].text.substr(kKeys);
      std::string keys = i == 0 ? one.keys : "";
      keys.resize(kKeys, ' ');
      lines.push_back({{std::move(keys), Style::bold}, {std::move(text), Style::normal}});
    }
  }
  draw_page(frame, tr("Keys"), lines, look, view);
}

}  // namespace vramscope::tui
