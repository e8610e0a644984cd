#pragma once
// The outermost value of a pickle, made a MemoryState.
#include "import/readers/cuda_snapshot/recorder.h"

namespace vramscope::pickle {

// Whether the value is a snapshot: a dictionary with segments or traces, or a list of segments. An unfinished one may
// be one of them with nothing in it yet.
bool is_snapshot(const Store& store, Value root);

// Fills memory_state, the counts and the times of the source. `offset` stands for places that are not known any more.
void convert(Store& store, Recorder& recorder, Value root, std::int64_t offset, Source& source);

}  // namespace vramscope::pickle
