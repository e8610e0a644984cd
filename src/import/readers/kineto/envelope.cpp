#include "import/readers/kineto/envelope.h"

#include "import/readers/kineto/numbers.h"
#include "import/readers/kineto/scan.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"

namespace vramscope::kineto {

namespace {

constexpr std::size_t kMostKept = 16u << 20;  // of one member
constexpr std::size_t kMostScalar = 64 * 1024;
constexpr std::size_t kMostMembers = 4096;

}  // namespace

Envelope::State Envelope::feed(std::string_view text, std::size_t& used) {
  used = text.size();
  if (is_broken_) return State::broken;
  std::size_t skipped = 0;
  if (skipper_.is_active()) {
    const char* const behind = skipper_.feed(text.data(), text.data() + text.size());
    if (behind == nullptr) return State::wants_more;
    skipped = static_cast<std::size_t>(behind - text.data());
    text.remove_prefix(skipped);
  }
  const State state = feed_pending(text, used);
  used += skipped;
  return state;
}

Envelope::State Envelope::feed_pending(std::string_view text, std::size_t& used) {
  if (pending_.empty()) {
    const State state = step(text, used);
    if (state == State::wants_more) {
      pending_.append(text.substr(used));
      used = text.size();
    }
    return state;
  }
  const std::size_t before = pending_.size();
  pending_.append(text);
  std::size_t taken = 0;
  const State state = step(pending_.view(), taken);
  if (state == State::wants_more) {
    if (taken > 0) pending_ = TextBuffer(pending_.view().substr(taken));
    used = text.size();
    if (pending_.size() > kMostPending) is_broken_ = true;
    return is_broken_ ? State::broken : state;
  }
  used = taken > before ? taken - before : 0;
  pending_.clear();
  return state;
}

// Reads whole members from the front of `text`; `used` is the place behind the last whole one.
Envelope::State Envelope::step(std::string_view text, std::size_t& used) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  const auto stop = [&](State state, const char* where) {
    used = static_cast<std::size_t>(where - begin);
    is_broken_ = state == State::broken;
    return state;
  };
  if (!has_begun_) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text.substr(0, kMark.size()) == kMark) at += kMark.size();
    at = skip_space(at, end);
    if (at >= end) return stop(State::wants_more, begin);
    if (*at != '{' && *at != '[') return stop(State::broken, at);
    has_begun_ = true;
    is_list_ = *at == '[';
    ++at;
    if (is_list_) {
      has_events_ = in_events_ = true;
      return stop(State::at_events, at);
    }
  }
  for (;;) {
    at = skip_space(at, end);
    while (at < end && *at == ',') at = skip_space(at + 1, end);
    const char* const member = at;
    if (at >= end) return stop(State::wants_more, member);
    if (is_list_ || *at == '}') {
      is_closed_ = true;
      return stop(State::closed, at < end && *at == '}' ? at + 1 : at);
    }
    if (*at != '"') return stop(State::broken, at);
    bool has_escape = false;
    const char* const key_end = string_end(at + 1, end, has_escape);
    if (key_end >= end) return stop(State::wants_more, member);
    const std::string_view key(at + 1, static_cast<std::size_t>(key_end - at - 1));
    at = skip_space(key_end + 1, end);
    if (at >= end) return stop(State::wants_more, member);
    if (*at != ':') return stop(State::broken, at);
    at = skip_space(at + 1, end);
    if (at >= end) return stop(State::wants_more, member);
    if (key == "traceEvents" && *at == '[') {
      has_events_ = in_events_ = true;
      return stop(State::at_events, at + 1);
    }
    const char* const value = at;
    if (const std::optional<State> stopped = pass_value(key, at, end)) {
      return stop(*stopped, skipper_.is_active() || *stopped == State::broken ? at : member);
    }
    keep(key, std::string_view(value, static_cast<std::size_t>(at - value)));
  }
}

