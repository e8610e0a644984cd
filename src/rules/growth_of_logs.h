#pragma once
// Rule memory-growth where there is no trace: samples of the allocator's figures in a log, and several snapshots.
#include "rules/rule.h"

namespace vramscope {

void check_sample_growth(Facts& facts, Verdicts& verdicts);
// Speaks for the last snapshot of a process; the earlier ones are skipped.
void check_snapshot_growth(Facts& facts, Verdicts& verdicts);

}  // namespace vramscope
