#include "monitor/verdict_changes.h"

#include <algorithm>
#include <iterator>

namespace vramscope {

namespace {

bool is_told_elsewhere(const std::string& rule) {
  constexpr std::string_view kElsewhere[] = {"memory-high", "memory-growing", "gpu-lost", "driver-error"};
  return std::find(std::begin(kElsewhere), std::end(kElsewhere), rule) != std::end(kElsewhere);
}

std::string key_of(const Verdict& verdict) {
  return verdict.finding.rule + ' ' + verdict.gpu_uuid + ' ' + std::to_string(verdict.gpu.value_or(-1)) + ' ' +
         std::to_string(verdict.pid.value_or(0));
}

Change change_of(const Verdict& verdict, ChangeKind kind, const LiveSample& sample) {
  Change change;
  change.kind = kind;
  change.severity = verdict.finding.severity;
  change.time_ns = sample.time_ns;
  change.real_time_ns = sample.real_time_ns;
  change.message = {verdict.finding.title, verdict.finding.arguments};
  change.gpu = verdict.gpu;
  change.gpu_uuid = verdict.gpu_uuid;
  change.pid = verdict.pid;
  return change;
}

}  // namespace

void VerdictChanges::update(const VerdictInput& input, const std::function<bool(const Verdict&)>& is_wanted,
                            std::vector<Change>& changes) {
  const LiveSample& sample = input.sample;
  if (looked_ns_ != INT64_MIN && sample.time_ns - looked_ns_ < kLookEveryNs) return;
  looked_ns_ = sample.time_ns;
  for (auto& [key, known] : known_) ++known.missed;
  for (const Verdict& verdict : judge(input)) {
    if (verdict.finding.severity < Severity::warning || is_told_elsewhere(verdict.finding.rule) || !is_wanted(verdict))
      continue;
    Known& known = known_[key_of(verdict)];
    known.missed = 0;
    if (++known.seen < kLooks || known.is_told) continue;
    known.is_told = true;
    known.change = change_of(verdict, ChangeKind::verdict, sample);
    changes.push_back(known.change);
  }
  for (auto each = known_.begin(); each != known_.end();) {
    Known& known = each->second;
    const bool is_over = known.missed >= (known.is_told ? kLooks : 1);
    if (is_over && known.is_told) {
      known.change.kind = ChangeKind::verdict_over;
      known.change.severity = Severity::info;
      known.change.time_ns = sample.time_ns;
      known.change.real_time_ns = sample.real_time_ns;
      changes.push_back(std::move(known.change));
    }
    each = is_over ? known_.erase(each) : std::next(each);
  }
}

}  // namespace vramscope
