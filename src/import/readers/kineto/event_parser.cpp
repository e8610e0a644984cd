#include "import/readers/kineto/event_parser.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/saturate.h"
#include "formats/kineto.h"
#include "import/readers/kineto/numbers.h"
#include "import/readers/kineto/scan.h"

namespace vramscope::kineto {

namespace {

constexpr std::size_t kRecentNames = 4096;  // a power of two

// Names differ in length, at the end and at the start; this reads 24 bytes at most.
std::size_t quick_hash(std::string_view text) {
  std::uint64_t words[3] = {0, 0, 0};
  const std::size_t n = text.size();
  if (n >= 8) {
    __builtin_memcpy(&words[0], text.data(), 8);
    __builtin_memcpy(&words[1], text.data() + n / 2 - 4, 8);
    __builtin_memcpy(&words[2], text.data() + n - 8, 8);
  } else if (n > 0) {
    __builtin_memcpy(&words[0], text.data(), n);
  }
  std::uint64_t hash = n * 0x9e3779b97f4a7c15u;
  for (const std::uint64_t word : words) hash = (hash ^ word) * 0xff51afd7ed558ccdu ^ (hash >> 29);
  return static_cast<std::size_t>(hash >> 40);
}

}  // namespace

// One event as text. Views point into the window, without quotes.
struct EventParser::Fields {
  // Members of the event by key; then arguments.
  std::string_view name, category, phase, pid, tid, time, duration, id;
  std::string_view external_id, correlation, device, stream, bytes_lower, bytes, address, total_allocated,
      total_reserved, device_type, device_id, sequence, forward_thread, flops, shapes, types, call_stack, args_name;
  bool name_has_escape = false, category_has_escape = false, call_stack_has_escape = false,
       args_name_has_escape = false;
  bool has_args = false;
  bool is_empty = true;  // "{}"
};

void Batch::note(std::string_view name, std::int64_t offset) {
  for (Trouble& known : trouble) {
    if (known.name != name) continue;
    ++known.count;
    known.first_offset = std::min(known.first_offset, offset);
    return;
  }
  trouble.push_back({std::string(name), 1, offset});
}

void Batch::clear() {
  *this = Batch();
}

EventParser::EventParser() = default;

StringId EventParser::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (recent_.empty()) recent_.resize(kRecentNames);
  Recent& recent = recent_[quick_hash(text) & (kRecentNames - 1)];
  if (recent.text == text) return recent.id;
  auto found = ids_.find(text);
  if (found == ids_.end()) {
    found = ids_.emplace(arena_.store(text), next_id_++).first;
    batch_->new_strings.push_back(found->first);
  }
  recent = {found->first, found->second};
  return found->second;
}

StringId EventParser::intern_string(std::string_view raw, bool has_escape) {
  if (!has_escape) return intern(raw);
  if (!unescape(raw, unescaped_)) batch_->note("odd_escape", window_offset_);
  return intern(unescaped_);
}

CategoryId EventParser::category(std::string_view text) {
  const StringId name = intern(text);
  if (last_category_ < categories_.size() && categories_[last_category_].name == name) return last_category_;
  constexpr std::size_t kMost = std::numeric_limits<CategoryId>::max();
  const auto next = static_cast<CategoryId>(std::min(categories_.size(), kMost - 1));
  const auto [slot, is_new] = category_ids_.try_emplace(name, next);
  if (is_new && categories_.size() < kMost) {
    categories_.push_back({name, kind_of(text), is_forward_backward(text)});
    batch_->new_categories.push_back(name);
  }
  last_category_ = slot->second;
  return last_category_;
}

TrackId EventParser::track(std::string_view pid, std::string_view tid) {
  if (last_track_ != kNone && pid == last_pid_ && tid == last_tid_) return last_track_;
  const StringId pid_name = intern(pid);
  const StringId tid_name = intern(tid);
  const std::uint64_t key = (std::uint64_t{pid_name} << 32) | tid_name;
  const auto [slot, is_new] = tracks_.try_emplace(key, static_cast<TrackId>(tracks_.size()));
  if (is_new) batch_->new_tracks.emplace_back(pid_name, tid_name);
  last_pid_ = pid;
  last_tid_ = tid;
  last_track_ = slot->second;
  return last_track_;
}

