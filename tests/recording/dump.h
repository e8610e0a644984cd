#pragma once
// What a recording holds as text: one JSON value a line, as tests/recording/read_vrs.py prints it.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "recording/reader.h"

namespace vramscope::recording {

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Dump : public Visitor {
 public:
  std::string text;

  void on_subject(SubjectId id, SubjectKind kind, std::string_view key, SubjectId parent) override {
    line("subject", number(id) + "," + number(static_cast<int>(kind)) + "," + json_text(key) + "," + number(parent));
  }
  void on_attribute(SubjectId subject, std::string_view name, std::string_view value) override {
    line("attribute", number(subject) + "," + json_text(name) + "," + json_text(value));
  }
  void on_series(SeriesId id, SubjectId subject, std::string_view metric, std::string_view unit) override {
    line("series", number(id) + "," + number(subject) + "," + json_text(metric) + "," + json_text(unit));
  }
  void on_samples(const std::vector<Sample>& samples) override {
    std::string rows;
    for (const Sample& sample : samples) {
      const bool known = sample.validity == Validity::known;
      rows += (rows.empty() ? "[" : ",[") + number(sample.series) + "," + number(sample.time_ns) + "," +
              (known ? number(sample.value) : "null") + "," + number(static_cast<int>(sample.validity)) + "]";
    }
    line("samples", rows);
  }
  void on_event(const Event& event) override {
    line("event", number(event.time_ns) + "," + number(static_cast<int>(event.kind)) + "," + number(event.subject) +
                      "," + number(event.code) + "," + json_text(event.text));
  }
  void on_text(TextId id, std::string_view words) override { texts_[id] = words; }
  void on_trace_rows(const TraceRows& rows) override {
    std::string lines;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      std::string values;
      for (std::uint16_t id = 1; id <= trace_columns(rows.kind); ++id) {
        const std::int64_t value = rows.column(id).empty() ? 0 : rows.column(id)[row];
        values += (id == 1 ? "" : ",") + (names_text(rows.kind, id) ? json_text(texts_[value]) : number(value));
      }
      lines += ",[" + values + "]";
    }
    line("rows", number(static_cast<int>(rows.kind)) + lines);
  }
  void on_clock(const ClockPoint& point) override {
    line("clock", number(static_cast<int>(point.clock)) + "," + number(point.time_ns) + "," + number(point.value));
  }

  void run(const RunInfo& run) {
    std::string uuid;
    for (const char c : run.uuid) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      uuid += digits;
    }
    text += "{\"run\":{\"uuid\":" + json_text(uuid) + ",\"start_ns\":" + number(run.start_ns) +
            ",\"host_name\":" + json_text(run.host_name) + ",\"boot_id\":" + json_text(run.boot_id) +
            ",\"program\":" + json_text(run.program) + ",\"command\":" + json_text(run.command) + "}}\n";
  }
  void summary(const Reader& reader) {
    const Totals& seen = reader.seen();
    text += "{\"summary\":{\"chunks\":" + number(seen.chunks) + ",\"samples\":" + number(seen.samples) +
            ",\"events\":" + number(seen.events) + ",\"dropped\":" + number(seen.dropped) +
            (seen.trace_rows > 0 ? ",\"trace_rows\":" + number(seen.trace_rows) : "") + ",\"totals\":";
    if (const std::optional<Totals>& totals = reader.totals()) {
      text += "{\"chunks\":" + number(totals->chunks) + ",\"samples\":" + number(totals->samples) +
              ",\"events\":" + number(totals->events) + ",\"dropped\":" + number(totals->dropped) +
              ",\"bytes\":" + number(totals->bytes) +
              (totals->trace_rows > 0 ? ",\"trace_rows\":" + number(totals->trace_rows) : "") + "}";
    } else {
      text += "null";
    }
    std::string names;
    for (const Trouble& trouble : reader.trouble()) {
      names += (names.empty() ? "" : ",") + json_text(trouble.name) + ":" + number(trouble.count);
    }
    text += ",\"trouble\":{" + names + "}}}\n";
  }

 private:
  static bool names_text(ChunkKind kind, std::uint16_t id) {
    if (kind == ChunkKind::threads || kind == ChunkKind::tallies) return id == 4;
    if (kind == ChunkKind::stacks) return id == 3;
    if (kind == ChunkKind::spans) return id == 5 || id == 7 || id == 8;
    return kind == ChunkKind::memory_events && id == 8;
  }
  std::map<std::int64_t, std::string> texts_;

  static std::string number(std::int64_t value) { return std::to_string(value); }
  void line(const char* name, const std::string& rest) { text += std::string("{\"") + name + "\":[" + rest + "]}\n"; }
};

// All of a recording; empty when it cannot be opened.
inline std::string dump(std::string_view bytes) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(bytes), "test");
  if (!reader) return {};
  Dump out;
  if ((*reader)->run()) out.run(*(*reader)->run());
  (*reader)->read_all(out);
  out.summary(**reader);
  return out.text;
}

}  // namespace vramscope::recording
