#include "analysis/ops_rows.h"

#include "absl/container/flat_hash_map.h"
#include "analysis/enclosing_ops.h"
#include "analysis/memory_curve.h"

namespace vramscope {

namespace {

constexpr std::string_view kMemoryRow = "[memory]";

struct GroupKey {
  std::uint32_t slot = 0;
  StringId name = 0;
  StringId shapes = 0;
  std::uint32_t stack = 0;
  StringId annotation = 0;
  std::int64_t step = kUnknown;

  bool operator==(const GroupKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const GroupKey& key) {
    return H::combine(std::move(state), key.slot, key.name, key.shapes, key.stack, key.annotation, key.step);
  }
};

// Names that are shown alike share the id of the first of them.
class GroupedNames {
 public:
  explicit GroupedNames(const Trace& trace) : trace_(trace) {}
  StringId id(StringId name) {
    if (grouped_name(trace_.strings.view(name)).data() == trace_.strings.view(name).data()) return name;
    if (step_ == kNone) step_ = name;
    return step_;
  }

 private:
  const Trace& trace_;
  StringId step_ = kNone;
};

// The first frames of stacks, each different list once; 0 is the empty one.
class StackGroups {
 public:
  StackGroups(const Trace& trace, std::size_t depth) : trace_(trace), depth_(depth) { lists_.emplace_back(); }

  std::uint32_t of_written(StackId stack) {
    const auto [slot, is_new] = written_.try_emplace(stack, 0);
    if (!is_new) return slot->second;
    std::vector<StringId> frames;
    for (StackId node = stack; node != 0 && frames.size() < depth_; node = trace_.stacks.nodes[node].parent) {
      frames.push_back(trace_.stacks.nodes[node].frame);
    }
    return slot->second = list(std::move(frames));
  }
  std::uint32_t of_frames(SpanIndex frame) {
    if (frame == kNone) return 0;
    const auto [slot, is_new] = by_frame_.try_emplace(frame, 0);
    if (!is_new) return slot->second;
    std::vector<StringId> frames;
    for (SpanIndex at = frame; at != kNone && frames.size() < depth_; at = trace_.spans.enclosing_frame[at]) {
      frames.push_back(trace_.spans.name[at]);
    }
    return slot->second = list(std::move(frames));
  }
  std::vector<std::string_view> text(std::uint32_t group) const {
    std::vector<std::string_view> frames;
    for (const StringId frame : lists_[group]) frames.push_back(trace_.strings.view(frame));
    return frames;
  }

 private:
  std::uint32_t list(std::vector<StringId> frames) {
    if (frames.empty()) return 0;
    const auto [slot, is_new] = ids_.try_emplace(frames, static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back(std::move(frames));
    return slot->second;
  }

  const Trace& trace_;
  std::size_t depth_;
  std::vector<std::vector<StringId>> lists_;
  absl::flat_hash_map<std::vector<StringId>, std::uint32_t> ids_;
  absl::flat_hash_map<StackId, std::uint32_t> written_;
  absl::flat_hash_map<SpanIndex, std::uint32_t> by_frame_;
};

// Makes the keys of spans and memory events, and a row for every new one.
class Grouper {
 public:
  Grouper(const Trace& trace, const OpQuery& query, std::vector<OpRow>& rows)
      : trace_(trace), query_(query), rows_(rows), names_(trace), stacks_(trace, query.stack_depth) {
    if (query.by_stack) written_.resize(trace.spans.size(), 0);
    if (query.by_annotation) annotations_.resize(trace.spans.size(), 0);
  }

  // Spans must come parents first.
  void inherit(SpanIndex span) {
    const SpanIndex parent = trace_.spans.parent[span];
    if (query_.by_stack) {
      const StackId own = trace_.spans.stack[span];
      written_[span] = own != 0 || parent == kNone ? own : written_[parent];
    }
    if (query_.by_annotation && parent != kNone) {
      annotations_[span] =
          trace_.kind(parent) == SpanKind::annotation ? names_.id(trace_.spans.name[parent]) : annotations_[parent];
    }
  }
  std::uint32_t row(SpanIndex span, std::uint8_t slot) {
    GroupKey key;
    key.slot = slot;
    key.name = names_.id(trace_.spans.name[span]);
    if (const OpArgs* const args = trace_.op_args_of(span); query_.by_shape && args != nullptr) {
      key.shapes = args->shapes;
    }
    if (query_.by_stack) {
      key.stack = written_[span] != 0 ? stacks_.of_written(written_[span])
                                      : stacks_.of_frames(trace_.spans.enclosing_frame[span]);
    }
    if (query_.by_annotation) key.annotation = annotations_[span];
    if (query_.by_step) key.step = step(trace_.spans.start_ns[span]);
    return find(key, trace_.kind(span));
  }
  std::uint32_t memory_row(std::size_t event) {
    GroupKey key;
    key.slot = kNone;
    if (query_.by_stack) {
      // An API call outside any operator may still carry a written stack.
      const SpanIndex span = trace_.memory.span[event];
      key.stack = span != kNone && written_[span] != 0 ? stacks_.of_written(written_[span])
                                                       : stacks_.of_frames(trace_.memory.frame[event]);
    }
    if (query_.by_step) key.step = step(trace_.memory.time_ns[event]);
    return find(key, std::nullopt);
  }

