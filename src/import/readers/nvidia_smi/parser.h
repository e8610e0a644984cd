#pragma once
// One layout of nvidia-smi's output, read line by line into a LogBuilder.
#include <memory>

#include "import/readers/nvidia_smi/lines.h"
#include "import/readers/nvidia_smi/log_builder.h"

namespace vramscope::nvidia_smi {

class Parser {
 public:
  virtual ~Parser() = default;
  virtual void feed(const Line& line) = 0;
  // Nothing more comes, of the file or of this part of it.
  virtual void end() = 0;
};

// Of each: what it counts besides is in docs/inputs.md.
std::unique_ptr<Parser> csv_parser(LogBuilder& log);
std::unique_ptr<Parser> xml_parser(LogBuilder& log);
std::unique_ptr<Parser> q_parser(LogBuilder& log);
std::unique_ptr<Parser> table_parser(LogBuilder& log);
std::unique_ptr<Parser> monitor_parser(LogBuilder& log);

}  // namespace vramscope::nvidia_smi
