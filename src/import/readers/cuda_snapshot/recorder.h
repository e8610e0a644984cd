#pragma once
// Turns frames, stacks and log entries of a snapshot into rows while the pickle is still being read, so that they never
// exist as containers. Not thread-safe.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "import/readers/cuda_snapshot/machine.h"
#include "import/readers/cuda_snapshot/stacks.h"
#include "model/source.h"

namespace vramscope::pickle {

class Recorder : public Shrinker {
 public:
  Recorder(Store& store, Source& source);

  // Makes room for the log of a file of so many bytes, so that it never moves. Room that is not used costs nothing.
  void expect(std::int64_t file_bytes);

  // A list of frames becomes a stack.
  Value shrink_list(const Value* items, std::size_t count, std::int64_t offset) override;
  // {"filename", "line", "name"} becomes a frame; {"action", "size", "stream", …} a row.
  Value shrink_dict(const Value* items, std::size_t count, std::int64_t offset) override;

  // The row of a dictionary that was not shrunk.
  std::uint32_t add_entry(const Items& pairs, std::int64_t offset);
  AllocatorLog& rows() { return rows_; }
  std::vector<AllocatorNote>& notes() { return notes_; }

  StackId stack_of(Value frames, std::int64_t offset);
  // Text of the trace's own pool; of other values as JSON would write them. 0 for an absent value and None.
  StringId text_of(Value value);
  // Absent and wrong values are kUnknown; wrong ones are counted.
  std::int64_t integer_of(Value value, std::int64_t offset);
  // The same; negative sizes are kUnknown and counted.
  std::int64_t size_of(Value value, std::int64_t offset);
  std::uint64_t address_of(Value value, std::int64_t offset);
  void note(std::string_view name, std::int64_t offset, std::int64_t count = 1);
  // Sorted by name, into the source.
  void give_trouble();

 private:
  // What an entry holds besides its columns, by value: for most entries the same as for the one before.
  struct NoteKey {
    Value action, user_metadata, compile_context, category, pool, device_free;
    bool operator==(const NoteKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const NoteKey& key) {
      return H::combine(std::move(state), key.action.bits(), key.user_metadata.bits(), key.compile_context.bits(),
                        key.category.bits(), key.pool.bits(), key.device_free.bits());
    }
  };
  static constexpr std::size_t kMostFrames = 65'536;  // of one stack
  static constexpr std::size_t kMostText = 4096;      // of a value that is written out
  static constexpr std::size_t kMostTexts = 64u << 20;

  bool is_frame(const Value* items, std::size_t count) const;
  bool is_entry(const Value* items, std::size_t count) const;
  StringId frame_of(const Value* items, std::size_t count, std::int64_t offset);
  StringId frame_text(Value filename, Value line, Value name, std::int64_t offset);
  std::size_t frame_limit(std::size_t bytes, std::int64_t offset);
  StringId frame_of(Value value, std::int64_t offset);
  StringId to_trace(StringId own);
  StringId keep(std::string_view text);  // as UTF-8
  AllocatorAction action_of(Value value);
  std::uint32_t note_of(const NoteKey& key, std::int64_t offset);
  AllocatorNote make_note(const NoteKey& key, std::int64_t offset);
  void write(Value value, std::string& out, int depth) const;

  Store& store_;
  Source& source_;
  StackMaker stacks_;
  AllocatorLog rows_;
  std::vector<AllocatorNote> notes_;
  absl::flat_hash_map<NoteKey, std::uint32_t> note_ids_;
  NoteKey last_key_;
  std::uint32_t last_note_ = kNone;
  Column<StringId> to_trace_;                              // by StringId of the pickle's pool; kNone: not yet
  absl::flat_hash_map<std::uint64_t, StringId> texts_;     // of containers, by handle
  absl::flat_hash_map<std::uint64_t, StackId> stack_ids_;  // the same
  absl::flat_hash_map<std::uint64_t, StringId> frames_;    // the same
  std::size_t text_bytes_ = 0;
  std::vector<Trouble> trouble_;
  std::vector<Value> scratch_;
  std::string frame_text_;
  std::size_t frame_bytes_ = 0;  // of frames that are kept
};

}  // namespace vramscope::pickle
