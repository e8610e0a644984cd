#pragma once
// Which row of the operator table a span or a memory event belongs to. Part of build_op_table.
#include <vector>

#include "analysis/ops.h"
#include "base/column.h"

namespace vramscope {

class RowIndex {
 public:
  // Makes the rows, all numbers zero. `trace` must outlive the index.
  RowIndex(const Trace& trace, const OpQuery& query, const Column<SpanIndex>& enclosing);

  // kNone: in no row.
  std::uint32_t row_of(SpanIndex span) const {
    if (!by_span_.empty()) return by_span_[span];
    const std::uint8_t slot = slot_of_category_[trace_.spans.category[span]];
    return slot == kNoSlot ? kNone : by_name_[slot][trace_.spans.name[span]];
  }
  // Of a memory event outside any operator.
  std::uint32_t row_of_memory(std::size_t event) const {
    return memory_rows_.empty() ? memory_row_ : memory_rows_[event];
  }
  std::vector<OpRow>& rows() { return rows_; }
  const std::vector<OpRow>& rows() const { return rows_; }

 private:
  static constexpr std::uint8_t kNoSlot = 255;
  static bool is_row(SpanKind kind, const OpQuery& query);
  void index_by_name();
  void index_by_group(const OpQuery& query);

  const Trace& trace_;
  const Column<SpanIndex>& enclosing_;
  std::vector<OpRow> rows_;
  std::vector<std::uint8_t> slot_of_category_;       // few kinds have rows
  std::vector<std::vector<std::uint32_t>> by_name_;  // per slot, by StringId
  std::vector<SpanKind> kind_of_slot_;
  Column<std::uint32_t> by_span_;  // only when grouped
  std::uint32_t memory_row_ = kNone;
  std::vector<std::uint32_t> memory_rows_;  // per memory event, only when grouped
};

}  // namespace vramscope
