#include "recording/definitions.h"

#include <algorithm>

namespace vramscope::recording {

namespace {

constexpr std::size_t kChunkRows = 65536;
constexpr std::size_t kChunkTextBytes = 4U << 20;
constexpr std::string_view kMoreNames = "(more names)";
constexpr std::size_t kMostTexts = 1U << 20;
constexpr std::size_t kMostTextBytes = 64U << 20;
constexpr std::size_t kMostStacks = 4U << 20;
constexpr std::size_t kRowBytes = 16;  // of a definition in memory, for new_bytes()

// Calls work(begin, end) for pieces of at most kChunkRows.
template <typename Work>
void for_pieces(std::size_t rows, const Work& work) {
  for (std::size_t begin = 0; begin < rows; begin += kChunkRows) work(begin, std::min(rows, begin + kChunkRows));
}

template <typename Ids>
void erase_ids(std::vector<std::uint32_t>& ids, const Ids& kept) {
  ids.erase(std::remove_if(ids.begin(), ids.end(), [&](std::uint32_t id) { return kept.find(id) == kept.end(); }),
            ids.end());
}

}  // namespace

std::string_view cut_text(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return text;
  std::size_t size = kMaxTextBytes;
  // Back to the start of the character that the limit would cut; at most three bytes, whatever the text is.
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80; ++i) --size;
  return text.substr(0, size);
}

std::uint32_t Definitions::intern(std::string_view text) {
  text = cut_text(text);
  if (text.empty()) return kNoId;
  const auto found = string_ids_.find(text);
  if (found != string_ids_.end()) return found->second;
  const std::uint32_t id = ++last_string_;
  const std::string& kept = texts_.emplace(id, Text{std::string(text), false}).first->second.text;
  string_ids_.emplace(kept, id);
  new_.strings.push_back(id);
  new_bytes_ += text.size() + kRowBytes;
  return id;
}

SubjectId Definitions::add_subject(const Subject& subject) {
  const SubjectId id = ++last_subject_;
  SubjectState& state = subjects_[id];
  state.kind = subject.kind;
  state.key = intern(subject.key);
  state.parent = subject.parent;
  new_.subjects.push_back(id);
  new_bytes_ += kRowBytes;
  for (const auto& [name, value] : subject.attributes) add_attribute(id, name, value);
  return id;
}

void Definitions::add_attribute(SubjectId subject, std::string_view name, std::string_view value) {
  const auto found = subjects_.find(subject);
  if (found == subjects_.end()) return;
  const std::uint32_t name_id = intern(name);
  const std::uint32_t value_id = intern(value);
  std::vector<std::pair<std::uint32_t, std::uint32_t>>& attributes = found->second.attributes;
  const auto same =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name_id; });
  if (same == attributes.end()) {
    attributes.emplace_back(name_id, value_id);
  } else if (same->second == value_id) {
    return;
  } else {
    same->second = value_id;
  }
  new_.attributes.push_back({subject, name_id, value_id});
  new_bytes_ += kRowBytes;
}

SeriesId Definitions::add_series(SubjectId subject, std::string_view metric, std::string_view unit) {
  const auto found = subjects_.find(subject);
  if (found == subjects_.end()) return kNoId;
  const std::uint32_t metric_id = intern(metric);
  for (const auto& [known, id] : found->second.series) {
    if (known == metric_id) return id;
  }
  const SeriesId id = ++last_series_;
  SeriesState& state = series_[id];
  state.subject = subject;
  state.metric = metric_id;
  state.unit = intern(unit);
  found->second.series.emplace_back(metric_id, id);
  new_.series.push_back(id);
  new_bytes_ += kRowBytes;
  return id;
}

TextId Definitions::add_text(std::string_view text) {
  const auto found = string_ids_.find(cut_text(text));
  if (found != string_ids_.end() && texts_.at(found->second).is_kept) return found->second;
  const bool is_full = kept_texts_.size() >= kMostTexts || kept_text_bytes_ + text.size() > kMostTextBytes;
  if (is_full && text != kMoreNames) return add_text(kMoreNames);
  const TextId id = intern(text);
  if (id == kNoId) return id;
  texts_.at(id).is_kept = true;
  kept_texts_.push_back(id);
  kept_text_bytes_ += texts_.at(id).text.size();
  return id;
}

ThreadId Definitions::add_thread(SubjectId process, std::int64_t tid, std::string_view name) {
  const ThreadId id = ++last_thread_;
  threads_[id] = {process, tid, add_text(name), false};
  new_.threads.push_back(id);
  new_bytes_ += kRowBytes;
  return id;
}

