#pragma once
// The writer's side of what rows refer to: texts, subjects and series get ids that never change, are written before
// their first use, and are repeated by checkpoints while they live. Ended subjects are forgotten at the next
// checkpoint, so that memory follows what is alive. Not thread-safe.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "recording/chunk.h"
#include "recording/records.h"

namespace vramscope::recording {

// At most kMaxTextBytes of a text, whole UTF-8 characters.
std::string_view cut_text(std::string_view text);

class Definitions {
 public:
  using Sink = std::function<void(ChunkBuilder&)>;

  struct SeriesState {
    SubjectId subject = kNoId;
    std::uint32_t metric = kNoId;  // of a string
    std::uint32_t unit = kNoId;
    std::int64_t key_value = 0;  // last value in the key chunk `key_sequence`
    std::uint64_t key_sequence = UINT64_MAX;
    std::uint8_t shift = 0;  // of the steps in the last chunk that had any
  };

  SubjectId add_subject(const Subject& subject);
  void add_attribute(SubjectId subject, std::string_view name, std::string_view value);
  // One id for the same metric of the same subject. kNoId for a subject that is not there.
  SeriesId add_series(SubjectId subject, std::string_view metric, std::string_view unit);
  // Null for a series whose subject was forgotten.
  SeriesState* find_series(SeriesId id);
  // Its rows may still be written; it is in no later checkpoint.
  void end_subject(SubjectId subject);
  void forget_ended();

  // Repeated by every checkpoint. Texts beyond the limit are all "(more names)".
  TextId add_text(std::string_view text);
  ThreadId add_thread(SubjectId process, std::int64_t tid, std::string_view name);
  void name_thread(ThreadId thread, std::string_view name);
  void end_thread(ThreadId thread);
  StackId add_stack(StackId caller, TextId frame);

  // What has not been written yet, roughly.
  std::size_t new_bytes() const { return new_bytes_; }
  void write_new(const Sink& sink) const { write(new_, 0, sink); }
  void clear_new();
  void write_all(const Sink& sink) const;

 private:
  struct SubjectState {
    SubjectKind kind = SubjectKind::host;
    std::uint32_t key = kNoId;
    SubjectId parent = kNoId;
    bool has_ended = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> attributes;
    std::vector<std::pair<std::uint32_t, SeriesId>> series;  // metric, id
  };
  struct AttributeRow {
    SubjectId subject;
    std::uint32_t name;
    std::uint32_t value;
  };
  struct ThreadState {
    SubjectId process = kNoId;
    std::int64_t tid = 0;
    TextId name = kNoId;
    bool has_ended = false;
  };
  struct Rows {
    std::vector<std::uint32_t> strings;
    std::vector<SubjectId> subjects;
    std::vector<AttributeRow> attributes;
    std::vector<SeriesId> series;
    std::vector<ThreadId> threads;
    StackId first_stack = 1;  // all from this one on
  };

  std::uint32_t intern(std::string_view text);
  void forget_unused_strings();
  void forget_new_rows();
  void write(const Rows& rows, std::uint16_t flags, const Sink& sink) const;
  void write_strings(const std::vector<std::uint32_t>& ids, std::uint16_t flags, const Sink& sink) const;
  void write_subjects(const std::vector<SubjectId>& ids, std::uint16_t flags, const Sink& sink) const;
  void write_attributes(const std::vector<AttributeRow>& rows, std::uint16_t flags, const Sink& sink) const;
  void write_threads(const std::vector<ThreadId>& ids, std::uint16_t flags, const Sink& sink) const;
  void write_stacks(StackId first, std::uint16_t flags, const Sink& sink) const;
  void write_series(const std::vector<SeriesId>& ids, std::uint16_t flags, const Sink& sink) const;

  struct Text {
    std::string text;
    bool is_kept = false;  // for rows of traces
  };

  std::unordered_map<std::uint32_t, Text> texts_;
  absl::flat_hash_map<std::string_view, std::uint32_t> string_ids_;  // views into texts_
  std::unordered_map<SubjectId, SubjectState> subjects_;
  absl::flat_hash_map<SeriesId, SeriesState> series_;
  std::vector<SubjectId> ended_;
  std::vector<TextId> kept_texts_;  // of add_text(), in order
  std::size_t kept_text_bytes_ = 0;
  std::map<ThreadId, ThreadState> threads_;
  std::vector<std::pair<StackId, TextId>> stacks_;  // caller and frame of id - 1
  absl::flat_hash_map<std::uint64_t, StackId> stack_ids_;
  Rows new_;
  std::size_t new_bytes_ = 0;
  std::uint32_t last_string_ = 0;
  SubjectId last_subject_ = 0;
  SeriesId last_series_ = 0;
  ThreadId last_thread_ = 0;
};

}  // namespace vramscope::recording
