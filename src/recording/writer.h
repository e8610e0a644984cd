#pragma once
// Writes a recording (.vrs). Rows are kept in memory until they are ten seconds old or many, then written as whole
// chunks with one write(2): a process that is killed loses no more than those ten seconds.
//
// Memory is bounded: rows by their number, names by what is alive. Not thread-safe. Times are CLOCK_MONOTONIC.
//
// A write that fails (a full disk) is told once, as the Error of the call that met it. Its rows count as dropped,
// the file is cut back to its last whole chunk, and every later flush tries again; the first one that succeeds says
// how many rows are missing before it, and a failure after that is told again.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/chunk.h"
#include "recording/definitions.h"
#include "recording/records.h"

namespace vramscope::recording {

// The clocks of the machine at one moment.
struct ClockReading {
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
  std::int64_t realtime_ns = 0;
};
ClockReading read_clocks();

struct WriterOptions {
  std::int64_t flush_ns = 10'000'000'000;        // age of the oldest row in memory
  std::int64_t checkpoint_ns = 600'000'000'000;  // between checkpoints, or after so many bytes
  std::int64_t checkpoint_bytes = 64 << 20;
  int key_interval = 6;              // every so many sample chunks one that needs no other
  int compression_level = 9;         // of zstd
  bool sync_at_checkpoints = false;  // fdatasync: a power cut then loses what came after
  bool replace = false;              // an existing file; else it is an Error
  std::function<ClockReading()> clocks = read_clocks;
};

class Writer {
 public:
  // Writes the file header and the first clocks.
  static Result<std::unique_ptr<Writer>> open(const std::string& path, RunInfo run, WriterOptions options = {});
  // close(), its Error lost.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  SubjectId add_subject(const Subject& subject) { return definitions_.add_subject(subject); }
  // A new attribute, or a new value of one.
  void set_attribute(SubjectId subject, std::string_view name, std::string_view value) {
    definitions_.add_attribute(subject, name, value);
  }
  // The series of a metric; the same id when asked again.
  SeriesId series(SubjectId subject, std::string_view metric, std::string_view unit = {}) {
    return definitions_.add_series(subject, metric, unit);
  }
  // The subject is gone: no rows of it or of its series come after this, and its ids are used no more.
  void end_subject(SubjectId subject) { definitions_.end_subject(subject); }

  // Rows of one series come in the order of time. What is not Validity::known has no value.
  std::optional<Error> append(const Sample& sample);
  std::optional<Error> append(const Event& event);
  // What rows of traces refer to. Ids never change; texts are kept for as long as the recording is written, so there is
  // a limit to them: beyond it all further ones are the text "(more names)".
  TextId text(std::string_view text) { return definitions_.add_text(text); }
  ThreadId add_thread(SubjectId process, std::int64_t tid, std::string_view name) {
    return definitions_.add_thread(process, tid, name);
  }
  void name_thread(ThreadId thread, std::string_view name) { definitions_.name_thread(thread, name); }
  // No rows of it come after this.
  void end_thread(ThreadId thread) { definitions_.end_thread(thread); }
  // `frame` is called by `caller`, 0 for none; the same id for the same pair.
  StackId add_stack(StackId caller, TextId frame) { return definitions_.add_stack(caller, frame); }
  // Spans, memory events, tallies or losses, written at once: one call a drain, not one a row. All columns that are not
  // empty have as many values. `now_ns`: CLOCK_MONOTONIC.
  std::optional<Error> append(const TraceRows& rows, std::int64_t now_ns);

  // To be called now and then when rows come rarely.
  std::optional<Error> flush_if_due(std::int64_t now_ns);
  std::optional<Error> flush(std::int64_t now_ns);
  // Writes the rest and the totals. Later appends count as dropped.
  std::optional<Error> close();

  // What is in the file; `dropped` counts all rows that are not and will not be.
  const Totals& totals() const { return totals_; }

 private:
  static constexpr int kTraceCompressionLevel = 1;  // many rows in little time

  struct SampleRows {
    std::vector<std::int64_t> series, times, values, validities;
  };
  struct EventRows {
    std::vector<std::int64_t> times, kinds, subjects, codes;
    std::string texts;
    std::vector<std::size_t> text_ends;
  };

  Writer(std::string path, int descriptor, WriterOptions options);
  std::optional<Error> before_row(std::int64_t time_ns);
  std::optional<Error> flush_if_large(std::int64_t now_ns);
  std::int64_t buffered_rows() const;
  void add_chunk(ChunkBuilder& chunk) { add_chunk(chunk, compressor_); }
  void add_chunk(ChunkBuilder& chunk, Compressor& compressor);
  void take_clocks();
  void build_clocks();
  void build_samples();
  bool shift_steps(const std::vector<std::int64_t>& series, std::vector<std::int64_t>& steps,
                   std::vector<std::int64_t>& shifts);
  void build_events();
  bool is_checkpoint_due(std::int64_t now_ns) const;
  bool build_checkpoint(std::int64_t now_ns);
  void build_end();
  void clear_rows();
  std::optional<Error> write_pending(std::int64_t now_ns, bool is_last);
  std::optional<Error> after_checkpoint(std::int64_t now_ns);
  int write_buffer();
  Error write_error(int code) const;

  std::string path_;
  int descriptor_;
  WriterOptions options_;
  Compressor compressor_;
  Compressor trace_compressor_{kTraceCompressionLevel};
  Definitions definitions_;
  SampleRows samples_;
  EventRows events_;
  std::vector<ClockReading> clocks_;
  std::optional<std::int64_t> oldest_ns_;      // first row in memory
  std::optional<std::int64_t> clocks_at_ns_;   // row that made the last reading
  std::optional<std::int64_t> checkpoint_ns_;  // the last one, or the first row
  std::int64_t checkpoint_at_bytes_ = 0;
  std::optional<std::uint64_t> key_sequence_;
  int chunks_since_key_ = 0;
  std::uint64_t sequence_ = 0;
  std::int64_t lost_since_ = 0;  // dropped rows that no chunk has told yet
  std::string buffer_;           // whole chunks of this flush
  bool drops_told_ = false;      // by a chunk in buffer_
  bool failure_told_ = false;
  Totals totals_;
};

}  // namespace vramscope::recording
