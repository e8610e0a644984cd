// Rows of traces: threads, stacks, spans, memory events, tallies and losses. What refers to texts and threads follows
// them in the file, and each call is written at once, so that a collector that is killed loses one call.
#include <algorithm>

#include "recording/writer.h"

namespace vramscope::recording {

namespace {

constexpr std::size_t kRowsOfChunk = 65536;  // 16 columns of 10 bytes stay below the limit of a payload

std::vector<std::int64_t> piece(const std::vector<std::int64_t>& values, std::size_t begin, std::size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

std::vector<ChunkBuilder> trace_chunks(const TraceRows& rows, std::uint16_t flags) {
  std::vector<ChunkBuilder> chunks;
  const std::uint16_t time_column = trace_time_column(rows.kind);
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsOfChunk) {
    const std::size_t end = std::min(rows.size(), begin + kRowsOfChunk);
    ChunkBuilder& chunk = chunks.emplace_back(rows.kind, end - begin);
    for (std::uint16_t id = 1; id <= trace_columns(rows.kind); ++id) {
      const std::vector<std::int64_t>& values = rows.column(id);
      if (values.size() != rows.size()) continue;
      const bool is_whole = end - begin == values.size();
      const std::vector<std::int64_t> part = is_whole ? std::vector<std::int64_t>() : piece(values, begin, end);
      const std::vector<std::int64_t>& taken = is_whole ? values : part;
      if (std::all_of(taken.begin(), taken.end(), [](std::int64_t value) { return value == 0; })) continue;
      chunk.integers(id, taken);
      if (id == time_column) chunk.times(taken);
    }
    chunk.header().flags = flags;
  }
  return chunks;
}

std::optional<Error> Writer::append(const TraceRows& rows, std::int64_t now_ns) {
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count == 0) return std::nullopt;
  if (descriptor_ < 0) {
    totals_.dropped += count;
    return std::nullopt;
  }
  if (!checkpoint_ns_) checkpoint_ns_ = now_ns;
  const std::uint64_t first_sequence = sequence_;
  buffer_.clear();
  drops_told_ = false;
  definitions_.write_new([this](ChunkBuilder& chunk) { add_chunk(chunk); });
  for (ChunkBuilder& chunk : trace_chunks(rows, 0)) add_chunk(chunk, trace_compressor_);
  if (const int code = write_buffer()) {
    sequence_ = first_sequence;
    lost_since_ += count;
    totals_.dropped += count;
    if (failure_told_) return std::nullopt;
    failure_told_ = true;
    return write_error(code);
  }
  failure_told_ = false;
  if (drops_told_) lost_since_ = 0;
  totals_.trace_rows += count;
  definitions_.clear_new();
  // With the samples that wait: they may name what a checkpoint no longer repeats.
  return is_checkpoint_due(now_ns) ? flush(now_ns) : std::nullopt;
}

}  // namespace vramscope::recording
