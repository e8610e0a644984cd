// The page of findings for people.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "report/findings.h"
#include "report/paths.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

constexpr std::size_t kCodeIndent = 6;
constexpr std::size_t kWidestText = 100;  // longer lines are hard to read

std::size_t text_columns() {
  return std::min(terminal().columns, kWidestText);
}

std::string wrapped(std::string_view text, std::size_t indent) {
  return wrap(text, text_columns(), indent);
}

// One number and, below it, where it comes from: for terminals where a table would have no room.
std::string evidence_list(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    const std::string number =
        fmt::format(fmt::runtime(tr("{what}: {value}")), fmt::arg("what", row[0]), fmt::arg("value", row[1]));
    text += wrap(number, text_columns(), 2, 2);
    if (!row[2].empty()) text += wrap(row[2], text_columns(), 4, 2);
  }
  return text;
}

std::string evidence_text(const Finding& finding) {
  constexpr std::size_t kTableColumns = 76;
  TextTable table;
  table.columns = {{tr("evidence"), Align::left, Shrink::wrap, 0, 24},
                   {tr("value"), Align::right, Shrink::no},
                   {tr("where"), Align::left, Shrink::wrap, 0, 24}};
  for (const Evidence& evidence : finding.evidence) {
    const std::string where = sentence(evidence.where.id, evidence.where.arguments, Wording::chosen_language);
    table.rows.push_back({sentence(evidence.what, finding.arguments, Wording::chosen_language),
                          shown(evidence.value, Wording::chosen_language), printable(where)});
  }
  if (table_columns() < kTableColumns) return evidence_list(table.rows);
  return render(table, table_columns(), 2);
}

std::string page_of(const std::string& rule) {
  return "docs/rules/" + rule + (language() == "zh" ? ".zh-CN.md" : ".md");
}

// Lines of code. Where one is too long for the terminal its comment goes below it, and what is still too long goes on
// further in.
std::string code_lines(std::string_view code) {
  std::string out;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = code.substr(0, end);
    const std::size_t inner = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t margin = kCodeIndent + inner;
    const std::size_t comment = std::min(line.find(" # "), line.size());
    const bool fits = kCodeIndent + display_width(line) <= line_columns();
    std::string_view first = fits ? line : line.substr(0, comment);
    first = first.substr(0, first.find_last_not_of(' ') + 1);
    out += wrap(first.substr(std::min(inner, first.size())), line_columns(), margin, 4);
    if (!fits && comment < line.size()) out += wrap(line.substr(comment + 1), line_columns(), margin, 4);
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return out;
}

std::vector<Message> all_advice(const Finding& finding) {
  std::vector<Message> all = {{finding.fix, finding.arguments}};
  all.insert(all.end(), finding.fixes.begin(), finding.fixes.end());
  return all;
}

std::string finding_page(const Case& input, const Finding& finding) {
  const auto words = [&](const char* id) {
    return printable(sentence(id, finding.arguments, Wording::chosen_language));
  };
  std::string text =
      wrap(severity_label(finding.severity) + "  " + paint(words(finding.title), Colour::bold), line_columns(), 0, 2);
  const std::string confidence =
      fmt::format(fmt::runtime(tr("{rule}, confidence {confidence}")), fmt::arg("rule", finding.rule),
                  fmt::arg("confidence", format_share(finding.confidence)));
  text += wrap(paint(confidence, Colour::grey), line_columns(), 2);
  if (input.sources.size() > 1) text += wrap(shown_path(finding.source), line_columns(), 2, 2);
  text += "\n" + wrapped(printable(summary_of(finding, Wording::chosen_language)), 2) + "\n" + evidence_text(finding) +
          "\n";
  text += advice_text(all_advice(finding));
  if (!finding.fix_code.empty()) text += "\n" + code_lines(finding.fix_code) + "\n";
  text += wrap(fmt::format(fmt::runtime(tr("More: {page}")), fmt::arg("page", page_of(finding.rule))), line_columns(),
               2, 2) +
          "\n";
  return text;
}

const char* about(const std::string& id) {
  for (const Rule& rule : rules()) {
    if (id == rule.id) return tr(rule.about);
  }
  return "";
}

// A list of rules, each with a remark; the path only where there are several sources.
struct Line {
  std::string rule;
  std::string remark;
};

std::string list_of(const std::vector<Line>& lines) {
  constexpr std::size_t kLeastRemark = 30;  // columns; with fewer the remark goes below its rule
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, display_width(line.rule));
  std::string text;
  for (const Line& line : lines) {
    if (width + 4 + kLeastRemark > text_columns()) {
      text += "  " + line.rule + "\n" + wrapped(line.remark, 4);
      continue;
    }
    std::string body = wrapped(line.remark, width + 4);
    body.replace(2, line.rule.size(), line.rule);
    text += body;
  }
  return text + "\n";
}

