#include "report/smi_walk.h"

#include <algorithm>
#include <iterator>

#include "fmt/format.h"
#include "model/metric_smi.h"
#include "report/smi_text.h"

namespace vramscope {

namespace {

constexpr std::string_view kMissing = "N/A";

// What the nodes of a list are about.
struct Subject {
  const DeviceSample* device = nullptr;
  const DeviceProcess* process = nullptr;
  const AccountedProcess* accounted = nullptr;
  const SupportedClocks* clocks = nullptr;
  const Result<RecentSamples>* recent = nullptr;
  std::int64_t clock_mhz = 0;
  std::uint64_t page = 0;
};

std::string number_text(std::optional<std::int64_t> number, std::string_view unit = {}) {
  if (!number) return std::string(kMissing);
  return unit.empty() ? std::to_string(*number) : fmt::format("{} {}", *number, unit);
}

std::optional<std::int64_t> mebibytes(std::optional<std::int64_t> bytes) {
  if (!bytes) return std::nullopt;
  return smi_mebibytes(*bytes);
}

std::string recent_text(const Result<RecentSamples>& recent, const SmiNode& node) {
  if (!recent) return std::string(smi_missing_words(recent.error().driver_code));
  constexpr double kMicroseconds = 1e6, kMilliwatts = 1000;
  const RecentSamples& samples = *recent;
  if (node.item == SmiItem::duration) {
    return fmt::format("{:.2f} sec", static_cast<double>(samples.duration_us) / kMicroseconds);
  }
  if (node.item == SmiItem::count) return std::to_string(samples.count);
  const std::int64_t value = node.item == SmiItem::most    ? samples.most
                             : node.item == SmiItem::least ? samples.least
                                                           : samples.mean;
  if (node.print == SmiPrint::watts) return fmt::format("{:.2f} W", static_cast<double>(value) / kMilliwatts);
  return fmt::format("{} {}", value, node.print == SmiPrint::megahertz ? "MHz" : "%");
}

std::string process_text(const SmiGpuFacts& facts, const DeviceProcess& process, SmiItem item) {
  switch (item) {
    case SmiItem::gpu_instance:
      return number_text(process.gpu_instance);
    case SmiItem::compute_instance:
      return number_text(process.compute_instance);
    case SmiItem::pid:
      return std::to_string(process.pid);
    case SmiItem::process_type:
      return std::string(smi_process_type(process));
    case SmiItem::process_name:
      return facts.process_name ? facts.process_name(process) : std::string();
    default:
      return number_text(mebibytes(process.used_bytes), "MiB");
  }
}

std::string accounted_text(const AccountedProcess& process, SmiItem item) {
  switch (item) {
    case SmiItem::accounted_pid:
      return std::to_string(process.pid);
    case SmiItem::accounted_gpu:
      return number_text(process.gpu_percent, "%");
    case SmiItem::accounted_memory:
      return number_text(process.memory_percent, "%");
    case SmiItem::accounted_most:
      return number_text(mebibytes(process.max_memory_bytes), "MiB");
    case SmiItem::accounted_time:
      return number_text(process.time_ms, "ms");
    default:
      return process.is_running ? "1" : "0";
  }
}

std::string item_text(const SmiGpuFacts& facts, const Subject& subject, const SmiNode& node) {
  if (subject.recent != nullptr) return recent_text(*subject.recent, node);
  if (subject.process != nullptr) return process_text(facts, *subject.process, node.item);
  if (subject.accounted != nullptr) return accounted_text(*subject.accounted, node.item);
  switch (node.item) {
    case SmiItem::device_index:
      return std::to_string(subject.device->index);
    case SmiItem::gpu_instance:
      return number_text(subject.device->gpu_instance);
    case SmiItem::compute_instance:
      return number_text(subject.device->compute_instance);
    case SmiItem::memory_clock:
      return number_text(subject.clocks->memory_mhz, "MHz");
    case SmiItem::graphics_clock:
      return number_text(subject.clock_mhz, "MHz");
    default:
      return fmt::format("0x{:016x}", subject.page);
  }
}

// What is told of errors of the memory.
enum class ErrorLayout { by_place, sram_total, sram_parts };

ErrorLayout error_layout(const DeviceSample& gpu) {
  constexpr std::string_view kByPlace[] = {"Kepler", "Maxwell", "Pascal", "Volta"};
  const std::string_view architecture = gpu.text(Metric::architecture);
  if (std::find(std::begin(kByPlace), std::end(kByPlace), architecture) != std::end(kByPlace)) {
    return ErrorLayout::by_place;
  }
  const bool has_parts = architecture.empty() ? gpu.values.is_known(Metric::ecc_errors_uncorrected_volatile_sram_parity)
                                              : architecture != "Turing";
  return has_parts ? ErrorLayout::sram_parts : ErrorLayout::sram_total;
}

bool is_in_rack(const MetricValues& values) {
  const bool has_place = values.number(Metric::platform_gpu_fabric_guid).value_or(0) != 0;
  return has_place || !values.text(Metric::platform_chassis_serial_number).empty();
}

class Walk {
 public:
  Walk(SmiWriter& writer, const SmiGpuFacts& facts) : writer_(writer), facts_(facts), tree_(smi_tree()) {}
  void range(std::size_t begin, std::size_t end, const Subject& subject);
  void node(std::size_t at, std::size_t end, const Subject& subject);

