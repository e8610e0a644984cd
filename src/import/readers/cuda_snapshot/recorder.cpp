#include "import/readers/cuda_snapshot/recorder.h"

#include <algorithm>
#include <string>

#include "formats/cuda_snapshot.h"
#include "text/utf8.h"

namespace vramscope::pickle {

namespace {

Key key_of(Value value) {
  return value.is(Tag::text) && value.payload() < static_cast<std::uint64_t>(Key::count) ? static_cast<Key>(value.id())
                                                                                         : Key::none;
}

}  // namespace

Recorder::Recorder(Store& store, Source& source) : store_(store), source_(source), stacks_(source.trace.stacks) {}

void Recorder::expect(std::int64_t file_bytes) {
  constexpr std::int64_t kBytesPerEntry = 80;  // the shortest entries are about that long
  constexpr std::int64_t kMost = 16'000'000;
  const auto entries = static_cast<std::size_t>(std::clamp(file_bytes / kBytesPerEntry, std::int64_t{0}, kMost));
  rows_.action.reserve(entries);
  rows_.time_ns.reserve(entries);
  rows_.address.reserve(entries);
  rows_.bytes.reserve(entries);
  rows_.stream.reserve(entries);
  rows_.stack.reserve(entries);
  rows_.note.reserve(entries);
}

void Recorder::note(std::string_view name, std::int64_t offset, std::int64_t count) {
  for (Trouble& known : trouble_) {
    if (known.name != name) continue;
    known.count += count;
    known.first_offset = std::min(known.first_offset, offset);
    return;
  }
  trouble_.push_back({std::string(name), count, offset});
}

void Recorder::give_trouble() {
  std::sort(trouble_.begin(), trouble_.end(), [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  source_.trouble = trouble_;
}

StringId Recorder::keep(std::string_view text) {
  unsigned char bits = 0;
  for (const char c : text) bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
  StringPool& strings = source_.trace.strings;
  return bits < 0x80 ? strings.intern(text) : strings.intern(valid_utf8(text));
}

StringId Recorder::to_trace(StringId own) {
  if (own == 0) return 0;
  if (own >= to_trace_.size()) to_trace_.resize(store_.strings.size(), kNone);
  StringId& known = to_trace_[own];
  if (known == kNone) {
    // No name of the field is longer, and one text may stand for many values.
    const std::string_view text = store_.strings.view(own).substr(0, kMostText);
    const bool is_ascii =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    known = source_.trace.strings.intern(is_ascii ? std::string(text) : valid_utf8(text));
  }
  return known;
}

bool Recorder::is_frame(const Value* items, std::size_t count) const {
  bool has_file = false;
  bool has_name = false;
  for (std::size_t i = 0; i < count; i += 2) {
    has_file = has_file || key_of(items[i]) == Key::filename;
    has_name = has_name || key_of(items[i]) == Key::name;
  }
  return has_file && has_name;
}

bool Recorder::is_entry(const Value* items, std::size_t count) const {
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < count; i += 2) {
    const Key key = key_of(items[i]);
    if (key == Key::none || key > Key::device) return false;
    seen |= std::uint64_t{1} << static_cast<unsigned>(key);
  }
  constexpr auto bit = [](Key key) { return std::uint64_t{1} << static_cast<unsigned>(key); };
  constexpr std::uint64_t kWanted = bit(Key::action) | bit(Key::size) | bit(Key::stream);
  return (seen & kWanted) == kWanted && (seen & (bit(Key::addr) | bit(Key::device_free))) != 0;
}

Value Recorder::shrink_list(const Value* items, std::size_t count, std::int64_t) {
  if (!items[0].is(Tag::frame)) return {};
  const std::optional<StackId> stack = stacks_.stack(items, count);
  return stack ? Value{Tag::stack, *stack} : Value{};
}

Value Recorder::shrink_dict(const Value* items, std::size_t count, std::int64_t offset) {
  if (count < 4) return {};
  // An entry begins with its action, in every version; the shape is looked at in full.
  if (is_entry(items, count)) {
    Items pairs;
    pairs.data = const_cast<Value*>(items);
    pairs.size = static_cast<std::uint32_t>(count);
    return {Tag::entry, add_entry(pairs, offset)};
  }
  if (is_frame(items, count)) return {Tag::frame, frame_of(items, count, offset)};
  return {};
}

// A name that a million frames share is small in the file and would be a million names here.
std::size_t Recorder::frame_limit(std::size_t bytes, std::int64_t offset) {
  constexpr std::size_t kMostOfOne = 4096;
  constexpr std::size_t kMostOfAll = 16u << 20;
  constexpr std::size_t kFew = 512;
  const std::size_t limit = frame_bytes_ < kMostOfAll ? kMostOfOne : kFew;
  if (bytes > limit) note("long_frame", offset);
  return limit;
}

// Of a path that is too long the end, of a function the beginning.
StringId Recorder::frame_text(Value filename, Value line, Value name, std::int64_t offset) {
  constexpr std::string_view kMore = "\xe2\x80\xa6";
  const std::string_view file = store_.text_of(filename);
  const std::string_view function = store_.text_of(name);
  const std::size_t limit = frame_limit(std::max(file.size(), function.size()), offset);
  std::string& text = frame_text_;
  text.clear();
  if (!file.empty() && file != "??") {
    if (file.size() > limit) text.assign(kMore);
    text += file.size() > limit ? file.substr(file.size() - limit) : file;
    text += '(';
    text += std::to_string(store_.as_int64(line).value_or(0));
    text += "): ";
  }
  text += function.substr(0, limit);
  if (function.size() > limit) text += kMore;
  const std::size_t known = source_.trace.strings.size();
  const StringId frame = keep(text);
  if (source_.trace.strings.size() > known) frame_bytes_ += text.size();
  return frame;
}

StringId Recorder::frame_of(const Value* items, std::size_t count, std::int64_t offset) {
  Value parts[3];
  for (std::size_t i = 0; i < count; i += 2) {
    const Key key = key_of(items[i]);
    if (key == Key::filename) parts[0] = items[i + 1];
    if (key == Key::line) parts[1] = items[i + 1];
    if (key == Key::name) parts[2] = items[i + 1];
  }
  return frame_text(parts[0], parts[1], parts[2], offset);
}

// An element of a list of frames that was not shrunk.
StringId Recorder::frame_of(Value value, std::int64_t offset) {
  value = store_.resolve(value);
  if (value.is(Tag::frame)) return value.id();
  if (value.is(Tag::text)) return to_trace(value.id());
  if (!store_.is_dict(value)) {
    note("wrong_type", offset);
    return 0;
  }
  const auto [slot, is_new] = frames_.try_emplace(value.payload());
  if (is_new) {
    const Items pairs = store_.items(value);
    slot->second = frame_of(pairs.data, pairs.size, offset);
  }
  return slot->second;
}

StackId Recorder::stack_of(Value frames, std::int64_t offset) {
  frames = store_.resolve(frames);
  if (frames.is_absent() || frames == kNothing) return 0;
  if (frames.is(Tag::stack)) return frames.id();
  if (!store_.is_list(frames)) {
    note("wrong_type", offset);
    return 0;
  }
  const Items items = store_.items(frames);
  if (items.size == 0) return 0;
  const auto [slot, is_new] = stack_ids_.try_emplace(frames.payload());
  if (!is_new) return slot->second;
  if (items.size > kMostFrames) note("stack_too_deep", offset);
  scratch_.clear();
  for (std::size_t i = 0; i < std::min<std::size_t>(items.size, kMostFrames); ++i) {
    const StringId frame = frame_of(items.data[i], offset);
    if (frame != 0) scratch_.emplace_back(Tag::frame, frame);
  }
  slot->second = stacks_.stack(scratch_.data(), scratch_.size()).value_or(0);
  return slot->second;
}

std::int64_t Recorder::integer_of(Value value, std::int64_t offset) {
  if (value.is_absent() || value == kNothing) return kUnknown;
  const std::optional<std::int64_t> whole = store_.as_int64(value);
  if (!whole) {
    note("wrong_type", offset);
    return kUnknown;
  }
  const Number* large = store_.number_of(value);
  if (large != nullptr && (large->is_clamped || large->magnitude >> 63 != 0)) note("number_too_large", offset);
  return *whole;
}

std::int64_t Recorder::size_of(Value value, std::int64_t offset) {
  const std::int64_t bytes = integer_of(value, offset);
  if (bytes >= 0 || bytes == kUnknown) return bytes;
  note("negative_size", offset);
  return kUnknown;
}

std::uint64_t Recorder::address_of(Value value, std::int64_t offset) {
  if (value.is_absent() || value == kNothing) return kUnknownAddress;
  const std::optional<std::uint64_t> address = store_.as_address(value);
  if (!address) note("wrong_type", offset);
  return address.value_or(kUnknownAddress);
}

AllocatorAction Recorder::action_of(Value value) {
  return cuda_snapshot::action_of(store_.text_of(value));
}

std::uint32_t Recorder::note_of(const NoteKey& key, std::int64_t offset) {
  if (key == last_key_) return last_note_;
  const auto known = note_ids_.find(key);
  std::uint32_t id = kNone;
  if (known != note_ids_.end()) {
    id = known->second;
  } else {
    const AllocatorNote made = make_note(key, offset);
    if (made != AllocatorNote{}) {
      id = static_cast<std::uint32_t>(notes_.size());
      notes_.push_back(made);
    }
    note_ids_.emplace(key, id);
  }
  last_key_ = key;
  last_note_ = id;
  return id;
}

AllocatorNote Recorder::make_note(const NoteKey& key, std::int64_t offset) {
  AllocatorNote made;
  made.action = text_of(key.action);
  made.user_metadata = text_of(key.user_metadata);
  if (store_.text_of(key.compile_context) != "N/A") made.compile_context = text_of(key.compile_context);
  made.category = text_of(key.category);
  made.pool = text_of(key.pool);
  made.device_free_bytes = integer_of(key.device_free, offset);
  return made;
}

std::uint32_t Recorder::add_entry(const Items& pairs, std::int64_t offset) {
  NoteKey key;
  Value addr, size, stream, time, frames;
  for (std::uint32_t i = 0; i + 1 < pairs.size; i += 2) {
    const Value value = pairs.data[i + 1];
    switch (key_of(pairs.data[i])) {
      case Key::action:
        key.action = value;
        break;
      case Key::addr:
        addr = value;
        break;
      case Key::device_free:
        key.device_free = value;
        break;
      case Key::size:
        size = value;
        break;
      case Key::stream:
        stream = value;
        break;
      case Key::time_us:
        time = value;
        break;
      case Key::frames:
        frames = value;
        break;
      case Key::compile_context:
        key.compile_context = value;
        break;
      case Key::user_metadata:
        key.user_metadata = value;
        break;
      case Key::category:
        key.category = value;
        break;
      case Key::pool_id:
      case Key::segment_pool_id:
        key.pool = value;
        break;
      default:
        break;
    }
  }
  const AllocatorAction action = action_of(key.action);
  if (action != AllocatorAction::other) key.action = {};
  const std::int64_t time_us = integer_of(time, offset);
  std::int64_t time_ns = kUnknown;
  if (time_us != kUnknown && __builtin_mul_overflow(time_us, std::int64_t{1000}, &time_ns)) {
    time_ns = kUnknown;
    note("time_overflow", offset);
  }
  rows_.action.push_back(action);
  rows_.time_ns.push_back(time_ns);
  rows_.address.push_back(address_of(addr, offset));
  rows_.bytes.push_back(size_of(size, offset));
  rows_.stream.push_back(integer_of(stream, offset));
  rows_.stack.push_back(stack_of(frames, offset));
  rows_.note.push_back(note_of(key, offset));
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

}  // namespace vramscope::pickle
