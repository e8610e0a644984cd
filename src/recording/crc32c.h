#pragma once
// CRC-32C (Castagnoli: reflected polynomial 0x82F63B78, start and final value inverted), by our own tables.
#include <cstdint>
#include <string_view>

namespace vramscope::recording {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace vramscope::recording