// Rules that had nothing to do with any of the files.
std::string other_kinds(const Verdicts& verdicts) {
  std::set<std::string> looked;
  for (const Passed& passed : verdicts.passed) looked.insert(passed.rule);
  for (const Finding& finding : verdicts.findings) looked.insert(finding.rule);
  for (const Skipped& skipped : verdicts.skipped) {
    if (!skipped.is_other_kind) looked.insert(skipped.rule);
  }
  std::set<std::string> names;
  for (const Skipped& skipped : verdicts.skipped) {
    if (skipped.is_other_kind && looked.count(skipped.rule) == 0) names.insert(skipped.rule);
  }
  if (names.empty()) return {};
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return wrap(fmt::format(fmt::runtime(tr("About other kinds of files: {rules}")), fmt::arg("rules", list)),
              text_columns(), 0, 2);
}

std::string remark_with_path(const Case& input, const std::string& path, std::string remark) {
  return input.sources.size() < 2 ? remark : shown_path(path) + ": " + remark;
}

// How many sources the rule has to do with.
std::size_t sources_of(const Case& input, const Verdicts& verdicts, const std::string& rule) {
  const auto others = std::count_if(verdicts.skipped.begin(), verdicts.skipped.end(), [&](const Skipped& skipped) {
    return skipped.is_other_kind && skipped.rule == rule;
  });
  return input.sources.size() - std::min(input.sources.size(), static_cast<std::size_t>(others));
}

// A rule that says the same of all its sources says it once, without their paths.
std::vector<Line> passed_lines(const Case& input, const Verdicts& verdicts) {
  std::map<std::string, std::size_t> times;
  for (const Passed& passed : verdicts.passed) ++times[passed.rule];
  std::vector<Line> lines;
  std::set<std::string> said;
  for (const Passed& passed : verdicts.passed) {
    const bool is_all = times[passed.rule] > 1 && times[passed.rule] == sources_of(input, verdicts, passed.rule);
    if (!is_all) {
      lines.push_back({passed.rule, remark_with_path(input, passed.source, about(passed.rule))});
    } else if (said.insert(passed.rule).second) {
      lines.push_back({passed.rule, about(passed.rule)});
    }
  }
  return lines;
}

std::vector<Line> skipped_lines(const Case& input, const Verdicts& verdicts) {
  std::map<std::pair<std::string, std::string>, std::size_t> times;
  std::vector<std::pair<const Skipped*, std::string>> all;
  for (const Skipped& one : verdicts.skipped) {
    if (one.is_other_kind) continue;
    all.push_back({&one, printable(sentence(one.why, one.arguments, Wording::chosen_language))});
    ++times[{one.rule, all.back().second}];
  }
  std::vector<Line> lines;
  std::set<std::string> said;
  for (const auto& [one, why] : all) {
    const std::size_t count = times[{one->rule, why}];
    if (count < 2 || count != sources_of(input, verdicts, one->rule)) {
      lines.push_back({one->rule, remark_with_path(input, one->source, why)});
    } else if (said.insert(one->rule).second) {
      lines.push_back({one->rule, why});
    }
  }
  return lines;
}

}  // namespace

// One piece of advice goes on in the line, several are numbered.
std::string advice_text(const std::vector<Message>& advice) {
  std::vector<std::string> all;
  for (const Message& each : advice) {
    std::string text = printable(sentence(each.id, each.arguments, Wording::chosen_language));
    if (!text.empty()) all.push_back(std::move(text));
  }
  if (all.empty()) return {};
  if (all.size() == 1) {
    return wrapped(fmt::format(fmt::runtime(tr("What to do: {fix}")), fmt::arg("fix", all.front())), 2);
  }
  std::string text = wrapped(tr("What to do, in this order:"), 2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += wrap(fmt::format("{}. {}", i + 1, all[i]), text_columns(), 2, 3);
  }
  return text;
}

std::string severity_label(Severity severity) {
  switch (severity) {
    case Severity::info:
      return paint(tr("INFO"), Colour::cyan);
    case Severity::warning:
      return paint(tr("WARNING"), Colour::yellow);
    case Severity::error:
      break;
  }
  return paint(tr("ERROR"), Colour::red);
}

std::string findings_text(const Case& input, const Verdicts& verdicts) {
  std::string text;
  for (const Finding& finding : verdicts.findings) text += finding_page(input, finding);
  if (verdicts.findings.empty()) {
    text += std::string(verdicts.passed.empty() ? tr("Nothing could be checked.") : tr("Nothing wrong was found.")) +
            "\n\n";
  }
  const std::vector<Line> fine = passed_lines(input, verdicts);
  const std::vector<Line> skipped = skipped_lines(input, verdicts);
  if (!fine.empty()) text += std::string(tr("Checked and found fine:")) + "\n" + list_of(fine);
  if (!skipped.empty()) text += std::string(tr("Not checked:")) + "\n" + list_of(skipped);
  text += other_kinds(verdicts);
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace vramscope
