#include "recording/playback.h"

#include <algorithm>

namespace vramscope::recording {

// Keeps the samples and passes all else on.
class Playback::Collector : public Visitor {
 public:
  explicit Collector(Playback& owner) : owner_(owner) {}
  void on_subject(SubjectId id, SubjectKind kind, std::string_view key, SubjectId parent) override {
    owner_.visitor_.on_subject(id, kind, key, parent);
  }
  void on_attribute(SubjectId subject, std::string_view name, std::string_view value) override {
    owner_.visitor_.on_attribute(subject, name, value);
  }
  void on_series(SeriesId id, SubjectId subject, std::string_view metric, std::string_view unit) override {
    owner_.visitor_.on_series(id, subject, metric, unit);
  }
  void on_samples(const std::vector<Sample>& samples) override { owner_.add(samples); }
  void on_event(const Event& event) override { owner_.visitor_.on_event(event); }
  void on_clock(const ClockPoint& point) override { owner_.visitor_.on_clock(point); }

 private:
  Playback& owner_;
};

void Playback::add(const std::vector<Sample>& samples) {
  std::vector<Sample> sorted = samples;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  for (const Sample& sample : sorted) {
    // The last moment of the chunk before may go on here.
    if (waiting_.empty() || waiting_.back().time_ns != sample.time_ns) waiting_.push_back({sample.time_ns, {}});
    waiting_.back().samples.push_back(sample);
  }
}

bool Playback::next(Moment& moment) {
  Collector collector(*this);
  while (waiting_.size() < 2 && !is_over_) is_over_ = !reader_.step(collector);
  if (waiting_.empty()) return false;
  moment = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

}  // namespace vramscope::recording
