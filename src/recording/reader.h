#pragma once
// Reads a recording chunk by chunk, in bounded memory, and hands what it holds to a visitor.
//
// Trouble, beside that of ChunkReader (chunk_reader.h), with the offset of the first chunk it was met in:
//   columns_damaged     a chunk whose columns contradict each other (a writer's mistake, since its CRC is right)
//   base_missing        rows of samples whose key chunk was lost
//   unknown_string      rows that name a text that was lost
//   unknown_subject     rows of a subject that was lost
//   unknown_series      rows of a series that was lost
//   dropped_rows        rows that the writer says it could not write
//   unknown_kind        chunks of a kind that this version does not know; passed over, nothing is wrong with them
//   must_understand     such a chunk without which the rest cannot be understood: reading ends there
//   too_many_names      definitions beyond the limits of memory; their rows are passed over
//   no_end              there is no `end` chunk: the writer was killed, or writes still
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "recording/chunk_reader.h"
#include "recording/records.h"

namespace vramscope::recording {

// What a reader tells, in file order. Texts live during the call.
class Visitor {
 public:
  virtual ~Visitor() = default;
  // The first time that it is met; checkpoints that repeat it are not told. Attributes follow one by one.
  virtual void on_subject(SubjectId /*id*/, SubjectKind /*kind*/, std::string_view /*key*/, SubjectId /*parent*/) {}
  virtual void on_attribute(SubjectId /*subject*/, std::string_view /*name*/, std::string_view /*value*/) {}
  virtual void on_series(SeriesId /*id*/, SubjectId /*subject*/, std::string_view /*metric*/,
                         std::string_view /*unit*/) {}
  // A chunk of them, by series, then in the order of time.
  virtual void on_samples(const std::vector<Sample>& /*samples*/) {}
  virtual void on_event(const Event& /*event*/) {}
  virtual void on_clock(const ClockPoint& /*point*/) {}
  // Every text that is defined, before the first row that names it.
  virtual void on_text(TextId /*id*/, std::string_view /*text*/) {}
  // A chunk of rows for traces. Checkpoints repeat threads and stacks: a row with an id that is known says the same
  // again, or gives a thread another name. Ids, kinds and numbers are as in the file: they may be any.
  virtual void on_trace_rows(const TraceRows& /*rows*/) {}
};

class Reader {
 public:
  // As ChunkReader::open.
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  static Result<std::unique_ptr<Reader>> open(std::unique_ptr<RandomBytes> bytes, const std::string& name);

  // Reads one chunk. False at the end, which is also a chunk that must be understood and is not.
  bool step(Visitor& visitor);
  void read_all(Visitor& visitor) {
    while (step(visitor)) {
    }
  }

  const std::optional<RunInfo>& run() const { return chunks_->run(); }
  const std::optional<Totals>& totals() const { return totals_; }  // of the `end` chunk
  // What was read so far: whole chunks, rows given to the visitor, rows that the writer dropped.
  const Totals& seen() const { return seen_; }
  const std::vector<Trouble>& trouble() const { return chunks_->trouble().all(); }
  std::int64_t trouble(std::string_view name) const { return chunks_->trouble().of(name); }

 private:
  explicit Reader(std::unique_ptr<ChunkReader> chunks) : chunks_(std::move(chunks)) {}
  bool skip_unknown();
  bool read_chunk(Visitor& visitor);
  bool read_strings(Visitor& visitor);
  bool read_subjects(Visitor& visitor);
  bool read_attributes(Visitor& visitor);
  bool read_series(Visitor& visitor);
  bool read_clocks(Visitor& visitor);
  bool read_samples(Visitor& visitor);
  bool take_samples(bool is_key);
  bool read_events(Visitor& visitor);
  bool read_trace_rows(Visitor& visitor);
  bool read_checkpoint();
  bool read_end();
  void forget_before(std::uint64_t sequence);
  const std::string* text(std::int64_t id);
  void count(std::string_view name, std::int64_t more = 1) { chunks_->trouble().count(name, chunks_->offset(), more); }

  // Definitions remember the chunk that told them last, so that a checkpoint can drop the older ones.
  struct KnownText {
    std::string text;
    std::uint64_t sequence = 0;
  };
  struct KnownSubject {
    std::uint64_t sequence = 0;
    absl::flat_hash_map<std::string, std::string> attributes;
  };

  std::unique_ptr<ChunkReader> chunks_;
  ChunkColumns columns_;
  std::unordered_map<std::uint32_t, KnownText> texts_;
  std::size_t text_bytes_ = 0;
  std::unordered_map<SubjectId, KnownSubject> subjects_;
  absl::flat_hash_map<SeriesId, std::uint64_t> series_;  // sequence of the chunk that told it last
  absl::flat_hash_map<SeriesId, std::int64_t> key_values_;
  std::optional<std::uint64_t> key_sequence_;
  std::uint64_t repeats_in_a_row_ = 0;  // whole kRepeats chunks just before this one
  std::optional<std::uint64_t> last_sequence_;
  std::vector<std::int64_t> ids_, a_, b_, c_, d_, e_;  // columns of the chunk at hand
  std::vector<std::string_view> column_texts_;
  std::vector<Sample> samples_;
  TraceRows rows_;
  std::optional<Totals> totals_;
  Totals seen_;
  bool is_over_ = false;
};

}  // namespace vramscope::recording
