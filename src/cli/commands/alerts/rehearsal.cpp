#include "cli/commands/alerts/rehearsal.h"

#include "cli/live.h"
#include "monitor/monitor.h"

namespace vramscope {

Rehearsal rehearse(Sampler& sampler, const AlertPlan& plan, std::int64_t length_ns, const std::string& host,
                   const std::function<void(const AlertEvent&)>& post) {
  Rehearsal rehearsal;
  rehearsal.is_played_back = sampler.is_played_back();
  Monitor monitor;
  AlertWatch watch(plan.rules, host);
  std::int64_t first_ns = 0;
  while (true) {
    wait_until_due(sampler);
    const LiveSample* sample = sampler.sample();
    if (sample == nullptr) break;
    if (rehearsal.samples == 0) first_ns = sample->time_ns;
    if (sample->time_ns - first_ns > length_ns) break;
    ++rehearsal.samples;
    rehearsal.played_ns = sample->time_ns - first_ns;
    monitor.add(*sample);
    AlertNews news = watch.add(*sample, monitor);
    for (AlertEvent& event : news.events) {
      if (post) post(event);
      rehearsal.events.push_back({rehearsal.played_ns, std::move(event)});
    }
  }
  for (std::size_t rule = 0; rule < plan.rules.size(); ++rule) {
    AlertReport report = watch.report(rule);
    if (report.nearest) report.nearest->time_ns -= first_ns;
    rehearsal.reports.push_back(std::move(report));
  }
  return rehearsal;
}

}  // namespace vramscope
