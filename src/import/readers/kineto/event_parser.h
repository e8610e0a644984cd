#pragma once
// Reads the elements of a traceEvents array from a window of text into a Batch. One object a thread.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "import/readers/kineto/batch.h"
#include "import/readers/kineto/text_buffer.h"

namespace vramscope::kineto {

// One event may be this large; a larger one is skipped and counted.
inline constexpr std::size_t kMostEventBytes = 64u << 20;

// How the parse of a window ended.
enum class WindowEnd {
  between_events,  // all of it was read, and it ends between two events
  inside_event,    // the text ends inside an event, which begins at `position`
  array_closed,    // the array's "]" is at `position` - 1
};

struct WindowResult {
  WindowEnd end = WindowEnd::between_events;
  std::size_t position = 0;
};

class EventParser {
 public:
  EventParser();

  // `window` needs the padding of a TextBuffer behind it; `offset` is its place in the text. `is_final`: what ends
  // inside an event is cut or damaged for good, so it is skipped from (with trouble) instead of handed back.
  WindowResult parse(std::string_view window, std::int64_t offset, bool is_final, Batch& batch);
  // The next event at or behind `from` that is whole and has phase, time and process, or npos: where to go on when an
  // event has no end. Objects among the arguments of that event do not look like this. Gives up after some tries.
  std::size_t find_whole_event(std::string_view window, std::size_t from);

  // The text of all strings of this thread; adopt it before the parser goes.
  TextArena take_strings() { return std::move(arena_); }

 private:
  struct Fields;
  enum class Parsed { ok, incomplete, malformed };

  Parsed read_event(const char*& at, const char* end, Fields& fields);
  Parsed read_args(const char*& at, const char* end, Fields& fields);
  static bool skips_args(const Fields& fields);
  static void take_member(std::string_view key, std::string_view value, bool is_string, bool has_escape,
                          Fields& fields);
  static void take_argument(std::string_view key, std::string_view value, bool is_string, bool has_escape,
                            Fields& fields);
  void emit(const Fields& fields, std::int64_t offset);
  void emit_span(const Fields& fields, CategoryId category, TrackId track, std::int64_t time_ns, std::int64_t offset);
  void emit_mark(const Fields& fields, CategoryId category, TrackId track, std::int64_t time_ns, std::int64_t offset);
  bool emit_memory(const Fields& fields, TrackId track, std::int64_t time_ns, std::int64_t offset);
  MemoryDevice memory_device(const Fields& fields, std::int64_t offset);
  std::int32_t small_number(std::string_view text, std::string_view trouble);
  void emit_name(const Fields& fields);
  std::uint32_t take_args(const Fields& fields, SpanKind kind, std::int64_t& id, StackId& stack);

  StringId intern(std::string_view text);
  StringId intern_string(std::string_view raw, bool has_escape);  // as written between quotes
  CategoryId category(std::string_view raw);
  TrackId track(std::string_view pid, std::string_view tid);

  struct LocalCategory {
    StringId name;
    SpanKind kind;
    bool is_forward_backward;
  };

  // A cache in front of the table: most names were seen a moment ago.
  struct Recent {
    std::string_view text;
    StringId id = 0;
  };

  Batch* batch_ = nullptr;
  TextArena arena_;
  absl::flat_hash_map<std::string_view, StringId> ids_;
  std::vector<Recent> recent_;
  StringId next_id_ = 1;
  std::vector<LocalCategory> categories_;
  absl::flat_hash_map<StringId, CategoryId> category_ids_;
  CategoryId last_category_ = 0;
  absl::flat_hash_map<std::uint64_t, TrackId> tracks_;
  std::string last_pid_;
  std::string last_tid_;
  TrackId last_track_ = kNone;
  std::vector<std::pair<std::string_view, std::string_view>> counter_values_;  // of the event being read
  std::string unescaped_;
  std::int64_t window_offset_ = 0;
};

// The start of the next element that looks like an event (`{` behind "," or "[", before a key's quote) at or
// behind `from`, or npos. A guess: used to cut windows (verified later) and to go on behind damage.
std::size_t find_event_start(std::string_view text, std::size_t from);
// The last such place before the end, or npos.
std::size_t rfind_event_start(std::string_view text);

// JSON's escapes undone into `out`; one that JSON does not know stays as written and is reported by the return.
bool unescape(std::string_view raw, std::string& out);

}  // namespace vramscope::kineto
