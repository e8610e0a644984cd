#include "import/readers/memory_log/utf8_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace vramscope::memory_log {

namespace {

constexpr std::string_view kLittle = "\xff\xfe";
constexpr std::string_view kBig = "\xfe\xff";
constexpr std::string_view kUtf8 = "\xef\xbb\xbf";

}  // namespace

bool has_utf16_mark(std::string_view head) {
  if (head.substr(0, 2) == kBig) return true;
  return head.substr(0, 2) == kLittle && head.substr(2, 2) != std::string_view("\0\0", 2);
}

std::size_t Utf8Stream::read_bytes(char* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t got = stream_.read(out + done, size - done);
    if (got == 0) break;
    done += got;
  }
  return done;
}

void Utf8Stream::look_at_mark() {
  std::array<char, 4> first{};
  const std::string_view head(first.data(), read_bytes(first.data(), first.size()));
  encoding_ = Encoding::utf8;
  if (has_utf16_mark(head)) {
    encoding_ = head.substr(0, 2) == kLittle ? Encoding::utf16_little : Encoding::utf16_big;
    odd_ = head.substr(2);
  } else {
    ready_ = head.substr(0, kUtf8.size()) == kUtf8 ? head.substr(kUtf8.size()) : head;
  }
}

void Utf8Stream::put(char32_t code) {
  const auto byte = [&](char32_t bits, char32_t mark) {
    ready_ += static_cast<char>(static_cast<unsigned char>(bits | mark));
  };
  if (code < 0x80) {
    byte(code, 0);
  } else if (code < 0x800) {
    byte(code >> 6, 0xc0);
    byte(code & 0x3f, 0x80);
  } else if (code < 0x10000) {
    byte(code >> 12, 0xe0);
    byte((code >> 6) & 0x3f, 0x80);
    byte(code & 0x3f, 0x80);
  } else {
    byte(code >> 18, 0xf0);
    byte((code >> 12) & 0x3f, 0x80);
    byte((code >> 6) & 0x3f, 0x80);
    byte(code & 0x3f, 0x80);
  }
}

void Utf8Stream::convert_more() {
  constexpr std::size_t kPiece = 64 * 1024;
  constexpr char32_t kReplacement = 0xfffd;
  std::string bytes = odd_;
  const std::size_t kept = bytes.size();
  bytes.resize(kept + kPiece);
  bytes.resize(kept + read_bytes(bytes.data() + kept, kPiece));
  const bool is_end = bytes.size() == kept;
  const std::size_t whole = bytes.size() / 2 * 2;
  odd_ = is_end ? std::string() : bytes.substr(whole);
  const std::size_t low = encoding_ == Encoding::utf16_little ? 0 : 1;
  for (std::size_t i = 0; i < whole; i += 2) {
    const auto at = [&](std::size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[k])); };
    const char32_t unit = at(i + low) | at(i + 1 - low) << 8;
    const bool is_second = unit >= 0xdc00 && unit < 0xe000;
    if (high_ != 0 && is_second) {
      put(0x10000 + ((high_ - 0xd800) << 10) + (unit - 0xdc00));
      high_ = 0;
      continue;
    }
    if (high_ != 0) put(kReplacement);
    high_ = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
    if (high_ == 0) put(is_second ? kReplacement : unit);
  }
  if (is_end && high_ != 0) {
    put(kReplacement);
    high_ = 0;
  }
}

std::size_t Utf8Stream::read(char* out, std::size_t size) {
  if (encoding_ == Encoding::unknown) look_at_mark();
  std::size_t done = 0;
  while (done < size) {
    if (taken_ == ready_.size()) {
      ready_.clear();
      taken_ = 0;
      if (encoding_ == Encoding::utf8) return done + read_bytes(out + done, size - done);
      convert_more();
      if (ready_.empty() && odd_.empty()) return done;
    }
    const std::size_t count = std::min(size - done, ready_.size() - taken_);
    std::memcpy(out + done, ready_.data() + taken_, count);
    taken_ += count;
    done += count;
  }
  return done;
}

std::string utf8_of(std::string_view head) {
  const std::unique_ptr<ByteStream> bytes = memory_stream(head, head.size() + 1);
  Utf8Stream stream(*bytes);
  std::string text(head.size() * 2 + 8, '\0');
  text.resize(stream.read(text.data(), text.size()));
  return text;
}

}  // namespace vramscope::memory_log
