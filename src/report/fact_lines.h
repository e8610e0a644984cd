#pragma once
// Lines of label, value and remark below each other.
#include <string>
#include <vector>

#include "text/table.h"

namespace vramscope {

class FactLines {
 public:
  // How the values stand: numbers right-aligned, texts at the left.
  explicit FactLines(Align values) : values_(values) {}
  void add(std::string label, std::string value, std::string remark = {});
  // Indented by two; what does not fit line_columns() goes on in further lines.
  std::string text() const;

 private:
  struct Row {
    std::string label;
    std::string value;
    std::string remark;
  };
  Align values_;
  std::vector<Row> rows_;
};

}  // namespace vramscope