WindowResult EventParser::parse(std::string_view window, std::int64_t offset, bool is_final, Batch& batch) {
  batch_ = &batch;
  window_offset_ = offset;
  const char* const begin = window.data();
  const char* const end = begin + window.size();
  const char* at = begin;
  Fields fields;
  const auto result = [&](WindowEnd how, const char* where) {
    batch.events_by_category.resize(categories_.size(), 0);
    return WindowResult{how, static_cast<std::size_t>(where - begin)};
  };
  for (;;) {
    at = skip_space(at, end);
    while (at < end && *at == ',') at = skip_space(at + 1, end);
    if (at >= end) return result(WindowEnd::between_events, end);
    if (*at == ']') return result(WindowEnd::array_closed, at + 1);
    const char* const event = at;
    const std::int64_t event_offset = offset + (event - begin);
    Parsed parsed = Parsed::malformed;
    if (*at == '{') {
      fields = Fields();
      counter_values_.clear();
      parsed = read_event(at, end, fields);
    }
    if (parsed == Parsed::ok) {
      emit(fields, event_offset);
      continue;
    }
    if (parsed == Parsed::incomplete && !is_final) return result(WindowEnd::inside_event, event);
    batch.note(parsed == Parsed::incomplete ? "cut_event" : "malformed_event", event_offset);
    const std::size_t behind = static_cast<std::size_t>(event - begin) + 1;
    const std::size_t next =
        parsed == Parsed::incomplete ? find_whole_event(window, behind) : find_event_start(window, behind);
    if (next != std::string_view::npos) {
      at = begin + next;
      continue;
    }
    // Without another event in sight: the array may close, or the next window holds one.
    const std::size_t close = window.rfind(']');
    if (is_final && close != std::string_view::npos && close >= behind && parsed == Parsed::malformed) {
      return result(WindowEnd::array_closed, begin + close + 1);
    }
    return result(WindowEnd::between_events, end);
  }
}

std::size_t EventParser::find_whole_event(std::string_view window, std::size_t from) {
  constexpr int kMostTries = 1000;
  constexpr std::size_t kMostBytes = 64 * 1024;  // of one try, so that all of them stay cheap
  std::size_t next = find_event_start(window, from);
  for (int tries = 0; tries < kMostTries && next != std::string_view::npos; ++tries) {
    const char* at = window.data() + next;
    const char* const end = at + std::min(kMostBytes, window.size() - next);
    Fields fields;
    counter_values_.clear();
    if (read_event(at, end, fields) == Parsed::ok && fields.phase.size() == 1 && !fields.time.empty() &&
        !fields.pid.empty()) {
      return next;
    }
    next = find_event_start(window, next + 1);
  }
  return std::string_view::npos;
}

