// PyTorch Profiler (Kineto) traces and other Chrome traces: {"traceEvents": […], …} or a bare list of events.
#include "base/saturate.h"
#include "fmt/format.h"
#include "import/reader.h"
#include "import/readers/kineto/envelope.h"
#include "import/readers/kineto/event_parser.h"
#include "import/readers/kineto/pipeline.h"
#include "reader_table.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool claims(const Head& head) {
  std::string_view text = head.bytes;
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  const auto skip_blanks = [&] {
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  };
  skip_blanks();
  if (text.empty()) return false;
  if (text.front() == '{') {
    return has_any(text, {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\"",
                          "\"baseTimeNanoseconds\""});
  }
  // A bare list is a trace when its elements have a phase; an empty one is nothing.
  if (text.front() != '[') return false;
  text.remove_prefix(1);
  skip_blanks();
  return !text.empty() && text.front() == '{' && has_any(text, {"\"ph\""});
}

Error nothing_kept(const std::string& path, const kineto::EventTotals& totals, bool is_whole) {
  const bool is_too_large = is_whole && totals.too_large_events > 0;
  const char* const sentence =
      is_too_large
          ? N_("{path} holds no trace event that can be read: its events are larger than {limit} ({count}, the "
               "first at byte {offset}), and nothing else is in it; record again without stacks and shapes.")
          : N_("{path} holds no trace event that can be read (it breaks off or is damaged at byte {offset}); "
               "export the trace again.");
  return {ExitCode::bad_input,
          fmt::format(fmt::runtime(tr(sentence)), fmt::arg("path", path),
                      fmt::arg("count", format_count(totals.too_large_events)),
                      fmt::arg("limit", format_bytes(static_cast<std::int64_t>(kineto::kMostEventBytes))),
                      fmt::arg("offset", is_too_large ? totals.first_too_large : totals.text_bytes))};
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  Source source;
  source.path = path;
  source.format = "kineto";
  TraceBuilder builder;
  kineto::Envelope envelope;

  constexpr std::size_t kPiece = 256 * 1024;
  kineto::TextBuffer piece;
  piece.reserve(kPiece);
  std::int64_t offset = 0;
  std::size_t used = 0;
  kineto::Envelope::State state = kineto::Envelope::State::wants_more;
  while (state == kineto::Envelope::State::wants_more) {
    piece.resize(stream.read(piece.data(), kPiece));
    if (piece.empty()) break;
    used = 0;
    state = envelope.feed(piece.view(), used);
    offset += static_cast<std::int64_t>(used);
  }
  kineto::EventTotals totals;
  totals.text_bytes = offset;
  const bool has_events = state == kineto::Envelope::State::at_events;
  if (has_events) {
    totals = kineto::read_events(stream, piece.view().substr(used), offset, progress, envelope, builder);
  }
  if (!has_events || totals.events + totals.metadata_events == 0) {
    const bool is_whole = has_events ? totals.is_array_closed : state == kineto::Envelope::State::closed;
    if (!(is_whole && envelope.has_events()) || totals.too_large_events > 0) {
      return nothing_kept(path, totals, is_whole);
    }
  }
  if (!stream.damage().empty()) builder.note(stream.damage(), stream.damage_offset());
  if (!envelope.is_closed()) builder.note(totals.is_array_closed ? "cut_behind_events" : "cut_file", totals.text_bytes);

  std::int64_t base_ns = 0;
  envelope.describe(source, base_ns);
  builder.set_time_base(base_ns);
  for (const Trouble& trouble : source.trouble) builder.note(trouble.name, trouble.first_offset, trouble.count);
  builder.finish(source);
  source.compressed = stream.is_compressed();
  source.bytes = totals.text_bytes;
  source.events = totals.events;
  source.metadata_events = totals.metadata_events;
  source.events_by_category = std::move(totals.by_category);
  if (totals.has_time) {
    source.start_ns = saturating_add(totals.first_ns, base_ns);
    source.end_ns = saturating_add(totals.last_ns, base_ns);
  }
  return source;
}

}  // namespace

Reader reader_kineto() {
  return {"kineto", N_("PyTorch Profiler (Kineto) trace, or another Chrome trace: JSON, plain or compressed"), 100,
          claims, read};
}

}  // namespace vramscope