void Definitions::name_thread(ThreadId thread, std::string_view name) {
  const auto found = threads_.find(thread);
  const TextId text = add_text(name);
  if (found == threads_.end() || found->second.name == text) return;
  found->second.name = text;
  new_.threads.push_back(thread);  // a later row replaces the name
}

void Definitions::end_thread(ThreadId thread) {
  const auto found = threads_.find(thread);
  if (found != threads_.end()) found->second.has_ended = true;
}

StackId Definitions::add_stack(StackId caller, TextId frame) {
  const auto [place, is_new] = stack_ids_.try_emplace(std::uint64_t{caller} << 32 | frame, 0);
  if (!is_new) return place->second;
  if (stacks_.size() >= kMostStacks) {
    stack_ids_.erase(place);
    return caller;  // without its innermost frames
  }
  stacks_.emplace_back(caller, frame);
  place->second = static_cast<StackId>(stacks_.size());
  new_bytes_ += kRowBytes;
  return place->second;
}

Definitions::SeriesState* Definitions::find_series(SeriesId id) {
  const auto found = series_.find(id);
  return found == series_.end() ? nullptr : &found->second;
}

void Definitions::end_subject(SubjectId subject) {
  const auto found = subjects_.find(subject);
  if (found == subjects_.end() || found->second.has_ended) return;
  found->second.has_ended = true;
  ended_.push_back(subject);
}

void Definitions::forget_ended() {
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    thread = thread->second.has_ended ? threads_.erase(thread) : std::next(thread);
  }
  erase_ids(new_.threads, threads_);
  if (ended_.empty()) return;
  for (const SubjectId id : ended_) {
    const auto found = subjects_.find(id);
    if (found == subjects_.end()) continue;
    for (const auto& [metric, series] : found->second.series) series_.erase(series);
    subjects_.erase(found);
  }
  ended_.clear();
  forget_new_rows();
  forget_unused_strings();
}

void Definitions::forget_new_rows() {
  erase_ids(new_.subjects, subjects_);
  erase_ids(new_.series, series_);
  const auto gone = [&](const AttributeRow& row) { return subjects_.find(row.subject) == subjects_.end(); };
  new_.attributes.erase(std::remove_if(new_.attributes.begin(), new_.attributes.end(), gone), new_.attributes.end());
}

void Definitions::forget_unused_strings() {
  absl::flat_hash_map<std::uint32_t, bool> used;
  for (const auto& [id, subject] : subjects_) {
    used[subject.key] = true;
    for (const auto& [name, value] : subject.attributes) used[name] = used[value] = true;
  }
  for (const auto& [id, series] : series_) used[series.metric] = used[series.unit] = true;
  // An attribute that changed twice since the last write has a value that is no subject's any more.
  for (const AttributeRow& row : new_.attributes) used[row.value] = true;
  for (auto text = texts_.begin(); text != texts_.end();) {
    if (text->second.is_kept || used.contains(text->first)) {
      ++text;
    } else {
      string_ids_.erase(std::string_view(text->second.text));
      text = texts_.erase(text);
    }
  }
  erase_ids(new_.strings, texts_);
}

void Definitions::clear_new() {
  new_ = Rows();
  new_.first_stack = static_cast<StackId>(stacks_.size() + 1);
  new_bytes_ = 0;
}

void Definitions::write_all(const Sink& sink) const {
  Rows rows;
  for (const auto& [id, subject] : subjects_) {
    if (!subject.has_ended) rows.subjects.push_back(id);
  }
  std::sort(rows.subjects.begin(), rows.subjects.end());
  for (const SubjectId id : rows.subjects) {
    const SubjectState& subject = subjects_.at(id);
    rows.strings.push_back(subject.key);
    for (const auto& [name, value] : subject.attributes) {
      rows.attributes.push_back({id, name, value});
      rows.strings.insert(rows.strings.end(), {name, value});
    }
    for (const auto& [metric, series] : subject.series) {
      rows.series.push_back(series);
      rows.strings.insert(rows.strings.end(), {metric, series_.at(series).unit});
    }
  }
  rows.strings.insert(rows.strings.end(), kept_texts_.begin(), kept_texts_.end());
  for (const auto& [id, thread] : threads_) {
    if (!thread.has_ended) rows.threads.push_back(id);
  }
  std::sort(rows.strings.begin(), rows.strings.end());
  rows.strings.erase(std::unique(rows.strings.begin(), rows.strings.end()), rows.strings.end());
  rows.strings.erase(std::remove(rows.strings.begin(), rows.strings.end(), kNoId), rows.strings.end());
  write(rows, kRepeats, sink);
}