namespace {

enum class Step { ok, incomplete, malformed };

// A value's text without quotes.
struct ValueText {
  std::string_view text;
  bool is_string = false;
  bool has_escape = false;
};

// Reads the value that `at` is on and moves behind it. Objects go to `nested`, which may read them itself.
template <typename Nested>
Step read_value(const char*& at, const char* end, ValueText& value, const Nested& nested) {
  const char* const begin = at;
  if (*at == '"') {
    const char* const close = string_end(at + 1, end, value.has_escape);
    if (close >= end) return Step::incomplete;
    value.text = std::string_view(at + 1, static_cast<std::size_t>(close - at - 1));
    value.is_string = true;
    at = close + 1;
    return Step::ok;
  }
  if (*at == '{' || *at == '[') {
    const Step step = nested(at);
    if (step != Step::ok) return step;
  } else {
    at = scalar_end(at, end);
    if (at >= end) return Step::incomplete;
    if (at == begin) return Step::malformed;
  }
  value.text = std::string_view(begin, static_cast<std::size_t>(at - begin));
  return Step::ok;
}

Step skip_value(const char*& at, const char* end) {
  const char* const behind = skip_nested(at, end);
  if (behind == nullptr) return Step::incomplete;
  at = behind;
  return Step::ok;
}

// The closing quote of one of an event's usual keys, or nullptr: two to four letters need no search.
const char* end_of_usual_key(const char* key) {
  std::uint32_t four = 0;
  std::memcpy(&four, key, 4);
  const auto letters = [](const char(&text)[5]) {
    std::uint32_t word = 0;
    std::memcpy(&word, text, 4);
    return word;
  };
  if (four == letters("cat\"") || four == letters("pid\"") || four == letters("tid\"") || four == letters("dur\"")) {
    return key + 3;
  }
  if (four == letters("ts\":") || four == letters("ph\":") || four == letters("id\":")) return key + 2;
  if ((four == letters("name") || four == letters("args")) && key[4] == '"') return key + 4;
  return nullptr;
}

// Reads `"key": value` members from the brace to behind its partner. member(key, at) reads the value.
template <typename Member>
Step read_members(const char*& at, const char* end, const Member& member) {
  at = skip_space(at + 1, end);
  if (at < end && *at == '}') {
    ++at;
    return Step::ok;
  }
  std::string plain_key;  // of a key written with escapes
  for (;;) {
    if (at >= end) return Step::incomplete;
    if (*at != '"') return Step::malformed;
    bool key_has_escape = false;
    const char* const key_begin = at + 1;
    const char* key_end = end_of_usual_key(key_begin);  // may look into the padding
    if (key_end == nullptr) key_end = string_end(key_begin, end, key_has_escape);
    if (key_end >= end) return Step::incomplete;
    at = key_end + 1;
    if (*at != ':') {
      at = skip_space(at, end);
      if (at >= end) return Step::incomplete;
      if (*at != ':') return Step::malformed;
    }
    at = skip_space(at + 1, end);
    if (at >= end) return Step::incomplete;
    std::string_view key(key_begin, static_cast<std::size_t>(key_end - key_begin));
    if (key_has_escape) {
      unescape(key, plain_key);
      key = plain_key;
    }
    const Step step = member(key);
    if (step != Step::ok) return step;
    if (*at != ',') {
      at = skip_space(at, end);
      if (at >= end) return Step::incomplete;
      if (*at == '}') {
        ++at;
        return Step::ok;
      }
      if (*at != ',') return Step::malformed;
    }
    at = skip_space(at + 1, end);
    if (at < end && *at == '}') {  // a comma too many
      ++at;
      return Step::ok;
    }
  }
}

}  // namespace

EventParser::Parsed EventParser::read_event(const char*& at, const char* end, Fields& fields) {
  const auto member = [&](std::string_view key) {
    fields.is_empty = false;
    ValueText value;
    const bool is_args = key == "args";
    const auto nested = [&](const char*& nested_at) {
      if (!is_args || *nested_at != '{' || skips_args(fields)) return skip_value(nested_at, end);
      return static_cast<Step>(read_args(nested_at, end, fields));
    };
    const Step step = read_value(at, end, value, nested);
    if (step == Step::ok && !is_args) take_member(key, value.text, value.is_string, value.has_escape, fields);
    return step;
  };
  return static_cast<Parsed>(read_members(at, end, member));
}

EventParser::Parsed EventParser::read_args(const char*& at, const char* end, Fields& fields) {
  fields.has_args = true;
  const bool wants_numbers = fields.phase.empty() || fields.phase == "C";  // args may come before the phase
  const auto member = [&](std::string_view key) {
    ValueText value;
    const Step step = read_value(at, end, value, [&](const char*& nested_at) { return skip_value(nested_at, end); });
    if (step != Step::ok) return step;
    if (wants_numbers && !value.is_string) counter_values_.emplace_back(key, value.text);
    take_argument(key, value.text, value.is_string, value.has_escape, fields);
    return step;
  };
  return static_cast<Parsed>(read_members(at, end, member));
}

