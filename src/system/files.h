#pragma once
// Reading the kernel's small files, with a bound on the size.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vramscope {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Files of /proc and cgroups stay below this, except command lines.
inline constexpr std::size_t kSmallFile = 64 * 1024;

// The first `limit` bytes of a file, its path relative to the folder `dir` (AT_FDCWD: the working folder). Nothing,
// with errno set, when it cannot be opened or read: it vanished, or permission is missing.
std::optional<std::string> read_file_at(int dir, const char* path, std::size_t limit = kSmallFile);
inline std::optional<std::string> read_file(const std::string& path, std::size_t limit = kSmallFile) {
  return read_file_at(AT_FDCWD, path.c_str(), limit);
}

// Where a symbolic link points to.
std::optional<std::string> read_link_at(int dir, const char* path);

// The numeric names in a folder, ascending: the processes of /proc, the threads of /proc/PID/task. Nothing when the
// folder cannot be opened.
std::optional<std::vector<std::int32_t>> read_numbered_entries(const std::string& folder);

}  // namespace vramscope
