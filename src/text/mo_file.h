#pragma once
// Reads a compiled message catalogue in memory (GNU gettext manual, "The Format of GNU MO Files"). Both byte
// orders; the hash table is not used. Nothing in the bytes is trusted.
#include <cstdint>
#include <optional>
#include <string_view>

namespace vramscope {

class MoFile {
 public:
  // nullopt when these are not the bytes of a catalogue, or its tables do not lie within them.
  // The bytes must outlive the result and all that it returns.
  static std::optional<MoFile> open(std::string_view bytes);

  // The translation, one plural form after the other, each ended by a NUL; nullptr when there is none.
  // For messages with plural forms the id is the singular.
  const char* find(std::string_view msgid) const;
  // The same, form number `form`; the last one there is when `form` is beyond it.
  const char* find_plural(std::string_view msgid, unsigned form) const;

 private:
  std::uint32_t word(std::uint64_t offset) const;
  // The text of an entry without its final NUL; nullopt when it lies outside or no NUL ends it.
  std::optional<std::string_view> text(std::uint32_t table, std::uint32_t index) const;
  std::optional<std::string_view> translation(std::string_view msgid) const;

  std::string_view bytes_;
  bool swapped_ = false;
  std::uint32_t count_ = 0;
  std::uint32_t ids_ = 0;           // offset of the table of message ids, sorted
  std::uint32_t translations_ = 0;  // offset of the table of translations
};

}  // namespace vramscope