 private:
  std::int64_t step(std::int64_t time_ns) const {
    const std::uint32_t index = step_at(trace_, time_ns);
    return index == kNone ? kUnknown : trace_.steps[index].number;
  }
  std::uint32_t find(const GroupKey& key, std::optional<SpanKind> kind) {
    const auto [slot, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (!is_new) return slot->second;
    OpRow row;
    row.name = kind ? grouped_name(trace_.strings.view(key.name)) : kMemoryRow;
    row.kind = kind;
    row.shapes = trace_.strings.view(key.shapes);
    row.stack = stacks_.text(key.stack);
    row.annotation = grouped_name(trace_.strings.view(key.annotation));
    if (key.step != kUnknown) row.step = key.step;
    rows_.push_back(std::move(row));
    return slot->second;
  }

  const Trace& trace_;
  const OpQuery& query_;
  std::vector<OpRow>& rows_;
  GroupedNames names_;
  StackGroups stacks_;
  Column<StackId> written_;       // nearest written stack of the span or around it
  Column<StringId> annotations_;  // innermost annotation around the span
  absl::flat_hash_map<GroupKey, std::uint32_t> ids_;
};

}  // namespace

bool RowIndex::is_row(SpanKind kind, const OpQuery& query) {
  return is_operator(kind) || (query.all_rows && (is_host_range(kind) || is_device_work(kind)));
}

RowIndex::RowIndex(const Trace& trace, const OpQuery& query, const Column<SpanIndex>& enclosing)
    : trace_(trace), enclosing_(enclosing) {
  slot_of_category_.assign(trace.categories.size(), kNoSlot);
  for (std::size_t i = 0; i < trace.categories.size(); ++i) {
    const SpanKind kind = trace.categories[i].kind;
    if (!is_row(kind, query)) continue;
    std::size_t slot = 0;
    while (slot < kind_of_slot_.size() && kind_of_slot_[slot] != kind) ++slot;
    if (slot == kind_of_slot_.size()) kind_of_slot_.push_back(kind);
    slot_of_category_[i] = static_cast<std::uint8_t>(slot);
  }
  if (query.is_grouped()) {
    index_by_group(query);
  } else {
    index_by_name();
  }
}

void RowIndex::index_by_name() {
  by_name_.assign(kind_of_slot_.size(), std::vector<std::uint32_t>(trace_.strings.size(), kNone));
  GroupedNames names(trace_);
  const Spans& spans = trace_.spans;
  struct NewRow {
    StringId name;
    std::uint8_t slot;
  };
  Column<NewRow> made;  // first all of them, so that the rows are allocated once
  for (SpanIndex i = 0; i < spans.size(); ++i) {
    const std::uint8_t slot = slot_of_category_[spans.category[i]];
    if (slot == kNoSlot) continue;
    std::vector<std::uint32_t>& rows = by_name_[slot];
    if (rows[spans.name[i]] != kNone) continue;
    const StringId shown = names.id(spans.name[i]);
    if (rows[shown] == kNone) {
      rows[shown] = static_cast<std::uint32_t>(made.size());
      made.push_back({shown, slot});
    }
    rows[spans.name[i]] = rows[shown];
  }
  const bool has_memory = trace_.memory.size() > 0;
  rows_.reserve(made.size() + (has_memory ? 1 : 0));
  for (const NewRow& row : made) {
    rows_.emplace_back();
    rows_.back().name = grouped_name(trace_.strings.view(row.name));
    rows_.back().kind = kind_of_slot_[row.slot];
  }
  if (!has_memory) return;
  memory_row_ = static_cast<std::uint32_t>(rows_.size());
  rows_.emplace_back();
  rows_.back().name = kMemoryRow;
}

void RowIndex::index_by_group(const OpQuery& query) {
  by_span_.resize(trace_.spans.size(), kNone);
  Grouper grouper(trace_, query, rows_);
  for (const SpanIndex span : trace_.spans_by_time) {
    grouper.inherit(span);
    const std::uint8_t slot = slot_of_category_[trace_.spans.category[span]];
    if (slot != kNoSlot) by_span_[span] = grouper.row(span, slot);
  }
  memory_rows_.assign(trace_.memory.size(), kNone);
  for (std::size_t event = 0; event < trace_.memory.size(); ++event) {
    if (op_of(trace_, enclosing_, trace_.memory.span[event]) == kNone) memory_rows_[event] = grouper.memory_row(event);
  }
}

}  // namespace vramscope
