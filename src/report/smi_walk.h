#pragma once
// The walk over the tree of smi_tree.h that text and XML share: which nodes there are, and what stands in them.
#include <string>
#include <string_view>

#include "report/smi_query.h"

namespace vramscope {

// How one kind of output writes nodes.
class SmiWriter {
 public:
  virtual ~SmiWriter() = default;
  virtual bool shows(const SmiNode& node) const = 0;  // false: neither it nor what is below it
  virtual void line(const SmiNode& node, std::string_view value) = 0;
  virtual void begin(const SmiNode& node) = 0;
  virtual void begin_value(const SmiNode& node, std::string_view value) = 0;  // of a value with nodes below it
  virtual void end(const SmiNode& node) = 0;
  virtual void empty_list(const SmiNode& node) = 0;
  virtual SmiPrint print_of(const SmiNode& node) const = 0;
};

void walk_smi_tree(SmiWriter& writer, const SmiGpuFacts& facts, SmiDisplays displays, bool is_xml);

}  // namespace vramscope
