#pragma once
// Which operator launched the work that ran on a device.
//
// By correlation id to the API call that launched it, and from there to the operator or annotation around that
// call; without such a call, or when nothing encloses it, by the "External id" to the operator of that id. What
// neither tells has no launcher: nothing is guessed from time.
#include <vector>

#include "model/trace.h"

namespace vramscope {

struct Launches {
  std::vector<SpanIndex> work;      // every kernel, copy and set, in span order
  std::vector<SpanIndex> call;      // the API call that launched it, or kNone
  std::vector<SpanIndex> launcher;  // the operator or annotation that launched it, or kNone
  // False when the "External id" of device events only repeats their correlation id (older exporters).
  bool external_ids_tell = false;
};

// `enclosing` is that of enclosing_ops(trace).
Launches find_launches(const Trace& trace, const Column<SpanIndex>& enclosing);

}  // namespace vramscope
