#pragma once
// Both forms of an exported memory timeline as a CategoryTimeline. Not thread-safe.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/memory_timeline.h"
#include "import/readers/memory_timeline/number_lists.h"
#include "model/source.h"

namespace vramscope::memory_timeline {

enum class Form : std::uint8_t {
  none,
  raw,    // [[time, action, bytes, category], …]
  sizes,  // [[time, …], [[0, bytes, …], …]]
};

// By the first bytes of the text, decompressed.
Form form_of(std::string_view head);

class Timeline {
 public:
  explicit Timeline(NumberLists& lists);
  // Reads to the end, or to where the text is damaged; what is whole stays.
  void read(Form form);
  // Gives it to the source, with counts and trouble.
  void give(Source& source);
  std::int64_t events() const { return events_; }
  std::int64_t kept() const { return kept_; }

 private:
  using Numbers = std::vector<std::int64_t>;

  // The numbers of a list that was opened, at most kMostNumbers of them; false when it has no end.
  bool read_list(Numbers& numbers);
  // Behind an element of a list: true when another follows, which is opened.
  bool goes_on();
  void read_raw();
  void read_sizes();
  void take_entry(const Numbers& entry);
  void add_point(std::int64_t time_ns);
  void note(const char* name);

  NumberLists& lists_;
  CategoryTimeline timeline_;
  std::array<std::int64_t, kCategories.size()> now_{};
  std::array<std::int64_t, kCategories.size()> by_category_{};
  bool is_raw_ = false;
  bool is_closed_ = false;
  bool has_pending_ = false;
  std::int64_t pending_ns_ = 0;  // of entries that are not yet a point
  std::int64_t events_ = 0;
  std::int64_t kept_ = 0;  // of them those that could be used
  std::vector<Trouble> trouble_;
};

}  // namespace vramscope::memory_timeline
