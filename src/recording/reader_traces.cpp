// Rows of traces.
#include "recording/reader.h"

namespace vramscope::recording {

bool Reader::read_trace_rows(Visitor& visitor) {
  const ChunkHeader& header = chunks_->header();
  rows_.kind = static_cast<ChunkKind>(header.kind);
  rows_.clear();
  for (std::uint16_t id = 1; id <= trace_columns(rows_.kind); ++id) {
    // The first column tells the number of rows.
    if (id > 1 && !columns_.has(id)) continue;
    if (!columns_.integers(id, 0, rows_.column(id))) return false;
  }
  if (trace_time_column(rows_.kind) != 0) seen_.trace_rows += static_cast<std::int64_t>(rows_.size());
  if (rows_.size() > 0) visitor.on_trace_rows(rows_);
  return true;
}

}  // namespace vramscope::recording
