#pragma once
// What a file is, whether it is whole, and what is in it.
#include <string>

#include "model/source.h"

namespace vramscope {

std::string info_text(const Case& input);
// docs/schemas/info.schema.json
std::string info_json(const Case& input);

}  // namespace vramscope
