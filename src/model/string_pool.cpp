#include "model/string_pool.h"

#include <cstring>

#include "absl/container/flat_hash_map.h"

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

struct StringPool::Index {
  absl::flat_hash_map<std::string_view, StringId> ids;
};

StringPool::StringPool() : ids_(std::make_unique<Index>()) {
  texts_.emplace_back();
  ids_->ids.emplace(std::string_view(), 0);
}

StringPool::StringPool(StringPool&&) noexcept = default;
StringPool& StringPool::operator=(StringPool&&) noexcept = default;
StringPool::~StringPool() = default;

StringId StringPool::intern(std::string_view text) {
  const auto found = ids_->ids.find(text);
  if (found != ids_->ids.end()) return found->second;
  return intern_stable(own_.store(text));
}

StringId StringPool::intern_stable(std::string_view text) {
  const auto [slot, is_new] = ids_->ids.try_emplace(text, static_cast<StringId>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return slot->second;
}

void StringPool::seal() {
  ids_ = std::make_unique<Index>();
}

}  // namespace vramscope
