#pragma once
// A snapshot's devices as JSON (docs/schemas/memory.schema.json).
#include "report/json.h"
#include "report/memory.h"
#include "report/snapshot_facts.h"

namespace vramscope {

// The members of one device's object, without the braces.
void write_snapshot_device(JsonWriter& json, const Source& source, const SnapshotDevice& facts,
                           const MemoryOptions& options);
// Frames as text, innermost first.
void write_stack(JsonWriter& json, const Source& source, StackId stack);

}  // namespace vramscope
