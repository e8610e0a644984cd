#pragma once
// Verdicts as lines of a watch: one when an illness has come to stay, one when it is over.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/verdict.h"
#include "monitor/verdict_rule.h"

namespace vramscope {

// For one thread at a time. Left out: what other lines tell (memory that is high or grows, lost devices, Xids), and
// what is below a warning.
class VerdictChanges {
 public:
  static constexpr std::int64_t kLookEveryNs =
      10'000'000'000;  // of the samples' time; judging each would cost too much

  // `is_wanted`: of those alone.
  void update(const VerdictInput& input, const std::function<bool(const Verdict&)>& is_wanted,
              std::vector<Change>& changes);

 private:
  // Looks in a row after which it is told, or over: what comes and goes at once is no line.
  static constexpr int kLooks = 2;

  struct Known {
    Change change;
    int seen = 0, missed = 0;
    bool is_told = false;
  };

  std::map<std::string, Known> known_;  // by rule, device and process
  std::int64_t looked_ns_ = INT64_MIN;
};

}  // namespace vramscope
