// A driver that takes seconds to answer: whoever asks it waits, and what is shown is as old as that.
#include "text/catalogue.h"
#include "verdict_table.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSlowNs = 1'000'000'000;

void judge_all(const VerdictInput& input, std::vector<Verdict>& verdicts) {
  const auto answer_ns = input.sample.answer_ns;
  if (!answer_ns || *answer_ns < kSlowNs) return;
  Verdict verdict;
  Finding& finding = verdict.finding;
  finding.rule = "slow-driver";
  finding.severity = Severity::warning;
  finding.confidence = 1;
  finding.arguments.emplace_back("time", time_value(*answer_ns / 1'000'000 * 1'000'000));
  finding.title = N_("The driver took {time} to answer");
  finding.summary =
      N_("A look at the devices takes a few milliseconds where all is well. Programs that begin, end or ask for memory "
         "may have to wait as long.");
  finding.fix =
      N_("Look again: a GPU that slept answers late once (`sudo nvidia-smi -pm 1` keeps NVIDIA's awake). If "
         "it stays so, `sudo dmesg` tells what the driver waits for; a GPU that is about to fail is often "
         "slow before.");
  finding.evidence.push_back({N_("time of one look"), time_value(*answer_ns), {}});
  verdicts.push_back(std::move(verdict));
}

}  // namespace

VerdictRule verdict_slow_driver() {
  return {"slow-driver", N_("drivers that take seconds to answer"), judge_all};
}

}  // namespace vramscope
