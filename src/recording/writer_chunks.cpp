// The chunks of a flush.
#include <algorithm>
#include <numeric>

#include "base/saturate.h"
#include "recording/writer.h"

namespace vramscope::recording {

namespace {

// Wraps around at 2^64, as the reader's sums do.
std::int64_t step_between(std::int64_t before, std::int64_t after) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(after) - static_cast<std::uint64_t>(before));
}

// Memory changes by pages: steps of a series that are all whole pages are written without their twelve zero bits.
constexpr std::uint8_t kPageShift = 12;

}  // namespace

void Writer::add_chunk(ChunkBuilder& chunk, Compressor& compressor) {
  ChunkHeader& header = chunk.header();
  header.sequence = sequence_;
  if (!drops_told_) header.drops = static_cast<std::uint64_t>(lost_since_);
  if (!chunk.finish(compressor, buffer_)) return;
  drops_told_ = true;
  ++sequence_;
}

// One clock after the other, so that each column is smooth.
void Writer::build_clocks() {
  if (clocks_.empty()) return;
  std::vector<std::int64_t> ids, times, values;
  for (const Clock clock : {Clock::boottime, Clock::realtime}) {
    for (const ClockReading& reading : clocks_) {
      ids.push_back(static_cast<std::int64_t>(clock));
      times.push_back(reading.monotonic_ns);
      values.push_back(clock == Clock::boottime ? reading.boottime_ns : reading.realtime_ns);
    }
  }
  ChunkBuilder chunk(ChunkKind::clocks, ids.size());
  chunk.integers(column::kClockId, ids).integers(column::kClockTime, times).integers(column::kClockValue, values);
  chunk.times(times);
  add_chunk(chunk);
}

// Rows by series, then in the order of arrival. A value is written as its step from the row before; the first of a
// series as the step from that series' last value in the key chunk, so that a series at rest costs nothing.
void Writer::build_samples() {
  const std::size_t rows = samples_.series.size();
  if (rows == 0) return;
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  const auto by_series = [&](std::uint32_t a, std::uint32_t b) { return samples_.series[a] < samples_.series[b]; };
  if (!std::is_sorted(order.begin(), order.end(), by_series)) std::stable_sort(order.begin(), order.end(), by_series);

  const bool is_key = !key_sequence_ || chunks_since_key_ >= options_.key_interval;
  std::vector<std::int64_t> series(rows), times(rows), steps(rows), validities(rows);
  Definitions::SeriesState* state = nullptr;
  std::int64_t value = 0;
  bool all_known = true;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t row = order[i];
    series[i] = samples_.series[row];
    times[i] = samples_.times[row];
    validities[i] = samples_.validities[row];
    if (i == 0 || series[i] != series[i - 1]) {
      state = definitions_.find_series(static_cast<SeriesId>(series[i]));
      const bool has_base = !is_key && state != nullptr && state->key_sequence == *key_sequence_;
      value = has_base ? state->key_value : 0;
    }
    const bool known = validities[i] == static_cast<std::int64_t>(Validity::known);
    all_known = all_known && known;
    const std::int64_t next = known ? samples_.values[row] : value;
    steps[i] = step_between(value, next);
    value = next;
    if (is_key && state != nullptr) {
      state->key_value = value;
      state->key_sequence = sequence_;
    }
  }
  ChunkBuilder chunk(ChunkKind::samples, rows);
  std::vector<std::int64_t> shifts(rows);
  const bool has_shifts = shift_steps(series, steps, shifts);
  chunk.integers(column::kSampleSeries, series).integers(column::kSampleTime, times);
  chunk.integers(column::kSampleStep, steps).times(times);
  if (has_shifts) chunk.integers(column::kSampleShift, shifts);
  if (!all_known) chunk.integers(column::kSampleValidity, validities);
  if (!is_key) chunk.constant(column::kSampleBase, static_cast<std::int64_t>(*key_sequence_));
  chunks_since_key_ = is_key ? 1 : chunks_since_key_ + 1;
  if (is_key) key_sequence_ = sequence_;
  add_chunk(chunk);
}

// False when no step was shifted. A series at rest keeps the shift that it had, so that the column stays regular.
bool Writer::shift_steps(const std::vector<std::int64_t>& series, std::vector<std::int64_t>& steps,
                         std::vector<std::int64_t>& shifts) {
  bool any = false;
  for (std::size_t begin = 0, end = 0; begin < series.size(); begin = end) {
    std::uint64_t bits = 0;
    for (; end < series.size() && series[end] == series[begin]; ++end) bits |= static_cast<std::uint64_t>(steps[end]);
    Definitions::SeriesState* state = definitions_.find_series(static_cast<SeriesId>(series[begin]));
    if (state == nullptr) continue;
    if (bits != 0) state->shift = (bits & ((1U << kPageShift) - 1)) == 0 ? kPageShift : 0;
    for (std::size_t i = begin; i < end; ++i) {
      steps[i] >>= state->shift;
      shifts[i] = state->shift;
    }
    any = any || state->shift != 0;
  }
  return any;
}

void Writer::build_events() {
  const std::size_t rows = events_.times.size();
  if (rows == 0) return;
  std::vector<std::string_view> texts(rows);
  std::size_t start = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    texts[i] = std::string_view(events_.texts).substr(start, events_.text_ends[i] - start);
    start = events_.text_ends[i];
  }
  ChunkBuilder chunk(ChunkKind::events, rows);
  chunk.integers(column::kEventTime, events_.times).integers(column::kEventKind, events_.kinds);
  chunk.integers(column::kEventSubject, events_.subjects).integers(column::kEventCode, events_.codes);
  chunk.texts(column::kEventText, texts).times(events_.times);
  add_chunk(chunk);
}

bool Writer::is_checkpoint_due(std::int64_t now_ns) const {
  if (!checkpoint_ns_) return false;
  const std::int64_t bytes = totals_.bytes + static_cast<std::int64_t>(buffer_.size()) - checkpoint_at_bytes_;
  return saturating_sub(now_ns, *checkpoint_ns_) >= options_.checkpoint_ns || bytes >= options_.checkpoint_bytes;
}

// All that is alive, then the chunk that says how many chunks that took. False when none is due.
bool Writer::build_checkpoint(std::int64_t now_ns) {
  if (!is_checkpoint_due(now_ns)) return false;
  const std::uint64_t first = sequence_;
  definitions_.write_all([this](ChunkBuilder& repeated) { add_chunk(repeated); });
  ChunkBuilder chunk(ChunkKind::checkpoint, 1);
  chunk.constant(column::kCheckpointChunks, static_cast<std::int64_t>(sequence_ - first));
  add_chunk(chunk);
  return true;
}

void Writer::build_end() {
  ChunkBuilder chunk(ChunkKind::end, 1);
  const auto now = [](std::int64_t before, std::size_t more) { return before + static_cast<std::int64_t>(more); };
  chunk.constant(column::kTotalChunks, static_cast<std::int64_t>(sequence_));
  chunk.constant(column::kTotalSamples, now(totals_.samples, samples_.series.size()));
  chunk.constant(column::kTotalEvents, now(totals_.events, events_.times.size()));
  chunk.constant(column::kTotalDropped, totals_.dropped);
  chunk.constant(column::kTotalBytes, now(totals_.bytes, buffer_.size()));
  if (totals_.trace_rows > 0) chunk.constant(column::kTotalTraceRows, totals_.trace_rows);
  add_chunk(chunk);
}

}  // namespace vramscope::recording
