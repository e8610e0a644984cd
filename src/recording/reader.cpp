#include "recording/reader.h"

namespace vramscope::recording {

namespace {

constexpr std::size_t kMaxTextBytesKept = 256U << 20;
constexpr std::size_t kMaxNamesKept = 4U << 20;  // of each: strings, subjects, series

// An id of the file; 0 for what is none.
std::uint32_t id_of(std::int64_t value) {
  return value > 0 && value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : kNoId;
}

// Column ids up to this one are known, by kind.
std::uint16_t known_columns(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::strings:
      return 2;
    case ChunkKind::attributes:
    case ChunkKind::clocks:
      return 3;
    case ChunkKind::subjects:
    case ChunkKind::series:
      return 4;
    case ChunkKind::events:
      return 5;
    case ChunkKind::samples:
    case ChunkKind::end:
      return 6;
    case ChunkKind::checkpoint:
      return 1;
    default:
      return trace_columns(kind);
  }
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  Result<std::unique_ptr<RandomBytes>> bytes = open_bytes(path);
  if (!bytes) return bytes.error();
  return open(std::move(*bytes), path);
}

Result<std::unique_ptr<Reader>> Reader::open(std::unique_ptr<RandomBytes> bytes, const std::string& name) {
  Result<std::unique_ptr<ChunkReader>> chunks = ChunkReader::open(std::move(bytes), name);
  if (!chunks) return chunks.error();
  return std::unique_ptr<Reader>(new Reader(std::move(*chunks)));
}

bool Reader::step(Visitor& visitor) {
  if (is_over_) return false;
  if (!chunks_->next()) {
    is_over_ = true;
    if (!totals_) count("no_end");
    return false;
  }
  const ChunkHeader& header = chunks_->header();
  ++seen_.chunks;
  if (header.drops > 0) {
    const auto drops = static_cast<std::int64_t>(header.drops & INT64_MAX);
    seen_.dropped = drops > INT64_MAX - seen_.dropped ? INT64_MAX : seen_.dropped + drops;
    count("dropped_rows", seen_.dropped - trouble("dropped_rows"));
  }
  bool is_whole = true;
  if (!skip_unknown()) {
    is_whole = columns_.parse(header, chunks_->payload()) && read_chunk(visitor);
    if (!is_whole) count("columns_damaged");
  }
  const bool follows = last_sequence_ && header.sequence == *last_sequence_ + 1;
  const bool repeats = (header.flags & kRepeats) != 0 && is_whole;
  repeats_in_a_row_ = !repeats ? 0 : (follows ? repeats_in_a_row_ + 1 : 1);
  last_sequence_ = header.sequence;
  return !is_over_;
}

// True when this chunk is none that this version can read.
bool Reader::skip_unknown() {
  const ChunkHeader& header = chunks_->header();
  const std::uint16_t known = known_columns(static_cast<ChunkKind>(header.kind));
  bool is_unknown = known == 0 || (header.flags & kUnknownFlags) != 0;
  if (!is_unknown && columns_.parse(header, chunks_->payload())) is_unknown = columns_.has_unknown_needed(known);
  if (!is_unknown) return false;
  count("unknown_kind");
  if ((header.flags & kMustUnderstand) != 0) {
    count("must_understand");
    is_over_ = true;
  }
  return true;
}

bool Reader::read_chunk(Visitor& visitor) {
  switch (static_cast<ChunkKind>(chunks_->header().kind)) {
    case ChunkKind::strings:
      return read_strings(visitor);
    case ChunkKind::subjects:
      return read_subjects(visitor);
    case ChunkKind::attributes:
      return read_attributes(visitor);
    case ChunkKind::series:
      return read_series(visitor);
    case ChunkKind::clocks:
      return read_clocks(visitor);
    case ChunkKind::samples:
      return read_samples(visitor);
    case ChunkKind::events:
      return read_events(visitor);
    case ChunkKind::checkpoint:
      return read_checkpoint();
    case ChunkKind::end:
      return read_end();
    default:
      return read_trace_rows(visitor);
  }
}

const std::string* Reader::text(std::int64_t id) {
  static const std::string empty;
  if (id == kNoId) return &empty;
  const auto found = texts_.find(id_of(id));
  return found == texts_.end() ? nullptr : &found->second.text;
}

bool Reader::read_strings(Visitor& visitor) {
  if (!columns_.integers(column::kStringId, 0, ids_) || !columns_.texts(column::kStringText, column_texts_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::uint32_t id = id_of(ids_[i]);
    if (id == kNoId) return false;
    const auto found = texts_.find(id);
    if (found != texts_.end()) {
      found->second.sequence = chunks_->header().sequence;  // ids never change
    } else if (texts_.size() < kMaxNamesKept && text_bytes_ + column_texts_[i].size() <= kMaxTextBytesKept) {
      text_bytes_ += column_texts_[i].size();
      texts_.emplace(id, KnownText{std::string(column_texts_[i]), chunks_->header().sequence});
      visitor.on_text(id, column_texts_[i]);
    } else {
      count("too_many_names");
    }
  }
  return true;
}

bool Reader::read_subjects(Visitor& visitor) {
  if (!columns_.integers(column::kSubjectId, 0, ids_) || !columns_.integers(column::kSubjectKind, 0, a_) ||
      !columns_.integers(column::kSubjectKey, 0, b_) || !columns_.integers(column::kSubjectParent, 0, c_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const SubjectId id = id_of(ids_[i]);
    const std::string* key = text(b_[i]);
    if (id == kNoId || a_[i] < 0 || a_[i] > UINT8_MAX) return false;
    const auto known = subjects_.find(id);
    if (known != subjects_.end()) {
      known->second.sequence = chunks_->header().sequence;
    } else if (key == nullptr) {
      count("unknown_string");
    } else if (subjects_.size() >= kMaxNamesKept) {
      count("too_many_names");
    } else {
      subjects_[id].sequence = chunks_->header().sequence;
      visitor.on_subject(id, static_cast<SubjectKind>(a_[i]), *key, id_of(c_[i]));
    }
  }
  return true;
}

bool Reader::read_attributes(Visitor& visitor) {
  if (!columns_.integers(column::kAttributeSubject, 0, ids_) || !columns_.integers(column::kAttributeName, 0, a_) ||
      !columns_.integers(column::kAttributeValue, 0, b_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const auto subject = subjects_.find(id_of(ids_[i]));
    const std::string* name = text(a_[i]);
    const std::string* value = text(b_[i]);
    if (subject == subjects_.end()) {
      count("unknown_subject");
    } else if (name == nullptr || value == nullptr) {
      count("unknown_string");
    } else {
      absl::flat_hash_map<std::string, std::string>& attributes = subject->second.attributes;
      const auto known = attributes.find(*name);
      if (known != attributes.end() && known->second == *value) continue;
      attributes[*name] = *value;
      visitor.on_attribute(subject->first, *name, *value);
    }
  }
  return true;
}

bool Reader::read_series(Visitor& visitor) {
  if (!columns_.integers(column::kSeriesId, 0, ids_) || !columns_.integers(column::kSeriesSubject, 0, a_) ||
      !columns_.integers(column::kSeriesMetric, 0, b_) || !columns_.integers(column::kSeriesUnit, 0, c_)) {
    return false;
  }
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const SeriesId id = id_of(ids_[i]);
    if (id == kNoId) return false;
    const auto known = series_.find(id);
    const std::string* metric = text(b_[i]);
    const std::string* unit = text(c_[i]);
    if (known != series_.end()) {
      known->second = chunks_->header().sequence;
    } else if (subjects_.find(id_of(a_[i])) == subjects_.end()) {
      count("unknown_subject");
    } else if (metric == nullptr || unit == nullptr) {
      count("unknown_string");
    } else if (series_.size() >= kMaxNamesKept) {
      count("too_many_names");
    } else {
      series_.emplace(id, chunks_->header().sequence);
      visitor.on_series(id, id_of(a_[i]), *metric, *unit);
    }
  }
  return true;
}

bool Reader::read_checkpoint() {
  if (columns_.rows() == 0 || !columns_.integers(column::kCheckpointChunks, 0, a_)) return false;
  const ChunkHeader& header = chunks_->header();
  const bool follows = last_sequence_ && header.sequence == *last_sequence_ + 1;
  const auto chunks = static_cast<std::uint64_t>(a_[0]);
  // Only when all that it repeats was read; else what is known is kept.
  if (a_[0] >= 0 && chunks <= header.sequence && (chunks == 0 || (follows && repeats_in_a_row_ >= chunks))) {
    forget_before(header.sequence - chunks);
  }
  return true;
}

void Reader::forget_before(std::uint64_t sequence) {
  for (auto known = texts_.begin(); known != texts_.end();) {
    if (known->second.sequence >= sequence) {
      ++known;
    } else {
      text_bytes_ -= known->second.text.size();
      known = texts_.erase(known);
    }
  }
  for (auto known = subjects_.begin(); known != subjects_.end();) {
    known = known->second.sequence >= sequence ? std::next(known) : subjects_.erase(known);
  }
  absl::erase_if(series_, [&](const auto& known) { return known.second < sequence; });
}

bool Reader::read_end() {
  if (columns_.rows() == 0) return false;
  Totals totals;
  const std::pair<std::uint16_t, std::int64_t*> fields[] = {
      {column::kTotalChunks, &totals.chunks}, {column::kTotalSamples, &totals.samples},
      {column::kTotalEvents, &totals.events}, {column::kTotalDropped, &totals.dropped},
      {column::kTotalBytes, &totals.bytes},   {column::kTotalTraceRows, &totals.trace_rows}};
  for (const auto& [id, value] : fields) {
    if (!columns_.integers(id, 0, a_)) return false;
    *value = a_[0];
  }
  totals_ = totals;
  return true;
}

}  // namespace vramscope::recording
