#include "system/mounts.h"

#include "system/fields.h"
#include "system/files.h"

namespace vramscope {

namespace {

// "\040" is a space: three octal digits.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

bool Mount::has_option(std::string_view name) const {
  std::string_view rest = options;
  while (!rest.empty()) {
    if (take_until(rest, ',') == name) return true;
  }
  return false;
}

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    std::string_view rest = take_until(text, '\n');
    for (int skipped = 0; skipped < 3; ++skipped) take_word(rest);  // ids and device
    Mount mount;
    mount.root = unescape(take_word(rest));
    mount.point = unescape(take_word(rest));
    std::string_view word = take_word(rest);  // options of the mount, then any number of tags up to "-"
    while (!word.empty() && word != "-") word = take_word(rest);
    mount.type = std::string(take_word(rest));
    take_word(rest);  // source
    mount.options = std::string(take_word(rest));
    if (!mount.options.empty()) mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<Mount> read_mounts(const Roots& roots) {
  constexpr std::size_t kMostBytes = 4 << 20;  // hosts of many containers have thousands of mounts
  const auto text = read_file(roots.proc + "/self/mountinfo", kMostBytes);
  return text ? parse_mountinfo(*text) : std::vector<Mount>();
}

}  // namespace vramscope
