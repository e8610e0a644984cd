// The table without options, and -q.
#include <algorithm>

#include "cli/commands/smi/process_name.h"
#include "cli/commands/smi/session.h"
#include "report/smi_query.h"
#include "report/smi_summary.h"

namespace vramscope {

namespace {

SmiMachineFacts machine_of(const std::vector<DeviceSample>& samples) {
  SmiMachineFacts machine;
  machine.unix_ns = smi_unix_ns();
  if (samples.empty()) return machine;
  const auto known = [&](Metric metric) {
    const std::string_view text = samples.front().text(metric);
    return std::string(text.empty() ? "N/A" : text);
  };
  machine.driver = known(Metric::driver_version);
  machine.cuda = known(Metric::cuda_version);
  for (const DeviceSample& sample : samples) machine.gpu_count += sample.parent ? 0U : 1U;
  return machine;
}

SmiGpuFacts facts_of(const SmiSession& session, const std::vector<DeviceSample>& samples, std::size_t place) {
  SmiGpuFacts facts;
  facts.gpu = &samples[place];
  for (const DeviceSample& mig : samples) {
    if (mig.parent && static_cast<std::size_t>(*mig.parent) == place) facts.migs.push_back(&mig);
  }
  for (const DeviceProcess& process : facts.gpu->processes) facts.processes.push_back(&process);
  std::stable_sort(facts.processes.begin(), facts.processes.end(),
                   [](const DeviceProcess* a, const DeviceProcess* b) { return a->pid < b->pid; });
  facts.process_name = [&source = *session.source](const DeviceProcess& process) {
    std::string name = smi_process_name(source, process);
    return name == "-" ? std::string() : name;  // nameless
  };
  return facts;
}

// The lists that a walk comes to.
void fetch_lists(SmiGpuFacts& facts, DeviceSource& source, std::size_t place, const SmiOptions& options) {
  bool is_asked = false;
  for (const SmiNode& node : smi_tree()) {
    if (node.depth == 0) is_asked = is_taken(node, options.displays, options.is_xml);
    const bool is_shown = options.is_xml ? !node.element.empty() : !node.text.empty();
    if (!is_asked || !is_shown || node.form != SmiForm::list) continue;
    switch (node.list) {
      case SmiList::accounted:
        facts.accounted = source.accounted(place);
        break;
      case SmiList::supported_clocks:
        facts.supported_clocks = source.supported_clocks(place);
        break;
      case SmiList::single_bit_pages:
        facts.single_bit_pages = source.retired_pages(place, RetirementCause::single_bit_errors);
        break;
      case SmiList::double_bit_pages:
        facts.double_bit_pages = source.retired_pages(place, RetirementCause::double_bit_error);
        break;
      case SmiList::recent:
        facts.recent.insert_or_assign(node.number, source.recent(place, static_cast<RecentKind>(node.number)));
        break;
      default:
        break;
    }
  }
}

// Calls `write(out, samples)` for each sample, until it is interrupted where -l says again.
template <typename Write>
int run_samples(SmiSession& session, const Wanted& wanted, Write write) {
  const SmiOptions& options = session.options;
  std::int64_t due_ns = smi_monotonic_ns();
  std::string out;
  while (true) {
    const std::vector<DeviceSample>& samples = session.sample(wanted);
    if (session.is_empty()) return kNoSuchGpu;
    out.clear();
    if (!session.chosen.empty()) write(out, samples);
    if (!session.output.write(out)) return end_of_smi(session, false);
    if (!options.interval_ns) return end_of_smi(session, true);
    due_ns += *options.interval_ns;
    if (!wait_for_smi(due_ns)) return 0;
  }
}

bool is_gpu(const std::vector<DeviceSample>& samples, std::size_t place) {
  return place < samples.size() && !samples[place].parent;  // the list is made anew when MIG devices come and go
}

}  // namespace

int run_smi_summary(SmiSession& session) {
  return run_samples(session, smi_summary_wanted(), [&](std::string& out, const std::vector<DeviceSample>& samples) {
    std::vector<SmiGpuFacts> gpus;
    for (const std::size_t place : session.chosen) {
      if (is_gpu(samples, place)) gpus.push_back(facts_of(session, samples, place));
    }
    append_smi_summary(out, machine_of(samples), gpus);
  });
}

int run_smi_full_query(SmiSession& session) {
  const SmiOptions& options = session.options;
  const Wanted wanted = smi_tree_wanted(options.displays, options.is_xml);
  return run_samples(session, wanted, [&](std::string& out, const std::vector<DeviceSample>& samples) {
    if (options.is_xml) {
      append_smi_xml_head(out, machine_of(samples), options.with_dtd);
    } else {
      append_smi_query_head(out, machine_of(samples));
    }
    for (const std::size_t place : session.chosen) {
      if (!is_gpu(samples, place)) continue;
      SmiGpuFacts facts = facts_of(session, samples, place);
      fetch_lists(facts, *session.source, place, options);
      if (options.is_xml) {
        append_smi_xml_gpu(out, facts);
      } else {
        append_smi_query_gpu(out, facts, options.displays);
      }
    }
    if (options.is_xml) append_smi_xml_tail(out);
  });
}

}  // namespace vramscope
