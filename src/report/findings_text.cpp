// The page of findings for people.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "report/findings.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::size_t kWidestText = 100;  // longer lines are hard to read

// Bytes of the first character that is not part of a sequence.
std::size_t character_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) ++length;
  return length;
}

// How much of `text` fits in `columns`: up to a space, or between wide characters where there is none.
std::size_t line_length(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  std::size_t space = 0;
  std::size_t wide = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text.substr(at));
    const std::size_t width = display_width(text.substr(at, length));
    if (used + width > columns) break;
    if (text[at] == ' ') space = at;
    at += length;
    used += width;
    if (width == 2) wide = at;
  }
  if (at >= text.size()) return text.size();
  if (std::max(space, wide) > 0) return std::max(space, wide);
  return at > 0 ? at : character_length(text);
}

std::string wrapped(std::string_view text, std::size_t indent) {
  const std::size_t columns = std::max<std::size_t>(std::min(terminal().columns, kWidestText), indent + 20) - indent;
  std::string out;
  while (!text.empty()) {
    const std::size_t length = line_length(text, columns);
    out += std::string(indent, ' ') + std::string(text.substr(0, length)) + "\n";
    text.remove_prefix(length);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return out;
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

std::string evidence_table(const Finding& finding) {
  TextTable table;
  table.columns = {{tr("evidence"), Align::left, Shrink::end},
                   {tr("value"), Align::right, Shrink::no},
                   {tr("where"), Align::left, Shrink::middle}};
  for (const Evidence& evidence : finding.evidence) {
    const std::string where = sentence(evidence.where.id, evidence.where.arguments, Wording::chosen_language);
    table.rows.push_back({tr(evidence.what), shown(evidence.value, Wording::chosen_language), printable(where)});
  }
  return render(table, terminal().columns, 2);
}

std::string page_of(const std::string& rule) {
  return "docs/rules/" + rule + (language() == "zh" ? ".zh-CN.md" : ".md");
}

std::string indented(std::string_view code, std::size_t indent) {
  std::string out;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    out += std::string(indent, ' ') + std::string(code.substr(0, end)) + "\n";
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return out;
}

std::string finding_page(const Case& input, const Finding& finding) {
  const auto words = [&](const char* id) {
    return printable(sentence(id, finding.arguments, Wording::chosen_language));
  };
  std::string text = severity_label(finding.severity) + "  " + paint(words(finding.title), Colour::bold) + "\n";
  const std::string confidence =
      fmt::format(fmt::runtime(tr("{rule}, confidence {confidence}")), fmt::arg("rule", finding.rule),
                  fmt::arg("confidence", format_share(finding.confidence)));
  text += "  " + paint(confidence, Colour::grey) + "\n";
  if (input.sources.size() > 1) text += "  " + printable(finding.source) + "\n";
  text += "\n" + wrapped(words(finding.summary), 2) + "\n" + evidence_table(finding) + "\n";
  text += wrapped(std::string(tr("What to do:")) + " " + words(finding.fix), 2);
  if (*finding.fix_code != '\0') text += "\n" + indented(finding.fix_code, 6) + "\n";
  text += "  " + fmt::format(fmt::runtime(tr("More: {page}")), fmt::arg("page", page_of(finding.rule))) + "\n\n";
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
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, display_width(line.rule));
  std::string text;
  for (const Line& line : lines) {
    std::string body = wrapped(line.remark, width + 4);
    body.replace(2, line.rule.size(), line.rule);
    text += body;
  }
  return text + "\n";
}

std::string remark_with_path(const Case& input, const std::string& path, std::string remark) {
  return input.sources.size() < 2 ? remark : printable(path) + ": " + remark;
}

}  // namespace

std::string findings_text(const Case& input, const Verdicts& verdicts) {
  std::string text;
  for (const Finding& finding : verdicts.findings) text += finding_page(input, finding);
  if (verdicts.findings.empty()) {
    text += std::string(verdicts.passed.empty() ? tr("Nothing could be checked.") : tr("Nothing wrong was found.")) +
            "\n\n";
  }
  std::vector<Line> fine;
  for (const Passed& passed : verdicts.passed) {
    fine.push_back({passed.rule, remark_with_path(input, passed.source, about(passed.rule))});
  }
  std::vector<Line> skipped;
  for (const Skipped& one : verdicts.skipped) {
    const std::string why = printable(sentence(one.why, one.arguments, Wording::chosen_language));
    skipped.push_back({one.rule, remark_with_path(input, one.source, why)});
  }
  if (!fine.empty()) text += std::string(tr("Checked and found fine:")) + "\n" + list_of(fine);
  if (!skipped.empty()) text += std::string(tr("Not checked:")) + "\n" + list_of(skipped);
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace vramscope