 private:
  bool is_there(const SmiNode& node, const Subject& subject) const;
  bool is_all_unknown(std::size_t begin, std::size_t end, const Subject& subject) const;
  std::string value_text(const SmiNode& node, const Subject& subject) const;
  void list(std::size_t at, std::size_t end, const Subject& subject);
  template <typename List, typename Make>
  void each(std::size_t at, std::size_t end, const Result<List>& list, Make make);

  SmiWriter& writer_;
  const SmiGpuFacts& facts_;
  const std::vector<SmiNode>& tree_;
};

bool Walk::is_there(const SmiNode& node, const Subject& subject) const {
  const MetricValues& values = subject.device->values;
  switch (node.when) {
    case SmiWhen::known:
      return values.is_known(node.metric);
    case SmiWhen::by_place:
      return error_layout(*facts_.gpu) == ErrorLayout::by_place;
    case SmiWhen::since_turing:
      return error_layout(*facts_.gpu) != ErrorLayout::by_place;
    case SmiWhen::sram_total:
      return error_layout(*facts_.gpu) == ErrorLayout::sram_total;
    case SmiWhen::sram_parts:
      return error_layout(*facts_.gpu) == ErrorLayout::sram_parts;
    case SmiWhen::below_limit:
      return values.is_known(Metric::temperature_gpu_tlimit);
    case SmiWhen::to_limit:
      return !values.is_known(Metric::temperature_gpu_tlimit);
    default:
      return true;
  }
}

bool Walk::is_all_unknown(std::size_t begin, std::size_t end, const Subject& subject) const {
  for (std::size_t at = begin; at < end; ++at) {
    if (tree_[at].form == SmiForm::value && subject.device->values.is_known(tree_[at].metric)) return false;
  }
  return true;
}

std::string Walk::value_text(const SmiNode& node, const Subject& subject) const {
  const MetricValues& values = subject.device->values;
  std::string text;
  switch (node.form) {
    case SmiForm::words:
      return std::string(node.words);
    case SmiForm::unavailable:
      return std::string(kMissing);
    case SmiForm::item:
      return item_text(facts_, subject, node);
    case SmiForm::bit:
      if (!values.is_known(node.metric)) return std::string(smi_missing_words(values[node.metric]));
      return (values[node.metric].number & node.number) != 0 ? "Active" : "Not Active";
    default:
      if (node.needs_rack && !is_in_rack(values)) return std::string(kMissing);
      append_smi_query_value(text, values, node.metric, writer_.print_of(node));
      return text;
  }
}

template <typename List, typename Make>
void Walk::each(std::size_t at, std::size_t end, const Result<List>& list, Make make) {
  const SmiNode& node = tree_[at];
  if (!list) {
    writer_.line(node, smi_missing_words(list.error().driver_code));
    return;
  }
  if (list->empty()) {
    writer_.empty_list(node);
    return;
  }
  writer_.begin(node);
  for (const auto& entry : *list) range(at + 1, end, make(entry));
  writer_.end(node);
}

void Walk::list(std::size_t at, std::size_t end, const Subject& subject) {
  const SmiNode& node = tree_[at];
  const auto of_page = [&](std::uint64_t page) {
    Subject inner = subject;
    inner.page = page;
    return inner;
  };
  switch (node.list) {
    case SmiList::mig_devices:
      return each(at, end, Result(facts_.migs), [](const DeviceSample* mig) { return Subject{mig}; });
    case SmiList::processes:
      if (facts_.gpu->processes_state != ValueState::known && facts_.processes.empty()) {
        const ValueState state = facts_.gpu->processes_state;
        if (state == ValueState::lost || state == ValueState::no_permission || state == ValueState::not_supported) {
          return writer_.line(node, smi_missing_words(MetricValue{0, state}));
        }
      }
      return each(at, end, Result(facts_.processes), [&](const DeviceProcess* process) {
        return Subject{subject.device, process};
      });
    case SmiList::accounted:
      return each(at, end, facts_.accounted, [&](const AccountedProcess& process) {
        return Subject{subject.device, nullptr, &process};
      });
    case SmiList::supported_clocks:
      return each(at, end, facts_.supported_clocks, [&](const SupportedClocks& clocks) {
        return Subject{subject.device, nullptr, nullptr, &clocks};
      });
    case SmiList::graphics_clocks:
      for (const std::int64_t clock : subject.clocks->graphics_mhz) {
        Subject inner = subject;
        inner.clock_mhz = clock;
        range(at + 1, end, inner);
      }
      return;
    case SmiList::single_bit_pages:
      return each(at, end, facts_.single_bit_pages, of_page);
    case SmiList::double_bit_pages:
      return each(at, end, facts_.double_bit_pages, of_page);
    case SmiList::recent: {
      const auto found = facts_.recent.find(node.number);
      if (found == facts_.recent.end()) return;
      writer_.begin(node);
      Subject inner = subject;
      inner.recent = &found->second;
      range(at + 1, end, inner);
      writer_.end(node);
      return;
    }
  }
}

void Walk::node(std::size_t at, std::size_t end, const Subject& subject) {
  const SmiNode& node = tree_[at];
  if (!writer_.shows(node) || !is_there(node, subject)) return;
  switch (node.form) {
    case SmiForm::list:
      return list(at, end, subject);
    case SmiForm::collapsing:
      if (is_all_unknown(at + 1, end, subject)) {
        const MetricValue& first = subject.device->values[tree_[at + 1].metric];
        return writer_.line(node, smi_missing_words(first));
      }
      [[fallthrough]];
    case SmiForm::section:
      writer_.begin(node);
      range(at + 1, end, subject);
      return writer_.end(node);
    default:
      if (end == at + 1) return writer_.line(node, value_text(node, subject));
      writer_.begin_value(node, value_text(node, subject));
      range(at + 1, end, subject);
      return writer_.end(node);
  }
}

void Walk::range(std::size_t begin, std::size_t end, const Subject& subject) {
  for (std::size_t at = begin; at < end;) {
    const std::size_t next = smi_tree_end(tree_, at);
    node(at, next, subject);
    at = next;
  }
}

}  // namespace

void walk_smi_tree(SmiWriter& writer, const SmiGpuFacts& facts, SmiDisplays displays, bool is_xml) {
  Walk walk(writer, facts);
  const Subject gpu{facts.gpu};
  const std::vector<SmiNode>& tree = smi_tree();
  for (std::size_t at = 0; at < tree.size();) {
    const std::size_t next = smi_tree_end(tree, at);
    if (is_taken(tree[at], displays, is_xml)) walk.node(at, next, gpu);
    at = next;
  }
}

}  // namespace vramscope
