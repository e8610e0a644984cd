#pragma once
// Text for the scanners, followed by kPadding zero bytes: they may look past the end without asking.
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace vramscope::kineto {

class TextBuffer {
 public:
  static constexpr std::size_t kPadding = 64;

  TextBuffer() = default;
  explicit TextBuffer(std::string_view text) { append(text); }
  TextBuffer(TextBuffer&& other) noexcept { swap(other); }
  TextBuffer& operator=(TextBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void append(std::string_view text) {
    const std::size_t needed = size_ + text.size();
    if (needed > capacity_) reserve(needed + needed / 2);  // many appends take linear time
    if (!text.empty()) std::memcpy(data_.get() + size_, text.data(), text.size());
    resize(size_ + text.size());
  }
  // Room for `capacity` bytes; what is beyond size() is not initialised.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_ && data_) return;
    std::unique_ptr<char[]> grown(new char[capacity + kPadding]);
    if (size_ > 0) std::memcpy(grown.get(), data_.get(), size_);
    data_ = std::move(grown);
    capacity_ = capacity;
    resize(size_);
  }
  // At most the reserved capacity.
  void resize(std::size_t size) {
    size_ = size;
    if (data_) std::memset(data_.get() + size_, 0, kPadding);
  }
  void clear() { resize(0); }

  char* data() { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_.get(), size_}; }

  void swap(TextBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace vramscope::kineto
