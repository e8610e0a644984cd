#include "analysis/memory_moment.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

struct TimeUnit {
  std::string_view suffix;
  std::int64_t nanoseconds;
};
// Longer suffixes first: "ms" also ends in "s".
constexpr TimeUnit kTimeUnits[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

// A decimal number times `unit`, exact to the nanosecond; further digits are dropped.
std::optional<std::int64_t> parse_decimal(std::string_view text, std::int64_t unit) {
  const std::size_t point = text.find('.');
  const std::string_view whole_text = text.substr(0, point);
  std::string_view digits = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole_text.empty() && digits.empty()) return std::nullopt;
  std::int64_t whole = 0;
  if (!whole_text.empty()) {
    const std::optional<std::int64_t> parsed = parse_whole(whole_text);
    if (!parsed) return std::nullopt;
    whole = *parsed;
  }
  if (__builtin_mul_overflow(whole, unit, &whole)) return std::nullopt;
  std::int64_t place = unit;
  for (; !digits.empty(); digits.remove_prefix(1)) {
    if (digits.front() < '0' || digits.front() > '9') return std::nullopt;
    place /= 10;
    whole = add_bytes(whole, (digits.front() - '0') * place);
  }
  return whole;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
  if (text == "peak") return Moment{MomentKind::peak, 0};
  if (text == "end") return Moment{MomentKind::end, 0};
  constexpr std::string_view kStep = "step:";
  if (text.substr(0, kStep.size()) == kStep) {
    const std::optional<std::int64_t> number = parse_whole(text.substr(kStep.size()));
    if (!number) return std::nullopt;
    return Moment{MomentKind::step, *number};
  }
  for (const TimeUnit& unit : kTimeUnits) {
    if (text.size() <= unit.suffix.size() || text.substr(text.size() - unit.suffix.size()) != unit.suffix) continue;
    const std::optional<std::int64_t> time =
        parse_decimal(text.substr(0, text.size() - unit.suffix.size()), unit.nanoseconds);
    if (!time) return std::nullopt;
    return Moment{MomentKind::since_start, *time};
  }
  const std::optional<std::int64_t> clock = parse_whole(text);
  if (!clock) return std::nullopt;
  return Moment{MomentKind::clock, *clock};
}

bool is_within(const Source& source, const Moment& moment) {
  if (moment.kind == MomentKind::peak || moment.kind == MomentKind::end) return true;
  if (moment.kind == MomentKind::step) {
    return std::any_of(source.trace.steps.begin(), source.trace.steps.end(),
                       [&](const Step& step) { return step.number == moment.value; });
  }
  if (!source.start_ns || !source.end_ns) return true;  // not known
  const std::int64_t time_ns =
      moment.kind == MomentKind::clock ? moment.value : add_bytes(*source.start_ns, moment.value);
  return time_ns >= *source.start_ns && time_ns <= *source.end_ns;
}

std::optional<FoundMoment> find_moment(const Source& source, const DeviceMemory& memory, const Moment& moment) {
  if (!is_within(source, moment)) return std::nullopt;
  const Trace& trace = source.trace;
  const std::int64_t last_ns = trace.memory.time_ns[memory.events.back()];
  const auto at = [&](std::int64_t time_ns) {
    return FoundMoment{events_until(trace, memory, time_ns, true), time_ns};
  };
  switch (moment.kind) {
    case MomentKind::peak:
      return FoundMoment{memory.peak + 1, trace.memory.time_ns[memory.events[memory.peak]]};
    case MomentKind::end:
      return FoundMoment{memory.events.size(), source.end_ns.value_or(last_ns)};
    case MomentKind::since_start: {
      const std::int64_t start_ns = source.start_ns.value_or(trace.memory.time_ns[memory.events[0]]);
      return at(add_bytes(start_ns, moment.value));
    }
    case MomentKind::clock:
      return at(moment.value);
    case MomentKind::step:
      break;
  }
  const auto step = std::find_if(trace.steps.begin(), trace.steps.end(),
                                 [&](const Step& each) { return each.number == moment.value; });
  if (step == trace.steps.end()) return std::nullopt;
  return FoundMoment{events_until(trace, memory, step->end_ns, false), step->end_ns};
}

}  // namespace vramscope
