#include "text/mo_file.h"

#include <cstring>

namespace vramscope {
namespace {

constexpr std::uint32_t kMagic = 0x950412deU;
constexpr std::uint32_t kMagicSwapped = 0xde120495U;
constexpr std::uint64_t kHeaderBytes = 28;
constexpr std::uint64_t kEntryBytes = 8;  // length, offset

std::uint32_t swap_bytes(std::uint32_t v) {
  return (v >> 24U) | ((v >> 8U) & 0xff00U) | ((v << 8U) & 0xff0000U) | (v << 24U);
}

}  // namespace

std::uint32_t MoFile::word(std::uint64_t offset) const {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return swapped_ ? swap_bytes(value) : value;
}

std::optional<MoFile> MoFile::open(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  MoFile file;
  file.bytes_ = bytes;
  const std::uint32_t magic = file.word(0);
  if (magic != kMagic && magic != kMagicSwapped) return std::nullopt;
  file.swapped_ = magic == kMagicSwapped;
  if ((file.word(4) >> 16U) > 1) return std::nullopt;  // major revisions 0 and 1 have this layout
  file.count_ = file.word(8);
  file.ids_ = file.word(12);
  file.translations_ = file.word(16);
  const std::uint64_t table_bytes = kEntryBytes * file.count_;
  for (const std::uint64_t start : {file.ids_, file.translations_}) {
    if (start + table_bytes > bytes.size()) return std::nullopt;
  }
  return file;
}

std::optional<std::string_view> MoFile::text(std::uint32_t table, std::uint32_t index) const {
  const std::uint64_t entry = table + kEntryBytes * index;
  const std::uint64_t length = word(entry);
  const std::uint64_t offset = word(entry + 4);
  if (offset + length >= bytes_.size()) return std::nullopt;
  if (bytes_[offset + length] != '\0') return std::nullopt;
  return bytes_.substr(offset, length);
}

std::optional<std::string_view> MoFile::translation(std::string_view msgid) const {
  std::uint32_t low = 0;
  std::uint32_t high = count_;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const std::optional<std::string_view> stored = text(ids_, middle);
    if (!stored) return std::nullopt;
    const int order = stored->substr(0, stored->find('\0')).compare(msgid);  // the plural id follows a NUL
    if (order == 0) return text(translations_, middle);
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

const char* MoFile::find(std::string_view msgid) const {
  return find_plural(msgid, 0);
}

const char* MoFile::find_plural(std::string_view msgid, unsigned form) const {
  const std::optional<std::string_view> all = translation(msgid);
  if (!all || all->empty()) return nullptr;
  std::size_t start = 0;
  for (; form > 0; --form) {
    const std::size_t end = all->find('\0', start);
    if (end == std::string_view::npos) break;
    start = end + 1;
  }
  return all->data() + start;
}

}  // namespace vramscope