// Python frames are most of a trace that has them, and nothing of their arguments is used.
bool EventParser::skips_args(const Fields& fields) {
  return fields.category == "python_function" && fields.phase == "X";
}

void EventParser::take_member(std::string_view key, std::string_view value, bool is_string, bool has_escape,
                              Fields& fields) {
  switch (key.size()) {
    case 2:
      if (key == "ph") fields.phase = value;
      if (key == "ts") fields.time = value;
      if (key == "id") fields.id = value;
      break;
    case 3:
      if (key == "pid") fields.pid = value;
      if (key == "tid") fields.tid = value;
      if (key == "dur") fields.duration = value;
      if (is_string && key == "cat") {
        fields.category = value;
        fields.category_has_escape = has_escape;
      }
      break;
    case 4:
      if (is_string && key == "name") {
        fields.name = value;
        fields.name_has_escape = has_escape;
      }
      break;
    default:
      break;
  }
}

void EventParser::take_argument(std::string_view key, std::string_view value, bool is_string, bool has_escape,
                                Fields& fields) {
  switch (key.size()) {
    case 4:
      if (is_string && key == "name") {
        fields.args_name = value;
        fields.args_name_has_escape = has_escape;
      }
      if (key == "Addr") fields.address = value;
      break;
    case 5:
      if (key == "Bytes") fields.bytes = value;
      if (key == "bytes") fields.bytes_lower = value;
      if (key == "flops" || key == "Flops") fields.flops = value;
      break;
    case 6:
      if (key == "device") fields.device = value;
      if (key == "stream") fields.stream = value;
      break;
    case 9:
      if (key == "Device Id") fields.device_id = value;
      break;
    case 10:
      if (is_string) {
        if (key != "Call stack") break;
        fields.call_stack = value;
        fields.call_stack_has_escape = has_escape;
        break;
      }
      if (key == "Input Dims") fields.shapes = value;
      if (key == "Input type") fields.types = value;
      break;
    case 11:
      if (key == "External id" || key == "external id") fields.external_id = value;
      if (key == "correlation") fields.correlation = value;
      if (key == "Device Type") fields.device_type = value;
      break;
    case 12:
      if (key == "Input Shapes" && !is_string) fields.shapes = value;
      break;
    case 13:
      if (key == "Fwd thread id") fields.forward_thread = value;
      break;
    case 14:
      if (key == "Total Reserved") fields.total_reserved = value;
      break;
    case 15:
      if (key == "Total Allocated") fields.total_allocated = value;
      if (key == "Sequence number") fields.sequence = value;
      break;
    default:
      break;
  }
}

