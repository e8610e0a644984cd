// The one description behind `smi -q` and its XML.
#include "report/smi_tree.h"

#include <gtest/gtest.h>

#include <set>

#include "model/metric_smi.h"

namespace vramscope {
namespace {

using M = Metric;

TEST(SmiTree, IsOneWholeDescription) {
  const std::vector<SmiNode>& tree = smi_tree();
  ASSERT_FALSE(tree.empty());
  EXPECT_EQ(tree[0].depth, 0);
  std::vector<std::set<std::string_view>> elements(16);
  for (std::size_t at = 0; at < tree.size(); ++at) {
    const SmiNode& node = tree[at];
    if (at > 0) {
      EXPECT_LE(node.depth, tree[at - 1].depth + 1) << node.text;
    }
    const bool is_plain_list = node.form == SmiForm::list;
    EXPECT_TRUE(!node.text.empty() || !node.element.empty() || is_plain_list) << at;
    elements.resize(node.depth + std::size_t{1});
    if (!node.element.empty()) {
      EXPECT_TRUE(elements[node.depth].insert(node.element).second) << node.element << " comes twice";
    }
    elements.resize(16);
    const bool has_children = smi_tree_end(tree, at) > at + 1;
    const bool needs_children =
        node.form == SmiForm::section || node.form == SmiForm::collapsing || node.form == SmiForm::list;
    EXPECT_TRUE(has_children || !needs_children) << node.text << node.element;
    EXPECT_TRUE(node.displays == 0 || node.depth == 0) << node.text;
  }
}

TEST(SmiTree, SectionsAreNamedInEitherCase) {
  EXPECT_EQ(smi_display_named("MEMORY"), SmiDisplay::memory);
  EXPECT_EQ(smi_display_named("Power_Profiles"), SmiDisplay::power_profiles);
  EXPECT_EQ(smi_display_named("MEMOR"), std::nullopt);
  EXPECT_EQ(smi_display_named(""), std::nullopt);
}

TEST(SmiTree, EverySectionHasNodes) {
  SmiDisplays all = 0;
  for (const SmiNode& node : smi_tree()) all |= node.displays;
  EXPECT_EQ(all, (SmiDisplays{1} << (static_cast<unsigned>(SmiDisplay::power_profiles) + 1)) - 1);
}

TEST(SmiQueryValue, FormsOfQuery) {
  MetricValues values;
  const auto text = [&](M metric, SmiPrint print) {
    std::string out;
    append_smi_query_value(out, values, metric, print);
    return out;
  };
  values.set(M::pcie_atomics_outbound, 0x21);
  values.set(M::pci_bus, 12);
  values.set(M::pcie_throughput_tx, 115820 * 1024);
  values.set(M::edpp_multiplier, 100);
  values.set(M::temperature_shutdown_tlimit, -8);
  EXPECT_EQ(text(M::pcie_atomics_outbound, SmiPrint::atomics), "FETCHADD_32 CAS_64 ");
  EXPECT_EQ(text(M::pci_bus, SmiPrint::none), "0x0C");
  EXPECT_EQ(text(M::pci_bus, SmiPrint::bare_hex2), "0C");
  EXPECT_EQ(text(M::pcie_throughput_tx, SmiPrint::kibibytes_a_second), "115820 KB/s");
  EXPECT_EQ(text(M::edpp_multiplier, SmiPrint::tight_percent), "100.00%");
  EXPECT_EQ(text(M::temperature_shutdown_tlimit, SmiPrint::celsius), "-8 C");
  EXPECT_EQ(text(M::fan_speed, SmiPrint::none), "N/A");
  values.set_missing(M::fan_speed, ValueState::lost, 15);
  EXPECT_EQ(text(M::fan_speed, SmiPrint::none), "GPU is lost");
  values.set_missing(M::fan_speed, ValueState::failed, 999);
  EXPECT_EQ(text(M::fan_speed, SmiPrint::none), "Unknown Error");
  values.set_missing(M::fan_speed, ValueState::no_permission, 4);
  EXPECT_EQ(text(M::fan_speed, SmiPrint::none), "Insufficient Permissions");
}

}  // namespace
}  // namespace vramscope
