// Rows with times: clocks, samples, events.
#include "recording/reader.h"

namespace vramscope::recording {

bool Reader::read_clocks(Visitor& visitor) {
  if (!columns_.integers(column::kClockId, 0, ids_) || !columns_.integers(column::kClockTime, 0, a_) ||
      !columns_.integers(column::kClockValue, 0, b_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] < 1 || ids_[i] > UINT8_MAX) return false;
    visitor.on_clock({static_cast<Clock>(ids_[i]), a_[i], b_[i]});
  }
  return true;
}

bool Reader::read_samples(Visitor& visitor) {
  if (!columns_.integers(column::kSampleSeries, 0, ids_) || !columns_.integers(column::kSampleTime, 0, a_) ||
      !columns_.integers(column::kSampleStep, 0, b_) || !columns_.integers(column::kSampleValidity, 0, c_) ||
      !columns_.integers(column::kSampleBase, 0, d_) || !columns_.integers(column::kSampleShift, 0, e_)) {
    return false;
  }
  const bool is_key = !columns_.has(column::kSampleBase);
  if (!is_key && !d_.empty() && (!key_sequence_ || *key_sequence_ != static_cast<std::uint64_t>(d_[0]))) {
    count("base_missing", static_cast<std::int64_t>(d_.size()));
    return true;
  }
  if (is_key) {
    key_sequence_ = chunks_->header().sequence;
    key_values_.clear();
  }
  if (!take_samples(is_key)) {
    if (is_key) key_sequence_.reset();
    return false;
  }
  seen_.samples += static_cast<std::int64_t>(samples_.size());
  if (!samples_.empty()) visitor.on_samples(samples_);
  return true;
}

// Sums the steps of each series up. Rows of a series that is not known are summed too: a key chunk that comes
// before the next checkpoint may be needed after it.
bool Reader::take_samples(bool is_key) {
  samples_.clear();
  std::int64_t value = 0;
  bool is_known = false;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] < 1 || ids_[i] > UINT32_MAX || c_[i] < 0 || c_[i] > UINT8_MAX) return false;
    if (e_[i] < 0 || e_[i] > 63) return false;
    const auto series = static_cast<SeriesId>(ids_[i]);
    if (i == 0 || ids_[i] != ids_[i - 1]) {
      if (i > 0 && ids_[i] < ids_[i - 1]) return false;
      const auto base = is_key ? key_values_.end() : key_values_.find(series);
      value = base == key_values_.end() ? 0 : base->second;
      is_known = series_.contains(series);
    }
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + (static_cast<std::uint64_t>(b_[i]) << e_[i]));
    if (is_key) key_values_[series] = value;
    if (!is_known) {
      count("unknown_series");
      continue;
    }
    const auto validity = static_cast<Validity>(c_[i]);
    samples_.push_back({series, validity, a_[i], validity == Validity::known ? value : 0});
  }
  return true;
}

bool Reader::read_events(Visitor& visitor) {
  if (!columns_.integers(column::kEventTime, 0, a_) || !columns_.integers(column::kEventKind, 0, ids_) ||
      !columns_.integers(column::kEventSubject, 0, b_) || !columns_.integers(column::kEventCode, 0, c_) ||
      !columns_.texts(column::kEventText, column_texts_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] < 1 || ids_[i] > UINT8_MAX) return false;
    const std::int64_t subject = b_[i] >= 0 && b_[i] <= UINT32_MAX ? b_[i] : 0;
    visitor.on_event(
        {a_[i], static_cast<EventKind>(ids_[i]), static_cast<SubjectId>(subject), c_[i], column_texts_[i]});
    ++seen_.events;
  }
  return true;
}

}  // namespace vramscope::recording
