#include "analysis/memory_live.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/enclosing_ops.h"
#include "analysis/memory_sums.h"

namespace vramscope {

namespace {

// The first span on a way outwards that has something, remembered for every span passed, so that however deep ranges
// nest each is looked at once.
class Outwards {
 public:
  // `next(span)` is the way out, `found(span)` is the answer there or 0 to go on. 0 when nothing is found.
  template <typename Next, typename Found>
  std::uint32_t search(SpanIndex span, const Next& next, const Found& found) {
    passed_.clear();
    std::uint32_t answer = 0;
    for (; span != kNone && answer == 0; span = next(span)) {
      if (const auto known = known_.find(span); known != known_.end()) {
        answer = known->second;
        break;
      }
      passed_.push_back(span);
      answer = found(span);
    }
    for (const SpanIndex each : passed_) known_.emplace(each, answer);
    return answer;
  }

 private:
  absl::flat_hash_map<SpanIndex, std::uint32_t> known_;
  std::vector<SpanIndex> passed_;
};

// Gives equal stacks one number, so that blocks group without their frames being listed for each.
class StackNumbers {
 public:
  explicit StackNumbers(const Trace& trace) : trace_(trace), has_written_(trace.stacks.nodes.size() > 1) {}

  std::uint64_t number(std::uint32_t event) {
    const Spans& spans = trace_.spans;
    if (has_written_) {
      const StackId stack = written_.search(
          trace_.memory.span[event], [&](SpanIndex span) { return spans.parent[span]; },
          [&](SpanIndex span) { return spans.stack[span]; });
      if (stack != 0) return kWritten | stack;
    }
    return number_of_frame(trace_.memory.frame[event]);
  }

 private:
  static constexpr std::uint64_t kWritten = std::uint64_t{1} << 32;
  struct Call {
    StringId name;
    std::uint32_t caller;  // number of the caller's stack
    bool operator==(const Call&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const Call& call) {
      return H::combine(std::move(state), call.name, call.caller);
    }
  };

  // 0 = no frame. Walks out to the first frame that has a number, then numbers the way back in.
  std::uint32_t number_of_frame(SpanIndex frame) {
    std::vector<SpanIndex> unnumbered;
    std::uint32_t number = 0;
    for (; frame != kNone; frame = trace_.spans.enclosing_frame[frame]) {
      if (const auto known = frame_numbers_.find(frame); known != frame_numbers_.end()) {
        number = known->second;
        break;
      }
      unnumbered.push_back(frame);
    }
    for (auto inward = unnumbered.rbegin(); inward != unnumbered.rend(); ++inward) {
      const auto next = static_cast<std::uint32_t>(call_numbers_.size() + 1);
      number = call_numbers_.try_emplace(Call{trace_.spans.name[*inward], number}, next).first->second;
      frame_numbers_.emplace(*inward, number);
    }
    return number;
  }

  const Trace& trace_;
  bool has_written_;
  Outwards written_;
  absl::flat_hash_map<SpanIndex, std::uint32_t> frame_numbers_;
  absl::flat_hash_map<Call, std::uint32_t> call_numbers_;
};

struct GroupKey {
  StringId op = kNone;  // kNone: outside any
  StringId outer_op = 0;
  std::uint32_t step = kNone;
  std::uint64_t stack = 0;
  bool operator==(const GroupKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const GroupKey& key) {
    return H::combine(std::move(state), key.op, key.outer_op, key.step, key.stack);
  }
};

class Keys {
 public:
  Keys(const Trace& trace, LiveBy by) : trace_(trace), by_(by), stacks_(trace) {
    if (has_op(by)) enclosing_ = enclosing_ops(trace);
  }

  GroupKey key(const LiveBlock& block) {
    GroupKey key;
    if (has_op(by_)) {
      const SpanIndex op = op_of(trace_, enclosing_, block.span);
      if (op != kNone) key.op = trace_.spans.name[op];
      if (by_ == LiveBy::outer_op_and_stack) key.outer_op = outermost(op);
    }
    if (has_stack(by_)) key.stack = stacks_.number(block.event);
    if (by_ == LiveBy::step) key.step = step_at(trace_, block.time_ns);
    return key;
  }

