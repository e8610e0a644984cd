#pragma once
// What the readers of nvidia-smi's layouts share: they differ in what they claim and in the parser.
#include <string>

#include "import/reader.h"
#include "import/readers/nvidia_smi/layouts.h"

namespace vramscope::nvidia_smi {

// Reads a whole stream. `layout` bundle: every line goes to the parser of the layout that began last.
Result<Source> read_log(Layout layout, const char* format, ByteStream& stream, const std::string& path,
                        const Progress& progress);

}  // namespace vramscope::nvidia_smi
