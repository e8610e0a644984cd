#pragma once
// The parts of a snapshot's report for people, one device each. Lines are indented by two.
#include <string>

#include "report/memory.h"
#include "report/snapshot_facts.h"

namespace vramscope {

// One snapshot; `input` may tell the memory of its devices. Short where the case holds several snapshots.
std::string snapshot_text(const Source& source, const Case& input, const MemoryOptions& options);

// Segments and blocks: what is free, what a request could still get, what is lost.
std::string segments_text(const Source& source, const SnapshotDevice& facts);
// Live and reserved bytes over the log; empty without one.
std::string snapshot_curve_text(const SnapshotDevice& facts);
// Who holds the memory at the chosen moment.
std::string holders_text(const Source& source, const SnapshotDevice& facts, const MemoryOptions& options);
// What the log tells about the allocator's work, and where it and the segments disagree.
std::string log_notes_text(const Source& source, const SnapshotDevice& facts);

// "entry 12 of 345, 1.234 s after the first"
std::string entry_text(const SnapshotDevice& facts, std::size_t entry);
// A stack in a few lines: the user's own frame, then up to `more` of the innermost readable ones.
std::string short_stack(const Source& source, StackId stack, std::size_t more, std::size_t indent);
// Settings of the allocator that are not at their default, "name=value" each; empty when all are.
std::vector<std::string> changed_settings(const MemoryState& state);

}  // namespace vramscope
