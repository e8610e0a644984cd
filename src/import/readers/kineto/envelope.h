#pragma once
// What stands around the events: the members of the file's outermost object. Fed with text from front to back.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "import/readers/kineto/skipper.h"
#include "import/readers/kineto/text_buffer.h"
#include "model/source.h"

namespace vramscope::kineto {

class Envelope {
 public:
  enum class State {
    wants_more,
    at_events,  // the events begin at the end of what was taken
    closed,     // the outermost value is complete
    broken,     // this is no JSON from here on
  };

  // Takes text until something happens; `used` tells how much of it belongs to the envelope. Text that is not yet
  // decidable is kept inside, at most kMostPending; members without a meaning may be of any size. The text must have
  // the padding of a TextBuffer behind it.
  State feed(std::string_view text, std::size_t& used);
  // The array of events is over; what follows is members again, a further array of events among them, or nothing when
  // it was a bare list.
  void leave_events() {
    in_events_ = false;
    if (is_list_) is_closed_ = true;
  }

  bool is_list() const { return is_list_; }  // a bare list of events, as torch before 1.8 wrote it
  bool has_events() const { return has_events_; }
  bool is_closed() const { return is_closed_; }

  // Raw JSON text of the members with a meaning: deviceProperties, distributedInfo, scalars.
  const std::map<std::string, std::string>& members() const { return members_; }
  // Fills devices, rank, settings… from the members. Trouble names what could not be read.
  void describe(Source& source, std::int64_t& base_time_ns) const;

 private:
  static constexpr std::size_t kMostPending = 64u << 20;
  State feed_pending(std::string_view text, std::size_t& used);
  State step(std::string_view text, std::size_t& used);
  std::optional<State> pass_value(std::string_view key, const char*& at, const char* end);
  static bool is_wanted(std::string_view key);
  void keep(std::string_view key, std::string_view value);

  TextBuffer pending_;
  Skipper skipper_;  // of a member without a meaning that goes on in the next text
  std::map<std::string, std::string> members_;
  bool has_begun_ = false;
  bool is_list_ = false;
  bool has_events_ = false;
  bool in_events_ = false;
  bool is_closed_ = false;
  bool is_broken_ = false;
};

}  // namespace vramscope::kineto
