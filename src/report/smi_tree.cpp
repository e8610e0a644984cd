#include "report/smi_tree.h"

#include <iterator>

#include "report/smi_tree_parts.h"

namespace vramscope {

namespace {

constexpr std::string_view kDisplayNames[] = {"MEMORY",
                                              "UTILIZATION",
                                              "ECC",
                                              "TEMPERATURE",
                                              "POWER",
                                              "CLOCK",
                                              "COMPUTE",
                                              "PIDS",
                                              "PERFORMANCE",
                                              "SUPPORTED_CLOCKS",
                                              "PAGE_RETIREMENT",
                                              "ACCOUNTING",
                                              "ENCODER_STATS",
                                              "SUPPORTED_GPU_TARGET_TEMP",
                                              "VOLTAGE",
                                              "FBC_STATS",
                                              "ROW_REMAPPER",
                                              "GSP_FIRMWARE_VERSION",
                                              "POWER_SMOOTHING",
                                              "POWER_PROFILES"};

bool is_same_word(std::string_view upper, std::string_view word) {
  if (upper.size() != word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char letter = word[i];
    if (upper[i] != (letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter)) return false;
  }
  return true;
}

}  // namespace

std::optional<SmiDisplay> smi_display_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kDisplayNames); ++i) {
    if (is_same_word(kDisplayNames[i], name)) return static_cast<SmiDisplay>(i);
  }
  return std::nullopt;
}

const std::vector<SmiNode>& smi_tree() {
  static const std::vector<SmiNode> tree = [] {
    std::vector<SmiNode> nodes;
    add_smi_identity(nodes);
    add_smi_pci(nodes);
    add_smi_activity(nodes);
    add_smi_health(nodes);
    add_smi_power(nodes);
    add_smi_clocks(nodes);
    add_smi_lists(nodes);
    return nodes;
  }();
  return tree;
}

std::size_t smi_tree_end(const std::vector<SmiNode>& tree, std::size_t at) {
  const std::uint8_t depth = tree[at].depth;
  std::size_t end = at + 1;
  while (end < tree.size() && tree[end].depth > depth) ++end;
  return end;
}

bool is_taken(const SmiNode& node, SmiDisplays displays, bool is_xml) {
  if (displays != 0) return (node.displays & displays) != 0;
  return is_xml || node.when != SmiWhen::when_asked;
}

Wanted smi_tree_wanted(SmiDisplays displays, bool is_xml) {
  using M = Metric;
  Wanted wanted;
  // What decides which lines there are.
  wanted.metrics = mask_of({M::architecture, M::temperature_gpu_tlimit, M::mig_mode_current, M::driver_version,
                            M::cuda_version, M::platform_chassis_serial_number, M::platform_gpu_fabric_guid});
  bool is_asked = false;
  for (const SmiNode& node : smi_tree()) {
    if (node.depth == 0) is_asked = is_taken(node, displays, is_xml);
    if (!is_asked) continue;
    if (node.form == SmiForm::value || node.form == SmiForm::bit) wanted.metrics.set(index_of(node.metric));
    if (node.form == SmiForm::list && node.list == SmiList::processes) wanted.processes = true;
  }
  return wanted;
}

}  // namespace vramscope
