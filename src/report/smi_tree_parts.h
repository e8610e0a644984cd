#pragma once
// How the parts of the tree of smi_tree.h are put together.
#include <vector>

#include "report/smi_tree.h"

namespace vramscope {

using SmiNodes = std::vector<SmiNode>;

// The next nodes, at one depth; what is given afterwards to the node that comes back applies to it.
inline SmiNode& add_smi_section(SmiNodes& nodes, int depth, std::string_view text, std::string_view element) {
  SmiNode node;
  node.depth = static_cast<std::uint8_t>(depth);
  node.text = text;
  node.element = element;
  nodes.push_back(node);
  return nodes.back();
}

inline SmiNode& add_smi_value(SmiNodes& nodes, int depth, std::string_view text, std::string_view element,
                              Metric metric, SmiPrint print = SmiPrint::none) {
  SmiNode& node = add_smi_section(nodes, depth, text, element);
  node.form = SmiForm::value;
  node.metric = metric;
  node.print = print;
  return node;
}

inline SmiNode& add_smi_bit(SmiNodes& nodes, int depth, std::string_view text, std::string_view element, Metric metric,
                            std::int64_t bit) {
  SmiNode& node = add_smi_value(nodes, depth, text, element, metric);
  node.form = SmiForm::bit;
  node.number = bit;
  return node;
}

inline SmiNode& add_smi_unavailable(SmiNodes& nodes, int depth, std::string_view text, std::string_view element) {
  SmiNode& node = add_smi_section(nodes, depth, text, element);
  node.form = SmiForm::unavailable;
  return node;
}

inline SmiNode& add_smi_deprecated(SmiNodes& nodes, int depth, std::string_view text, std::string_view element) {
  SmiNode& node = add_smi_section(nodes, depth, text, element);
  node.form = SmiForm::words;
  node.words = "Requested functionality has been deprecated";
  return node;
}

inline SmiNode& add_smi_list(SmiNodes& nodes, int depth, std::string_view text, std::string_view element,
                             SmiList list) {
  SmiNode& node = add_smi_section(nodes, depth, text, element);
  node.form = SmiForm::list;
  node.list = list;
  return node;
}

inline SmiNode& add_smi_item(SmiNodes& nodes, int depth, std::string_view text, std::string_view element,
                             SmiItem item) {
  SmiNode& node = add_smi_section(nodes, depth, text, element);
  node.form = SmiForm::item;
  node.item = item;
  return node;
}

// One of the tables that the driver samples by itself; in text alone, when -d asks for it. `print` of its values.
void add_smi_recent(SmiNodes& nodes, std::string_view text, RecentKind kind, SmiPrint print, SmiDisplay display);

void add_smi_identity(SmiNodes& nodes);
void add_smi_pci(SmiNodes& nodes);
void add_smi_activity(SmiNodes& nodes);
void add_smi_health(SmiNodes& nodes);
void add_smi_power(SmiNodes& nodes);
void add_smi_clocks(SmiNodes& nodes);
void add_smi_lists(SmiNodes& nodes);

}  // namespace vramscope
