#include "text/date.h"

#include <ctime>

#include "fmt/format.h"

namespace vramscope {

std::string format_utc(std::int64_t epoch_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::time_t seconds = epoch_ns / kSecond;
  if (epoch_ns % kSecond < 0) --seconds;
  std::tm date{};
  if (::gmtime_r(&seconds, &date) == nullptr) return fmt::format("{} ns", epoch_ns);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday,
                     date.tm_hour, date.tm_min, date.tm_sec);
}

}  // namespace vramscope
