#pragma once
// What a case tells about a card beyond one allocator's own figures.
#include <cstdint>
#include <optional>

#include "model/source.h"

namespace vramscope {

// Memory of the card with this index, where a file of the case tells. Empty where files tell different sizes: then they
// are about different machines.
std::optional<std::int64_t> card_bytes(const Case& input, std::int32_t index);

}  // namespace vramscope
