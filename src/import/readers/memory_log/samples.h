#pragma once
// Tables of memory_summary() and dictionaries of memory_stats(), from the lines of a log. Several writers may be
// interleaved line by line when each line names its writer in front. Not thread-safe.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/readers/memory_log/line_window.h"
#include "model/source.h"

namespace vramscope::memory_log {

class Samples {
 public:
  explicit Samples(std::vector<AllocatorStats>& out) : out_(out) {}

  // Takes the line if it belongs to a table or a dictionary.
  void feed(const Line& line);
  // Whether one is open, so that the next line may belong to it whatever is in it.
  bool is_open() const { return !open_.empty(); }
  void finish();
  std::int64_t tables() const { return tables_; }
  std::int64_t dictionaries() const { return dictionaries_; }
  const std::vector<Trouble>& trouble() const { return trouble_; }

 private:
  struct Open {
    AllocatorStats stats;
    bool is_table = false;
    std::string stem;            // of the last row that may have rows of pools below
    std::set<std::string> torn;  // keys that came twice
    int quiet_lines = 0;         // lines since the last that belonged to it
    std::size_t order = 0;
  };

  bool feed_table(std::string_view text, const Line& line);
  bool feed_row(std::string_view text);
  bool feed_counts(std::string_view text);
  bool feed_rule(std::string_view text);
  bool feed_dictionary(std::string_view text, const Line& line);
  std::string joined_writer(const std::string& writer, const std::string& key) const;
  void begin_dictionary(AllocatorStats& stats, std::string_view before, const Line& line);
  Open& open(const std::string& writer, std::string_view text, const Line& line);
  void add_cells(Open& table, const std::string& keys, std::string_view cells, bool is_bytes);
  void close(const std::string& writer, bool is_whole);
  void age();
  void note(const char* name, std::int64_t offset);

  std::vector<AllocatorStats>& out_;
  std::map<std::string, Open> open_;                  // by writer
  std::map<std::int32_t, std::int64_t> last_offset_;  // of the last sample of a device
  std::size_t opened_ = 0;
  std::int64_t tables_ = 0;
  std::int64_t dictionaries_ = 0;
  std::vector<Trouble> trouble_;
};

}  // namespace vramscope::memory_log
