// Our own recordings (.vrs): what `vramscope watch --record` keeps. A log of devices and memory in
// use by GPU over time; names, counts and damage for `info`. Playing one back as devices is src/sampling's.
#include <algorithm>
#include <charconv>
#include <deque>
#include <map>

#include "import/device_timeline.h"
#include "import/reader.h"
#include "import/readers/recording/recorded_log.h"
#include "import/readers/recording/recorded_trace.h"
#include "reader_table.h"
#include "recording/chunk_reader.h"
#include "recording/reader.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using recording::SeriesId;
using recording::SubjectId;

// A stream as bytes at offsets that rise but for a chunk's length: where a chunk is damaged, the search for the next
// one begins just behind its first byte.
class StreamBytes : public recording::RandomBytes {
 public:
  StreamBytes(ByteStream& stream, const Progress& progress) : stream_(stream), progress_(progress) {}

  std::size_t read_at(std::int64_t offset, char* out, std::size_t size) override {
    if (offset < begin_) return 0;
    while (begin_ + static_cast<std::int64_t>(kept_.size()) < offset + static_cast<std::int64_t>(size)) {
      if (!fill()) break;
    }
    const auto at = static_cast<std::size_t>(offset - begin_);
    if (at >= kept_.size()) return 0;
    const std::size_t count = std::min(size, kept_.size() - at);
    kept_.copy(out, count, at);
    // What lies further back than the largest chunk is not asked for again.
    if (at > 3 * kBehind) {
      kept_.erase(0, at - kBehind);
      begin_ += static_cast<std::int64_t>(at - kBehind);
    }
    return count;
  }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(kept_.size()); }

 private:
  static constexpr std::size_t kBehind = 20 << 20;
  static constexpr std::size_t kPiece = 256 * 1024;

  bool fill() {
    const std::size_t before = kept_.size();
    kept_.resize(before + kPiece);
    const std::size_t got = stream_.read(kept_.data() + before, kPiece);
    kept_.resize(before + got);
    if (progress_) progress_(stream_.consumed(), stream_.file_size());
    return got > 0;
  }

  ByteStream& stream_;
  const Progress& progress_;
  std::string kept_;
  std::int64_t begin_ = 0;
};

struct Gpu {
  std::string name;
  std::int32_t index = -1;
  bool is_part = false;  // a MIG device
  std::optional<std::int64_t> total_bytes;
};

class Contents : public recording::Visitor {
 public:
  void on_subject(SubjectId id, recording::SubjectKind kind, std::string_view key, SubjectId parent) override {
    log_.add_subject(id, kind, key, parent);
    if (kind == recording::SubjectKind::process) trace_.add_process(id, key);
    if (kind != recording::SubjectKind::device) return;
    gpus_[id].is_part = gpus_.count(parent) != 0;
  }
  void on_attribute(SubjectId subject, std::string_view name, std::string_view value) override {
    log_.set_attribute(subject, name, value);
    if (name == "name") trace_.name_process(subject, value);
    const auto gpu = gpus_.find(subject);
    if (gpu == gpus_.end()) return;
    if (name == "name") gpu->second.name = std::string(value);
    if (name == "index") std::from_chars(value.data(), value.data() + value.size(), gpu->second.index);
  }
  void on_series(SeriesId id, SubjectId subject, std::string_view metric, std::string_view /*unit*/) override {
    log_.add_series(id, subject, metric);
    const auto [place, is_new] = metrics_.try_emplace(std::string(metric), 0);
    series_[id] = {&place->second, subject, metric};
    if (gpus_.count(subject) == 0 || gpus_[subject].is_part) return;
    if (metric == "memory.used") series_[id].is_used = true;
    if (metric == "memory.total") series_[id].is_total = true;
  }
  void on_clock(const recording::ClockPoint& point) override {
    const bool is_plausible = recording::is_plausible_time(point.value) && recording::is_plausible_time(point.time_ns);
    if (point.clock == recording::Clock::realtime && is_plausible) offset_ns_ = point.value - point.time_ns;
  }
  void on_event(const recording::Event& event) override {
    if (recording::is_plausible_time(event.time_ns)) take_time(event.time_ns);
  }
  void on_text(recording::TextId id, std::string_view text) override { trace_.add_text(id, text); }
  void on_trace_rows(const recording::TraceRows& rows) override {
    trace_.add_rows(rows);
    const std::uint16_t time_column = recording::trace_time_column(rows.kind);
    if (time_column == 0) return;
    for (const std::int64_t time_ns : rows.column(time_column)) {
      if (recording::is_plausible_time(time_ns)) take_time(time_ns);
    }
  }
  void on_samples(const std::vector<recording::Sample>& samples) override {
    log_.add_samples(samples, offset_ns_);
    std::map<std::int64_t, std::map<SubjectId, std::int64_t>> moments;
    for (const recording::Sample& sample : samples) {
      if (!recording::is_plausible_time(sample.time_ns)) continue;
      take_time(sample.time_ns);
      const auto found = series_.find(sample.series);
      if (found == series_.end()) continue;
      ++*found->second.count;
      if (sample.validity != recording::Validity::known) continue;
      if (found->second.is_total) gpus_[found->second.subject].total_bytes = sample.value;
      if (found->second.is_used) moments[sample.time_ns][found->second.subject] = sample.value;
    }
    for (const auto& [time_ns, values] : moments) {
      if (!used_.begin(time_ns + offset_ns_)) continue;
      for (const auto& [subject, bytes] : values) used_.set(subject, bytes);
      used_.end();
    }
  }

