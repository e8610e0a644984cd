#include "report/process_words.h"

#include "fmt/format.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

std::string state_word(Presence presence, std::optional<char> state) {
  switch (presence) {
    case Presence::absent:
      return tr("not visible here");
    case Presence::unreadable:
      return tr("hidden");
    case Presence::unasked:
      return tr("N/A");
    case Presence::seen:
      break;
  }
  switch (state.value_or('?')) {
    case 'R':
      return tr("running");
    case 'S':
      return tr("sleeping");
    case 'D':
      return tr("stuck");
    case 'T':
    case 't':
      return tr("stopped");
    case 'Z':
    case 'X':
      return tr("zombie");
    case 'I':
      return tr("idle");
    default:
      break;
  }
  return tr("N/A");
}

ProcessTrouble state_trouble(std::optional<char> state) {
  switch (state.value_or('?')) {
    case 'D':
    case 'T':
    case 't':
      return ProcessTrouble::halted;
    case 'Z':
    case 'X':
      return ProcessTrouble::dead;
    default:
      return ProcessTrouble::none;
  }
}

std::string age_text(std::optional<std::int64_t> age_ns) {
  if (!age_ns || *age_ns < 0) return tr("N/A");
  constexpr std::int64_t kSecond = 1'000'000'000, kDay = 24 * 3600 * kSecond;
  const std::int64_t age = *age_ns;
  if (age >= 2 * kDay) return filled(tr("{count} d"), fmt::arg("count", age / kDay));
  if (age < 60 * kSecond) return filled(tr("{count} s"), fmt::arg("count", age / kSecond));
  return format_duration(age / kSecond * kSecond);
}

}  // namespace vramscope
