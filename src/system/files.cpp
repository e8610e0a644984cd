#include "system/files.h"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "system/fields.h"

namespace vramscope {

std::optional<std::string> read_file_at(int dir, const char* path, std::size_t limit) {
  // Nothing here waits: a FIFO in the place of a file must not hold us up.
  const Descriptor file(::openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < limit) {
    const ssize_t got = ::read(file.get(), piece.data(), std::min(piece.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      if (text.empty()) return std::nullopt;
      break;  // the process ended between two reads; what came before is whole
    }
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::string> read_link_at(int dir, const char* path) {
  std::array<char, 4096> target;
  const ssize_t length = ::readlinkat(dir, path, target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<std::vector<std::int32_t>> read_numbered_entries(const std::string& folder) {
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return std::nullopt;
  std::vector<std::int32_t> numbers;
  while (const dirent* const entry = ::readdir(opened)) {
    const auto number = parse_int64(entry->d_name);
    if (number && *number > 0 && *number <= std::numeric_limits<std::int32_t>::max()) {
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
  }
  ::closedir(opened);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace vramscope
