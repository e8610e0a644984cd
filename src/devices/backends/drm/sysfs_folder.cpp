#include "devices/backends/drm/sysfs_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "system/fields.h"

namespace vramscope::drm {

namespace {

ValueState state_of(int problem) {
  switch (problem) {
    case EACCES:
    case EPERM:
      return ValueState::no_permission;
    case ENOENT:
    case ENOTDIR:
    case EOPNOTSUPP:
    case EINVAL:  // many drivers answer so where the hardware lacks it
    case ENODATA:
      return ValueState::not_supported;
    default:
      return ValueState::failed;
  }
}

}  // namespace

std::optional<std::int64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

SysfsFolder::File& SysfsFolder::file(std::string_view name) {
  for (File& file : files_) {
    if (file.name == name) return file;
  }
  files_.push_back({std::string(name), {}, false});
  return files_.back();
}

std::optional<std::string_view> SysfsFolder::fail(int problem) {
  problem_ = state_of(problem);
  return std::nullopt;
}

std::optional<std::string_view> SysfsFolder::bytes(const char* name) {
  if (path_.empty()) return fail(ENOENT);
  File& file = this->file(name);
  if (file.is_absent) return fail(ENOENT);
  if (!file.descriptor) {
    file.descriptor = Descriptor(::open((path_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.descriptor) {
      file.is_absent = errno == ENOENT || errno == ENOTDIR;
      return fail(errno);
    }
  }
  if (room_ == nullptr) room_ = std::make_unique<char[]>(kRoom);
  ssize_t got = 0;
  do {
    got = ::pread(file.descriptor.get(), room_.get(), kRoom, 0);
  } while (got < 0 && errno == EINTR);
  const int problem = got < 0 ? errno : 0;
  if (!keeps_open_ || problem == ENODEV || problem == EISDIR) file.descriptor.reset();
  if (problem != 0) return fail(problem);
  return std::string_view(room_.get(), static_cast<std::size_t>(got));
}

std::optional<std::string_view> SysfsFolder::text(const char* name) {
  auto text = bytes(name);
  while (text && !text->empty() && (text->back() == '\n' || text->back() == ' ' || text->back() == '\0')) {
    text->remove_suffix(1);
  }
  return text;
}

std::optional<std::int64_t> SysfsFolder::number(const char* name) {
  const auto text = this->text(name);
  if (!text) return std::nullopt;
  const auto value = parse_int64(*text);
  if (!value) problem_ = ValueState::failed;
  return value;
}

std::optional<std::string> SysfsFolder::long_text(const char* name) const {
  if (path_.empty()) return std::nullopt;
  return read_file(path_ + "/" + name);
}

bool SysfsFolder::is_there() const {
  struct stat facts {};
  return ::stat(path_.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

void SysfsFolder::look_anew() {
  for (File& file : files_) file.is_absent = false;
}

}  // namespace vramscope::drm
