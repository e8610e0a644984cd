#pragma once
// What the fuzz targets share: bytes through one reader and everything that looks at what it keeps.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vramscope {

// Bytes through the reader of this name, in pieces; the length chooses their size and the options, so that all of
// them are met without each input paying for each. `copies` of the source make the case (2: what compares files).
void look(std::string_view reader_name, const std::uint8_t* data, std::size_t size, int copies = 1);

}  // namespace vramscope
