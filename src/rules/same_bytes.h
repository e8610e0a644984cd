#pragma once
// Several findings about one leak: says which of them are about the same bytes.
#include <cstddef>
#include <vector>

#include "model/finding.h"
#include "model/trace.h"

namespace vramscope {

// Fills in Finding::same_bytes of the findings from index `first` on, which all belong to `trace`. Measured by the
// allocations that both findings name; the finding that says more about the cause is the one referred to.
void relate_findings(const Trace& trace, std::vector<Finding>& findings, std::size_t first);

}  // namespace vramscope