void Definitions::write(const Rows& rows, std::uint16_t flags, const Sink& sink) const {
  write_strings(rows.strings, flags, sink);
  write_subjects(rows.subjects, flags, sink);
  write_attributes(rows.attributes, flags, sink);
  write_series(rows.series, flags, sink);
  write_threads(rows.threads, flags, sink);
  write_stacks(rows.first_stack, flags, sink);
}

void Definitions::write_strings(const std::vector<std::uint32_t>& ids, std::uint16_t flags, const Sink& sink) const {
  for (std::size_t i = 0; i < ids.size();) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string_view> texts;
    for (std::size_t bytes = 0; i < ids.size() && bytes < kChunkTextBytes && numbers.size() < kChunkRows; ++i) {
      texts.push_back(texts_.at(ids[i]).text);
      numbers.push_back(ids[i]);
      bytes += texts.back().size();
    }
    ChunkBuilder chunk(ChunkKind::strings, numbers.size());
    chunk.integers(column::kStringId, numbers).texts(column::kStringText, texts).header().flags = flags;
    sink(chunk);
  }
}

void Definitions::write_subjects(const std::vector<SubjectId>& ids, std::uint16_t flags, const Sink& sink) const {
  for_pieces(ids.size(), [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> numbers, kinds, keys, parents;
    for (std::size_t i = begin; i < end; ++i) {
      const SubjectState& subject = subjects_.at(ids[i]);
      numbers.push_back(ids[i]);
      kinds.push_back(static_cast<std::int64_t>(subject.kind));
      keys.push_back(subject.key);
      parents.push_back(subject.parent);
    }
    ChunkBuilder chunk(ChunkKind::subjects, numbers.size());
    chunk.integers(column::kSubjectId, numbers).integers(column::kSubjectKind, kinds);
    chunk.integers(column::kSubjectKey, keys).integers(column::kSubjectParent, parents).header().flags = flags;
    sink(chunk);
  });
}

void Definitions::write_attributes(const std::vector<AttributeRow>& rows, std::uint16_t flags, const Sink& sink) const {
  for_pieces(rows.size(), [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> subjects, names, values;
    for (std::size_t i = begin; i < end; ++i) {
      subjects.push_back(rows[i].subject);
      names.push_back(rows[i].name);
      values.push_back(rows[i].value);
    }
    ChunkBuilder chunk(ChunkKind::attributes, subjects.size());
    chunk.integers(column::kAttributeSubject, subjects).integers(column::kAttributeName, names);
    chunk.integers(column::kAttributeValue, values).header().flags = flags;
    sink(chunk);
  });
}

void Definitions::write_series(const std::vector<SeriesId>& ids, std::uint16_t flags, const Sink& sink) const {
  for_pieces(ids.size(), [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> numbers, subjects, metrics, units;
    for (std::size_t i = begin; i < end; ++i) {
      const SeriesState& series = series_.at(ids[i]);
      numbers.push_back(ids[i]);
      subjects.push_back(series.subject);
      metrics.push_back(series.metric);
      units.push_back(series.unit);
    }
    ChunkBuilder chunk(ChunkKind::series, numbers.size());
    chunk.integers(column::kSeriesId, numbers).integers(column::kSeriesSubject, subjects);
    chunk.integers(column::kSeriesMetric, metrics).integers(column::kSeriesUnit, units).header().flags = flags;
    sink(chunk);
  });
}

void Definitions::write_threads(const std::vector<ThreadId>& ids, std::uint16_t flags, const Sink& sink) const {
  TraceRows rows;
  rows.kind = ChunkKind::threads;
  for (const ThreadId id : ids) {
    const ThreadState& thread = threads_.at(id);
    rows.column(column::kThreadId).push_back(id);
    rows.column(column::kThreadProcess).push_back(thread.process);
    rows.column(column::kThreadTid).push_back(thread.tid);
    rows.column(column::kThreadName).push_back(thread.name);
  }
  for (ChunkBuilder& chunk : trace_chunks(rows, flags)) sink(chunk);
}

void Definitions::write_stacks(StackId first, std::uint16_t flags, const Sink& sink) const {
  TraceRows rows;
  rows.kind = ChunkKind::stacks;
  for (std::size_t place = first - 1U; place < stacks_.size(); ++place) {
    rows.column(column::kStackId).push_back(static_cast<std::int64_t>(place + 1));
    rows.column(column::kStackParent).push_back(stacks_[place].first);
    rows.column(column::kStackFrame).push_back(stacks_[place].second);
  }
  for (ChunkBuilder& chunk : trace_chunks(rows, flags)) sink(chunk);
}

}  // namespace vramscope::recording
