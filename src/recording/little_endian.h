#pragma once
// Fixed-size numbers as the file holds them.
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace vramscope::recording {

template <typename T>
void append_number(std::string& out, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>((bits >> (8 * i)) & 0xFF));
}

template <typename T>
T number_at(const char* bytes) {
  std::make_unsigned_t<T> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const auto byte = static_cast<std::make_unsigned_t<T>>(static_cast<unsigned char>(bytes[i]));
    bits = static_cast<std::make_unsigned_t<T>>(bits | static_cast<std::make_unsigned_t<T>>(byte << (8 * i)));
  }
  return static_cast<T>(bits);
}

}  // namespace vramscope::recording
