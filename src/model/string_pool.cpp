#include "model/string_pool.h"

#include <cstring>

namespace vramscope {

std::string_view TextArena::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t size = text.size() > kBlockBytes / 4 ? text.size() : kBlockBytes;
    // new char[] without value-initialisation: pages that no text reaches are never touched.
    blocks_.emplace_back(new char[size]);
    char* block = blocks_.back().get();
    if (size != kBlockBytes) {  // a block of its own; the shared one stays open
      std::memcpy(block, text.data(), text.size());
      return {block, text.size()};
    }
    next_ = block;
    left_ = size;
  }
  std::memcpy(next_, text.data(), text.size());
  const std::string_view stored(next_, text.size());
  next_ += text.size();
  left_ -= text.size();
  return stored;
}

StringPool::StringPool() {
  texts_.emplace_back();
  ids_.emplace(std::string_view(), 0);
}

StringId StringPool::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  return intern_stable(own_.store(text));
}

StringId StringPool::intern_stable(std::string_view text) {
  const auto [slot, is_new] = ids_.try_emplace(text, static_cast<StringId>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return slot->second;
}

}  // namespace vramscope