// Moves behind the value that `at` is on. What it returns stops the walk: the text ends before the value does.
std::optional<Envelope::State> Envelope::pass_value(std::string_view key, const char*& at, const char* end) {
  const char* const value = at;
  if (*at == '"') {
    bool has_escape = false;
    at = string_end(at + 1, end, has_escape);
    if (at >= end) return State::wants_more;
    ++at;
    return std::nullopt;
  }
  if (*at != '{' && *at != '[') {
    at = scalar_end(at, end);
    if (at >= end) return State::wants_more;
    return at == value ? std::optional<State>(State::broken) : std::nullopt;
  }
  at = skip_nested(value, end);
  if (at != nullptr) return std::nullopt;
  at = end;
  if (!is_wanted(key)) {
    skipper_.begin();
    skipper_.feed(value, end);
  }
  return State::wants_more;
}

// Of the members that are no scalars.
bool Envelope::is_wanted(std::string_view key) {
  return key == "deviceProperties" || key == "distributedInfo";
}

void Envelope::keep(std::string_view key, std::string_view value) {
  const bool is_nested = value.front() == '{' || value.front() == '[';
  if (is_nested ? !is_wanted(key) || value.size() > kMostKept : value.size() > kMostScalar) return;
  if (members_.size() < kMostMembers) members_[std::string(key)] = std::string(value);
}

namespace {

using Json = rapidjson::Value;

constexpr unsigned kLenient =
    rapidjson::kParseNanAndInfFlag | rapidjson::kParseTrailingCommasFlag | rapidjson::kParseIterativeFlag;

std::optional<std::int64_t> whole(const Json& object, const char* key) {
  const auto member = object.FindMember(key);
  if (member == object.MemberEnd()) return std::nullopt;
  if (member->value.IsInt64()) return member->value.GetInt64();
  return std::nullopt;
}

std::string text_of(const Json& object, const char* key) {
  const auto member = object.FindMember(key);
  if (member == object.MemberEnd() || !member->value.IsString()) return {};
  return {member->value.GetString(), member->value.GetStringLength()};
}

void describe_devices(const rapidjson::Document& list, Environment& environment) {
  if (!list.IsArray()) return;
  for (const Json& entry : list.GetArray()) {
    if (!entry.IsObject()) continue;
    DeviceInfo device;
    const std::int64_t id = whole(entry, "id").value_or(-1);
    device.id = id >= 0 && id < 0x7fffffff ? static_cast<std::int32_t>(id) : -1;
    device.name = text_of(entry, "name");
    device.total_memory_bytes = whole(entry, "totalGlobalMem");
    device.multiprocessors = whole(entry, "numSms");
    environment.devices.push_back(std::move(device));
  }
}

}  // namespace

void Envelope::describe(Source& source, std::int64_t& base_time_ns) const {
  base_time_ns = 0;
  for (const auto& [key, raw] : members_) {
    if (key == "deviceProperties" || key == "distributedInfo") {
      rapidjson::Document value;
      value.Parse<kLenient>(raw.data(), raw.size());
      if (value.HasParseError()) {
        source.trouble.push_back({key == "deviceProperties" ? "odd_device_properties" : "odd_distributed_info", 1, 0});
        continue;
      }
      if (key == "deviceProperties") describe_devices(value, source.environment);
      if (key == "distributedInfo" && value.IsObject()) {
        source.environment.rank = whole(value, "rank");
        source.environment.world_size = whole(value, "world_size");
        source.environment.backend = text_of(value, "backend");
      }
      continue;
    }
    const bool is_string = !raw.empty() && raw.front() == '"';
    const std::string text = is_string ? raw.substr(1, raw.size() - 2) : raw;
    if (key == "baseTimeNanoseconds") {
      const std::optional<std::int64_t> base = integer(text);
      constexpr std::int64_t kMost = std::int64_t{1} << 62;
      if (base && *base >= -kMost && *base <= kMost) {
        base_time_ns = *base;
      } else {
        source.trouble.push_back({"odd_base_time", 1, 0});
      }
    } else if (key == "schemaVersion") {
      source.version = "schemaVersion " + text;
    } else if (key == "host_name" || key == "hostname") {
      source.environment.host_name = text;
    }
    source.environment.settings[key] = text;
  }
}

}  // namespace vramscope::kineto
