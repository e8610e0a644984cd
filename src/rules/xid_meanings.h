#pragma once
// What the numbers mean under which NVIDIA's driver reports errors (Xid). One table for live verdicts and for rules.
#include <cstdint>

#include "model/finding.h"

namespace vramscope {

struct XidMeaning {
  std::int64_t xid = 0;
  Severity severity = Severity::warning;
  const char* summary = "";  // English msgid, one sentence
};

// Of a number that is not in the table: a warning, and where to look it up.
XidMeaning meaning_of_xid(std::int64_t xid);

}  // namespace vramscope
