#pragma once
// What a rule found: ids and typed arguments only. The sentences are made in src/report, in the user's
// language, from the message ids that the rule gives.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace vramscope {

enum class Severity : std::uint8_t {
  info,     // worth knowing; a healthy run may show it
  warning,  // costs a relevant share of time or memory
  error,    // the run will fail or its result is wrong
};

// How a number is shown to a person. Machines get the number and the unit's name.
enum class Unit : std::uint8_t {
  none,
  bytes,
  bytes_per_step,
  bytes_per_sample,
  bytes_per_hour,
  nanoseconds,
  share,
  count,
  per_step
};

struct Value {
  std::variant<std::int64_t, double, std::string> data;
  Unit unit = Unit::none;
};

using Arguments = std::vector<std::pair<std::string, Value>>;

// A message id with {name} places, and what goes there. An id made by NN_ (text/catalogue.h) has a form for one and a
// form for many: the first place in it that holds a count decides.
struct Message {
  const char* id = "";
  Arguments arguments;
};

struct Evidence {
  const char* what = "";  // msgid, English: "growth of allocated memory"
  Value value;
  Message where;  // where in the input: "cuda:0, steps 3 to 12", "train.py(42): step"
};

struct Finding {
  std::string rule;  // id: "memory-growth"
  Severity severity = Severity::info;
  double confidence = 0;  // 0..1, computed from the data
  std::string source;     // path of the source that it is about
  // Message ids with {name} places, filled from `arguments`.
  const char* title = "";
  const char* summary = "";
  const char* fix = "";  // in words
  std::string fix_code;  // a few lines of Python, not translated; may be empty
  Arguments arguments;
  // Further sentences of the summary, and what to do besides `fix` in the order in which to try it. Each has arguments
  // of its own.
  std::vector<Message> details;
  std::vector<Message> fixes;
  std::vector<Evidence> evidence;
  // The allocations that the finding is about, as indices into Trace::memory, ascending; empty where it is about no
  // bytes that stay.
  std::vector<std::uint32_t> kept_events;
  // Another finding that is about the same bytes; an empty id without one.
  Message same_bytes;
};

struct Skipped {
  std::string rule;
  std::string source;
  const char* why = "";  // msgid with {name} places
  Arguments arguments;
  bool is_other_kind = false;  // the rule is about another kind of file
};

// The rule had what it needs and found nothing.
struct Passed {
  std::string rule;
  std::string source;
};

}  // namespace vramscope