void EventParser::emit(const Fields& fields, std::int64_t offset) {
  window_offset_ = offset;
  Batch& batch = *batch_;
  // Exporters that write a comma before each event begin with one that is empty: it stands for nothing.
  if (fields.is_empty) {
    batch.note("empty_event", offset);
    return;
  }
  const char phase = fields.phase.size() == 1 ? fields.phase.front() : '\0';
  if (phase == 'M') {
    ++batch.metadata_events;
    emit_name(fields);
    return;
  }
  ++batch.events;
  std::string_view category_text = fields.category;
  std::string category_unescaped;
  if (fields.category_has_escape) {
    unescape(fields.category, category_unescaped);
    category_text = category_unescaped;
  }
  const CategoryId category_id = category(category_text);
  if (batch.events_by_category.size() < categories_.size()) batch.events_by_category.resize(categories_.size(), 0);
  ++batch.events_by_category[category_id];
  if (phase == '\0') {
    batch.note("event_without_phase", offset);
    return;
  }
  const std::optional<std::int64_t> time_ns = nanoseconds_from_microseconds(fields.time);
  if (!time_ns) {
    batch.note(is_number(fields.time) ? "time_out_of_range" : "event_without_time", offset);
    return;
  }
  batch.first_ns = std::min(batch.first_ns, *time_ns);
  batch.last_ns = std::max(batch.last_ns, *time_ns);
  const TrackId track_id = track(fields.pid, fields.tid);
  switch (phase) {
    case 'X':
      emit_span(fields, category_id, track_id, *time_ns, offset);
      return;
    case 'B':
    case 'E':
      emit_mark(fields, category_id, track_id, *time_ns, offset);
      return;
    case 's':
    case 't':
    case 'f': {
      FlowRow row;
      row.time_ns = *time_ns;
      row.id = integer(fields.id, true).value_or(kUnknown);
      row.offset = offset;
      row.track = track_id;
      row.category = category_id;
      row.is_start = phase == 's';
      row.is_forward_backward = categories_[category_id].is_forward_backward;
      if (phase != 't') batch.flows.push_back(row);
      return;
    }
    case 'C': {
      const StringId name = intern_string(fields.name, fields.name_has_escape);
      for (const auto& [key, text] : counter_values_) {
        double value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (parsed.ec == std::errc()) batch.counters.push_back({*time_ns, value, name, intern(key), track_id});
      }
      return;
    }
    default:
      break;
  }
  if (fields.name == kMemoryEvent && emit_memory(fields, track_id, *time_ns, offset)) return;
  if (phase != 'i' && phase != 'I' && phase != 'R') batch.note("other_phase", offset);
  Instant instant;
  instant.time_ns = *time_ns;
  instant.name = intern_string(fields.name, fields.name_has_escape);
  instant.category = category_id;
  instant.track = track_id;
  batch.instants.push_back(instant);
}

void EventParser::emit_span(const Fields& fields, CategoryId category_id, TrackId track_id, std::int64_t time_ns,
                            std::int64_t offset) {
  Batch& batch = *batch_;
  SpanRow row;
  row.start_ns = time_ns;
  if (const std::optional<std::int64_t> duration = nanoseconds_from_microseconds(fields.duration)) {
    row.duration_ns = *duration;
  } else {
    batch.note(fields.duration.empty() ? "span_without_duration" : "odd_duration", offset);
  }
  row.offset = offset;
  row.name = intern_string(fields.name, fields.name_has_escape);
  row.track = track_id;
  row.category = category_id;
  row.args = take_args(fields, categories_[category_id].kind, row.id, row.stack);
  if (row.duration_ns > 0) batch.last_ns = std::max(batch.last_ns, saturating_add(time_ns, row.duration_ns));
  batch.spans.push_back(row);
}

void EventParser::emit_mark(const Fields& fields, CategoryId category_id, TrackId track_id, std::int64_t time_ns,
                            std::int64_t offset) {
  MarkRow row;
  row.time_ns = time_ns;
  row.offset = offset;
  row.name = intern_string(fields.name, fields.name_has_escape);
  row.track = track_id;
  row.category = category_id;
  row.is_begin = fields.phase.front() == 'B';
  StackId stack = 0;
  if (row.is_begin) row.args = take_args(fields, categories_[category_id].kind, row.id, stack);
  batch_->marks.push_back(row);
}

