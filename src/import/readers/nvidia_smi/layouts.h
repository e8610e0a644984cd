#pragma once
// Which layouts of nvidia-smi's output a text holds, and where each begins.
#include <string_view>

#include "import/reader.h"

namespace vramscope::nvidia_smi {

enum class Layout { none, csv, headerless_csv, xml, q, table, monitor, bundle };

// The layout that begins at a line; none when the line begins nothing.
Layout layout_begun_by(std::string_view line);
// What the head of a file is: one layout, several of them (bundle), or none, also when most of its lines belong to
// none: a training log that begins with a table is a log.
Layout layout_of(const Head& head);

// Whether a line of the head is what `is_it` knows, and none is for the reader of logs with memory tables and failures.
// The line that the head cuts says nothing.
bool has_line(const Head& head, bool (*is_it)(std::string_view line));

}  // namespace vramscope::nvidia_smi
