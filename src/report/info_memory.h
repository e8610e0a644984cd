#pragma once
// What `info` says of files that are no traces: snapshots, logs, timelines.
#include <string>

#include "model/source.h"
#include "report/fact_lines.h"
#include "report/json.h"

namespace vramscope {

// The lines between format and trouble.
void add_memory_facts(FactLines& facts, const Source& source);
// A table below the lines, indented by two; empty where there is none.
std::string memory_facts_table(const Source& source);
// The members "kind" and, by it, "snapshot", "log" or "timeline"; nothing for a trace.
void write_memory_facts(JsonWriter& json, const Source& source);

}  // namespace vramscope
