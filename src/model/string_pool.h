#pragma once
// Interned strings: equal text has one id, ids start at 1 and never change; 0 is the empty string.
//
// The text lives in blocks that never move, so a view stays valid for the life of the pool. Blocks that
// were filled elsewhere (a parsing thread's own arena) can be adopted instead of copied.
// Not thread-safe.
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace vramscope {

using StringId = std::uint32_t;

// Owns text. Views that it returns stay valid when it moves.
class TextArena {
 public:
  std::string_view store(std::string_view text);

 private:
  static constexpr std::size_t kBlockBytes = 256 * 1024;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept;
  StringPool& operator=(StringPool&&) noexcept;
  ~StringPool();

  // Copies the text when it is new.
  StringId intern(std::string_view text);
  // Keeps the view when it is new: `text` must live in an arena that adopt() takes over later.
  StringId intern_stable(std::string_view text);
  // No text comes in after this; gives the memory of the index back, which is as large as the names themselves.
  void seal();
  void adopt(TextArena arena) { arenas_.push_back(std::move(arena)); }

  std::string_view view(StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  TextArena own_;
  std::vector<TextArena> arenas_;
  std::vector<std::string_view> texts_;
  struct Index;  // in the .cpp: half of all files include this one, and a hash map's header takes them a second each
  std::unique_ptr<Index> ids_;
};

}  // namespace vramscope
