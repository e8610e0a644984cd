#pragma once
// Looks at a program's output as it passes for what tells why it may end: memory that ran out, errors of the device and
// its libraries, tracebacks, killed workers. In bounded memory, at a price near that of reading the bytes once.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/out_of_memory.h"
#include "monitor/output_signs.h"
#include "monitor/output_tracebacks.h"

namespace vramscope {

// A message that memory ran out, as a log of the program would be read (import/readers/memory_log).
struct OutputOom {
  OutOfMemory event;  // its line is that of its stream
  int stream = 1;
  std::int64_t last_line = 0;  // where it was told the last time
  std::int64_t time_ns = 0;    // then
};

// For one thread at a time.
class OutputScan {
 public:
  static constexpr std::size_t kLastLines = 20;
  static constexpr std::size_t kMostSigns = 256;  // the latest are kept
  static constexpr std::size_t kMostOoms = 64;    // of a stream; the latest, as well

  OutputScan();
  ~OutputScan();

  // The next bytes of a stream (1 or 2), cut anywhere. `time_ns`: of any clock that does not fall; kept with what is
  // found.
  void feed(int stream, std::string_view bytes, std::int64_t time_ns);
  // Lines without an end are lines, too. Nothing may be fed afterwards.
  void finish();

  const std::deque<OutputSign>& signs() const { return signs_; }
  // By stream, then in order.
  std::vector<OutputOom> out_of_memory() const;
  // The last lines of both streams as a terminal would show them, in order of arrival: without escape sequences, of a
  // line that was written over its last state. At most kSignBytes each.
  std::vector<std::string> last_lines() const;
  std::int64_t line_count(int stream) const;

 private:
  class Stream;
  friend class Stream;
  void add(OutputSign sign);

  std::unique_ptr<Stream> streams_[2];
  std::deque<OutputSign> signs_;
  std::deque<std::string> last_lines_;
};

}  // namespace vramscope
