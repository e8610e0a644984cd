#pragma once
// Sentences with named places, and lists of them, as reports put them together.
#include <cstdint>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "report/findings.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

// filled(tr("{count} steps"), fmt::arg("count", n))
template <typename... Args>
std::string filled(const std::string& text, const Args&... args) {
  return fmt::format(fmt::runtime(text), args...);
}

// What NN_ marked, with {count} filled in.
inline std::string counted(std::string_view both, std::int64_t count) {
  return filled(tr_n(both, static_cast<long>(count)), fmt::arg("count", format_count(count)));
}

// A message for people, or in English for machines.
inline std::string worded(const char* msgid, Wording wording) {
  return wording == Wording::english ? msgid : tr(msgid);
}

}  // namespace vramscope
