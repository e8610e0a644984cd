#pragma once
// Plays the samples of a recording back moment by moment.
#include <cstdint>
#include <deque>
#include <vector>

#include "recording/reader.h"

namespace vramscope::recording {

// All samples of one time.
struct Moment {
  std::int64_t time_ns = 0;
  std::vector<Sample> samples;  // by series
};

// Holds one chunk of samples at a time. Times rise from moment to moment, except where the recording's own fall.
class Playback {
 public:
  // Subjects, series, events and clocks go to `visitor` as the reader meets them: definitions before the first moment
  // that needs them, events up to a chunk early. Both must outlive this.
  Playback(Reader& reader, Visitor& visitor) : reader_(reader), visitor_(visitor) {}
  // False at the end.
  bool next(Moment& moment);

 private:
  class Collector;
  void add(const std::vector<Sample>& samples);

  Reader& reader_;
  Visitor& visitor_;
  std::deque<Moment> waiting_;
  bool is_over_ = false;
};

}  // namespace vramscope::recording