std::uint32_t EventParser::take_args(const Fields& fields, SpanKind kind, std::int64_t& id, StackId& stack) {
  if (!fields.has_args) return kNone;
  Batch& batch = *batch_;
  if (kind == SpanKind::cpu_op || kind == SpanKind::annotation) {
    id = integer(fields.external_id).value_or(kUnknown);
    // The parser's own id of the whole text; the merge makes a stack of it.
    stack = intern_string(fields.call_stack, fields.call_stack_has_escape);
    OpArgs args;
    args.shapes = intern(fields.shapes);
    args.types = intern(fields.types);
    args.sequence_number = integer(fields.sequence).value_or(kUnknown);
    const std::int64_t thread = integer(fields.forward_thread).value_or(-1);
    args.forward_thread = static_cast<std::int32_t>(std::clamp<std::int64_t>(thread, -1, 0x7fffffff));
    if (!fields.flops.empty())
      args.gigaflops = static_cast<float>(static_cast<double>(integer(fields.flops).value_or(0)) / 1e9);
    if (args.shapes == 0 && args.types == 0 && args.sequence_number == kUnknown && args.forward_thread < 0 &&
        args.gigaflops < 0) {
      return kNone;
    }
    batch.op_args.push_back(args);
    return static_cast<std::uint32_t>(batch.op_args.size() - 1);
  }
  if (kind == SpanKind::python_call) return kNone;
  id = integer(fields.correlation, true).value_or(kUnknown);
  if (id == kUnknown && !fields.correlation.empty()) batch.note("odd_id", window_offset_);
  DeviceArgs args;
  args.external_id = integer(fields.external_id).value_or(kUnknown);
  args.bytes = integer(fields.bytes_lower).value_or(kUnknown);
  args.device = small_number(fields.device, "odd_device_id");
  args.stream = small_number(fields.stream, "odd_stream_id");
  if (args.external_id == kUnknown && args.bytes == kUnknown && args.device < 0 && args.stream < 0) return kNone;
  batch.device_args.push_back(args);
  return static_cast<std::uint32_t>(batch.device_args.size() - 1);
}

bool EventParser::emit_memory(const Fields& fields, TrackId track_id, std::int64_t time_ns, std::int64_t offset) {
  const std::optional<std::int64_t> bytes = integer(fields.bytes);
  if (!bytes || *bytes == kUnknown) {
    batch_->note("memory_event_without_bytes", offset);
    return false;
  }
  MemoryRow row;
  row.time_ns = time_ns;
  row.bytes = *bytes;
  row.track = track_id;
  if (const auto address = integer(fields.address, true)) row.address = static_cast<std::uint64_t>(*address);
  row.total_allocated = integer(fields.total_allocated).value_or(kUnknown);
  row.total_reserved = integer(fields.total_reserved).value_or(kUnknown);
  row.device = memory_device(fields, offset);
  batch_->memory.push_back(row);
  return true;
}

// What the events' own device says; one that cannot be is an unknown device, not the CPU.
MemoryDevice EventParser::memory_device(const Fields& fields, std::int64_t offset) {
  MemoryDevice device;
  constexpr std::int64_t kMostTypes = 127;  // c10::DeviceType is an int8_t
  if (fields.device_type.empty()) {
    batch_->note("memory_event_without_device", offset);
  } else if (const auto type = whole_number(fields.device_type); type && *type >= 0 && *type <= kMostTypes) {
    device.type = static_cast<std::int32_t>(*type);
  } else {
    batch_->note("odd_device_type", offset);
    device.type = MemoryDevice::kUnknownType;
  }
  const std::int32_t index = small_number(fields.device_id, "odd_device_id");
  // Exporters give the CPU the index -1, 0 or none at all: it is one device.
  device.index = device.is_cpu() ? -1 : index;
  return device;
}

// A device's or stream's number; -1 is how exporters write none, and what an impossible one becomes.
std::int32_t EventParser::small_number(std::string_view text, std::string_view trouble) {
  if (text.empty()) return -1;
  constexpr std::int64_t kMost = 0x7fff;
  const std::optional<std::int64_t> number = whole_number(text);
  if (number && *number >= -1 && *number <= kMost) return static_cast<std::int32_t>(*number);
  batch_->note(trouble, window_offset_);
  return -1;
}

void EventParser::emit_name(const Fields& fields) {
  if (fields.args_name.empty()) return;
  std::string_view name = fields.args_name;
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  if (fields.name == "process_name") {
    batch_->names.push_back({intern(fields.pid), 0, intern_string(name, fields.args_name_has_escape)});
  } else if (fields.name == "thread_name") {
    batch_->names.push_back({intern(fields.pid), intern(fields.tid), intern_string(name, fields.args_name_has_escape)});
  }
}

}  // namespace vramscope::kineto
