// Any text that holds torch.cuda.memory_summary() tables, memory_stats() dictionaries or messages of memory that ran
// out: logs, terminal captures, standard input, one pasted sentence.
#include <algorithm>

#include "fmt/format.h"
#include "import/foreign.h"
#include "import/reader.h"
#include "import/readers/memory_log/failures.h"
#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/line_window.h"
#include "import/readers/memory_log/samples.h"
#include "import/readers/nvidia_smi/layouts.h"
#include "import/readers/rocm_smi/parser.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using memory_log::contains;

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  return text;
}

// One document of JSON, and no log of lines that begin with "[" or "{": "[rank0]: …", "[2024-05-01 …", one object a
// line.
bool is_json_document(std::string_view text) {
  text = without_blanks(text);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  const bool is_object = text[0] == '{';
  std::string_view rest = without_blanks(text.substr(1));
  if (rest.empty()) return true;
  if (is_object && rest[0] != '"' && rest[0] != '}') return false;
  if (is_object) {
    const std::size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos) return true;
    const std::string_view line = memory_log::trim(text.substr(0, line_end));
    return line.back() != '}' || without_blanks(text.substr(line_end)).substr(0, 1) != "{";
  }
  if (memory_log::is_digit(rest[0]) || rest[0] == '-') {
    while (!rest.empty() && (memory_log::is_digit(rest[0]) || contains("+-.eE", rest.substr(0, 1))))
      rest.remove_prefix(1);
    rest = without_blanks(rest);
    if (rest.empty() || rest[0] == ',') return true;
    return rest[0] == ']' && without_blanks(rest.substr(1)).empty();
  }
  return contains("{[\"]", rest.substr(0, 1));
}

// What makes a document of JSON one of ours: nothing else is looked for in it later.
bool holds_something(std::string_view text) {
  if (contains(text, "\"traceEvents\"") || contains(text, "\"ph\"") || contains(text, "\"schemaVersion\""))
    return false;
  return contains(text, ".all.current\"") || contains(text, "_bytes.all.") || contains(text, "out of memory. Tried") ||
         contains(text, "OOM when allocating") || contains(text, "RESOURCE_EXHAUSTED");
}

bool is_text(std::string_view text) {
  std::size_t controls = 0;
  for (const char c : text) {
    if (c == '\0') return false;
    const bool is_usual = c == '\n' || c == '\r' || c == '\t' || c == '\033' || c == '\b' || c == '\f' || c == '\a';
    if (static_cast<unsigned char>(c) < ' ' && !is_usual) ++controls;
  }
  constexpr std::size_t kRare = 20;
  return !text.empty() && controls <= text.size() / kRare;
}

bool claims(const Head& head) {
  if (head.bytes.empty() || recognise_foreign(head.bytes) != nullptr) return false;
  const bool is_wide = memory_log::has_utf16_mark(head.bytes);
  if (!is_wide && wide_encoding(head.bytes) != nullptr) return false;
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const std::string converted = is_wide ? memory_log::utf8_of(head.bytes) : std::string();
  std::string_view text = is_wide ? std::string_view(converted) : head.bytes;
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  if (!is_text(text)) return false;
  // Logs of nvidia-smi and its kin have readers of their own.
  if (nvidia_smi::layout_of(head) != nvidia_smi::Layout::none) return false;
  if (nvidia_smi::has_line(head, rocm_smi::is_rocm_line) || nvidia_smi::has_line(head, rocm_smi::is_xpu_header)) {
    return false;
  }
  return !is_json_document(text) || holds_something(text);
}

void add_category(Source& source, const char* name, std::int64_t count) {
  if (count == 0) return;
  source.events_by_category.push_back({name, count});
  source.events += count;
}

void set_times(Source& source) {
  for (const AllocatorStats& stats : source.allocator_stats) {
    if (!stats.time_ns) continue;
    source.start_ns = std::min(source.start_ns.value_or(*stats.time_ns), *stats.time_ns);
    source.end_ns = std::max(source.end_ns.value_or(*stats.time_ns), *stats.time_ns);
  }
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  Source source;
  source.path = path;
  source.format = "memory_log";
  memory_log::LineWindow window(stream, progress);
  memory_log::Samples samples(source.allocator_stats);
  memory_log::Failures failures(source.out_of_memory);
  memory_log::Line line;
  while (window.next(samples.is_open(), line)) {
    samples.feed(line);
    failures.feed(line);
  }
  samples.finish();
  if (source.allocator_stats.empty() && source.out_of_memory.empty()) {
    return Error{
        ExitCode::bad_input,
        fmt::format(fmt::runtime(tr("{path} is text without anything that vramscope reads: no memory_summary() table, "
                                    "no memory_stats() dictionary and no message that memory ran out; give it such "
                                    "a log, a trace of the PyTorch Profiler or a CUDA memory snapshot.")),
                    fmt::arg("path", path))};
  }
  add_category(source, "memory_stats", samples.dictionaries());
  add_category(source, "memory_summary", samples.tables());
  add_category(source, "out_of_memory", failures.messages());
  set_times(source);
  if (!failures.settings().value().empty()) {
    source.environment.settings[failures.settings().name()] = failures.settings().value();
  }
  source.trouble = samples.trouble();
  source.trouble.insert(source.trouble.end(), failures.trouble().begin(), failures.trouble().end());
  if (window.long_lines() > 0) source.trouble.push_back({"long_line", window.long_lines(), window.first_long_line()});
  if (!stream.damage().empty()) source.trouble.push_back({stream.damage(), 1, stream.damage_offset()});
  std::sort(source.trouble.begin(), source.trouble.end(),
            [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  source.trace.strings.seal();
  source.compressed = stream.is_compressed();
  source.bytes = window.bytes();
  return source;
}

}  // namespace

Reader reader_memory_log() {
  return {"memory_log", N_("Log with PyTorch memory tables or out-of-memory messages: text, plain or compressed"), 1,
          claims, read};
}

}  // namespace vramscope
