#pragma once
// What the rules share that compare the GPUs of one job.
#include "rules/rule.h"

namespace vramscope {

// How sure it is that devices with this sign work for one job.
double confidence_of_job(JobSign sign);

// Skips a rule where nothing can be compared: one GPU, several machines in one log, no utilisation, too short. False
// where it can be.
bool skip_without_comparison(Facts& facts, Verdicts& verdicts);

}  // namespace vramscope
