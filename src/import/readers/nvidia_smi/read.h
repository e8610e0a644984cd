#pragma once
// What the readers of logs of devices share: they differ in what they claim and in the parser.
#include <functional>
#include <string>

#include "import/reader.h"
#include "import/readers/nvidia_smi/layouts.h"
#include "import/readers/nvidia_smi/parser.h"

namespace vramscope::nvidia_smi {

// Reads a whole stream. `layout` bundle: every line goes to the parser of the layout that began last.
Result<Source> read_log(Layout layout, const char* format, ByteStream& stream, const std::string& path,
                        const Progress& progress);

struct LogFormat {
  const char* name;     // of the reader
  const char* program;  // that printed it
};
// Reads a whole stream through a parser that fills `log`. `see`: called with each line first.
Result<Source> read_lines(LogBuilder& log, Parser& parser, const LogFormat& format, ByteStream& stream,
                          const std::string& path, const Progress& progress,
                          const std::function<void(std::string_view)>& see = {});

}  // namespace vramscope::nvidia_smi