  void give(Source& source) {
    for (const auto& [id, gpu] : gpus_) {
      if (gpu.is_part) continue;
      source.environment.devices.push_back({gpu.index, gpu.name, gpu.total_bytes, std::nullopt});
    }
    for (const auto& [metric, count] : metrics_) source.events_by_category.push_back({metric, count});
    source.start_ns = start_ns_;
    source.end_ns = end_ns_;
    source.device_log = log_.take();
    trace_.finish(offset_ns_, source);
    if (used_.empty()) return;
    source.memory_timeline = used_.take(
        [&](DeviceTimeline::Key gpu) { return "GPU " + std::to_string(gpus_[static_cast<SubjectId>(gpu)].index); });
  }

 private:
  struct SeriesInfo {
    std::int64_t* count = nullptr;
    SubjectId subject = recording::kNoId;
    std::string_view metric;
    bool is_used = false;
    bool is_total = false;
  };
  void take_time(std::int64_t time_ns) {
    const std::int64_t real_ns = time_ns + offset_ns_;
    if (!start_ns_ || real_ns < *start_ns_) start_ns_ = real_ns;
    if (!end_ns_ || real_ns > *end_ns_) end_ns_ = real_ns;
  }

  std::map<SubjectId, Gpu> gpus_;
  std::map<SeriesId, SeriesInfo> series_;
  std::map<std::string, std::int64_t> metrics_;
  std::int64_t offset_ns_ = 0;
  std::optional<std::int64_t> start_ns_, end_ns_;
  DeviceTimeline used_;
  recorded::RecordedLog log_;
  recorded::RecordedTrace trace_;
};

bool claims(const Head& head) {
  return recording::is_recording(head.bytes);
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  auto bytes = std::make_unique<StreamBytes>(stream, progress);
  const StreamBytes& window = *bytes;
  auto reader = recording::Reader::open(std::move(bytes), path);
  if (!reader) return reader.error();
  Contents contents;
  (*reader)->read_all(contents);
  Source source;
  source.path = path;
  source.format = "recording";
  source.version = "version 1";
  source.compressed = stream.is_compressed();
  source.bytes = window.end();
  source.events = (*reader)->seen().samples + (*reader)->seen().events + (*reader)->seen().trace_rows;
  contents.give(source);
  if (const auto& run = (*reader)->run()) {
    source.environment.host_name = run->host_name;
    if (!run->program.empty()) source.environment.settings["program"] = run->program;
    if (!run->command.empty()) source.environment.settings["command"] = run->command;
    if (!run->boot_id.empty()) source.environment.settings["boot_id"] = run->boot_id;
  }
  const std::vector<Trouble>& trouble = (*reader)->trouble();
  source.trouble.insert(source.trouble.end(), trouble.begin(), trouble.end());
  if (!stream.damage().empty()) source.trouble.push_back({stream.damage(), 1, stream.damage_offset()});
  std::sort(source.trouble.begin(), source.trouble.end(),
            [](const Trouble& a, const Trouble& b) { return a.name < b.name; });
  return source;
}

}  // namespace

Reader reader_recording() {
  return {"recording", N_("recording of `vramscope watch --record`"), 95, claims, read};
}

}  // namespace vramscope
