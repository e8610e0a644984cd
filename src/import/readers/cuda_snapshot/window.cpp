#include "import/readers/cuda_snapshot/window.h"

#include <algorithm>
#include <cstring>

namespace vramscope::pickle {

bool Window::reach(std::size_t size) {
  auto left = static_cast<std::size_t>(end - at);
  if (left >= size) return true;
  if (is_over_) return false;
  if (left > 0) std::memmove(buffer_.data(), at, left);
  base_ += at - buffer_.data();
  while (left < size && !is_over_) {
    // A half more each time: text that comes byte by byte is not moved for every byte.
    if (room_ < left + kPiece) room_ = left + kPiece + left / 2;
    buffer_.reserve(room_ + kMargin);
    const std::size_t got = stream_.read(buffer_.data() + left, kPiece);
    is_over_ = got == 0;
    left += got;
    if (progress_) progress_(stream_.consumed(), stream_.file_size());
  }
  at = buffer_.data();
  end = at + left;
  std::memset(buffer_.data() + left, 0, kMargin);
  return left >= size;
}

}  // namespace vramscope::pickle
