#include "import/readers/nvidia_smi/read.h"

#include <algorithm>

#include "fmt/format.h"
#include "import/readers/nvidia_smi/csv_header.h"
#include "text/catalogue.h"

namespace vramscope::nvidia_smi {

namespace {

std::unique_ptr<Parser> parser_of(Layout layout, LogBuilder& log) {
  switch (layout) {
    case Layout::xml:
      return xml_parser(log);
    case Layout::q:
      return q_parser(log);
    case Layout::table:
      return table_parser(log);
    case Layout::monitor:
      return monitor_parser(log);
    default:
      return csv_parser(log);
  }
}

// Of several layouts in one text: each line goes to the parser of the part that it is in.
class BundleParser : public Parser {
 public:
  explicit BundleParser(LogBuilder& log) : log_(log) {}

  void feed(const Line& line) override {
    constexpr std::string_view kSection = "####################";
    const bool is_section = line.text.substr(0, kSection.size()) == kSection;
    if (!line.has_end && (now_ == Layout::none || is_section)) log_.note("cut_line", line.offset);
    if (is_section) return leave();
    if (const auto time = now_ == Layout::none ? parse_time(line.text) : std::nullopt) {
      // In front of a table.
      before_ = std::string(line.text);
      before_offset_ = line.offset;
      return;
    }
    const Layout begun = layout_begun_by(line.text);
    if (begun != Layout::none && begun != Layout::headerless_csv && begun != now_) {
      const std::string before = before_;
      leave();
      now_ = begun;
      std::unique_ptr<Parser>& parser = parsers_[static_cast<std::size_t>(begun)];
      if (parser == nullptr) parser = parser_of(begun, log_);
      if (!before.empty()) parser->feed({before, before_offset_, true});
    }
    // The upper edge of the table's box stands between the two.
    if (line.text.empty() || line.text[0] != '+') before_.clear();
    if (now_ != Layout::none) parsers_[static_cast<std::size_t>(now_)]->feed(line);
  }
  void end() override { leave(); }

 private:
  void leave() {
    if (now_ != Layout::none) parsers_[static_cast<std::size_t>(now_)]->end();
    now_ = Layout::none;
    before_.clear();
  }

  LogBuilder& log_;
  std::unique_ptr<Parser> parsers_[8];
  Layout now_ = Layout::none;
  std::string before_;  // a time that stands in front of the next part
  std::int64_t before_offset_ = 0;
};

Error nothing_in(const std::string& path, const char* program) {
  return {ExitCode::bad_input,
          fmt::format(fmt::runtime(tr("{path} looks like output of {program}, but not one GPU or process in it could "
                                      "be read; copy or make it again.")),
                      fmt::arg("path", path), fmt::arg("program", program))};
}

Error without_header(const std::string& path) {
  return {
      ExitCode::bad_input,
      fmt::format(fmt::runtime(tr("{path} is a log of nvidia-smi without its header line, and its columns cannot be "
                                  "told apart safely; put the header in front (the same call without noheader "
                                  "prints it).")),
                  fmt::arg("path", path))};
}

}  // namespace

Result<Source> read_lines(LogBuilder& log, Parser& parser, const LogFormat& format, ByteStream& stream,
                          const std::string& path, const Progress& progress,
                          const std::function<void(std::string_view)>& see) {
  Source source;
  source.path = path;
  source.format = format.name;
  Lines lines(stream, progress);
  Line line;
  while (lines.next(line)) {
    if (see) see(line.text);
    parser.feed(line);
  }
  parser.end();
  if (log.is_empty()) return nothing_in(path, format.program);
  log.note("nul_bytes", lines.first_nul(), lines.nul_lines());
  log.note("long_line", lines.first_long(), lines.long_lines());
  log.finish(source);
  if (!stream.damage().empty()) source.trouble.push_back({stream.damage(), 1, stream.damage_offset()});
  std::sort(source.trouble.begin(), source.trouble.end(),
            [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  source.compressed = stream.is_compressed();
  source.bytes = lines.bytes();
  source.trace.strings.seal();
  return source;
}

Result<Source> read_log(Layout layout, const char* format, ByteStream& stream, const std::string& path,
                        const Progress& progress) {
  LogBuilder log;
  std::unique_ptr<Parser> parser;
  if (layout == Layout::bundle) {
    parser = std::make_unique<BundleParser>(log);
  } else {
    parser = parser_of(layout, log);
  }
  bool has_headerless_row = false;
  auto source = read_lines(log, *parser, {format, "nvidia-smi"}, stream, path, progress, [&](std::string_view line) {
    if (log.is_empty() && !has_headerless_row) has_headerless_row = is_headerless_row(line);
  });
  if (!source && has_headerless_row) return without_header(path);
  return source;
}

}  // namespace vramscope::nvidia_smi