 private:
  static bool has_op(LiveBy by) {
    return by == LiveBy::op || by == LiveBy::op_and_stack || by == LiveBy::outer_op_and_stack;
  }
  static bool has_stack(LiveBy by) {
    return by == LiveBy::stack || by == LiveBy::op_and_stack || by == LiveBy::outer_op_and_stack;
  }

  // The name of the outermost framework operator around `op`, itself counted; 0 without one.
  StringId outermost(SpanIndex op) {
    return outer_.search(
        op, [&](SpanIndex span) { return enclosing_[span]; },
        [&](SpanIndex span) -> StringId {
          const SpanIndex around = enclosing_[span];
          const bool is_outermost =
              trace_.kind(span) == SpanKind::cpu_op && (around == kNone || trace_.kind(around) != SpanKind::cpu_op);
          return is_outermost ? trace_.spans.name[span] : 0;
        });
  }

  const Trace& trace_;
  LiveBy by_;
  StackNumbers stacks_;
  Column<SpanIndex> enclosing_;
  Outwards outer_;
};

}  // namespace

std::vector<LiveBlock> live_after(const Trace& trace, const MemoryPairs& pairs, const DeviceMemory& memory,
                                  std::size_t count) {
  std::vector<LiveBlock> blocks;
  if (count == 0) return blocks;
  const MemoryEvents& all = trace.memory;
  const std::uint32_t last = memory.events[std::min(count, memory.events.size()) - 1];
  for (const std::uint32_t event : memory.events) {
    if (event > last) break;
    if (all.bytes[event] <= 0 || all.address[event] == kUnknownAddress) continue;
    if (pairs.partner[event] != kNone && pairs.partner[event] <= last) continue;
    blocks.push_back({event, memory.device, all.bytes[event], all.time_ns[event], all.span[event], all.address[event]});
  }
  return blocks;
}

std::vector<LiveBlock> live_at(const Trace& trace, const MemoryPairs& pairs, const DeviceMemory& memory,
                               std::int64_t time_ns) {
  return live_after(trace, pairs, memory, events_until(trace, memory, time_ns, true));
}

std::int64_t sum_of(const std::vector<LiveBlock>& blocks) {
  std::int64_t sum = 0;
  for (const LiveBlock& block : blocks) sum = add_bytes(sum, block.bytes);
  return sum;
}

std::vector<LiveGroup> group_live(const Trace& trace, const std::vector<LiveBlock>& blocks, LiveBy by) {
  const bool by_op = by != LiveBy::stack && by != LiveBy::step;
  Keys keys(trace, by);
  absl::flat_hash_map<GroupKey, std::size_t> places;
  std::vector<LiveGroup> groups;
  for (const LiveBlock& block : blocks) {
    const GroupKey key = keys.key(block);
    const auto [place, is_new] = places.try_emplace(key, groups.size());
    if (is_new) {
      LiveGroup made;
      if (by_op) made.op = key.op == kNone ? std::string(kOutsideAnyOp) : std::string(trace.strings.view(key.op));
      made.outer_op = trace.strings.view(key.outer_op);
      made.step = key.step;
      made.first_event = block.event;
      groups.push_back(std::move(made));
    }
    LiveGroup& group = groups[place->second];
    group.bytes = add_bytes(group.bytes, block.bytes);
    ++group.count;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const LiveGroup& a, const LiveGroup& b) { return a.bytes > b.bytes; });
  return groups;
}

std::optional<std::int64_t> before_recording_bytes(const DeviceMemory& memory, std::size_t count,
                                                   std::int64_t live_bytes) {
  if (memory.kind == CurveKind::relative || !memory.has_addresses()) return std::nullopt;
  const std::int64_t rest = subtract_bytes(memory.level_after(count), live_bytes);
  if (rest < 0) return std::nullopt;
  return rest;
}

}  // namespace vramscope
