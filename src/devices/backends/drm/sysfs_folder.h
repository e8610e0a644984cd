#pragma once
// A folder of sysfs that is read again and again. Each file stays open, so that a value costs one pread.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.h"
#include "system/files.h"

namespace vramscope::drm {

// For one thread at a time.
class SysfsFolder {
 public:
  SysfsFolder() = default;
  // `keeps_open`: false where there are more folders than descriptors to spare.
  explicit SysfsFolder(std::string path, bool keeps_open = true) : path_(std::move(path)), keeps_open_(keeps_open) {}

  // The text of a file without the spaces and line ends behind it; valid until the next call. Nothing when it cannot
  // be read, see problem(). A file that is not there is not looked for again until look_anew().
  std::optional<std::string_view> text(const char* name);
  // The same with every byte, for what is no text.
  std::optional<std::string_view> bytes(const char* name);
  // The text as one whole decimal number.
  std::optional<std::int64_t> number(const char* name);
  // Why the last call gave nothing.
  ValueState problem() const { return problem_; }
  // Of one that is read rarely and may be long; never kept open.
  std::optional<std::string> long_text(const char* name) const;

  const std::string& path() const { return path_; }
  bool is_there() const;
  void look_anew();

 private:
  struct File {
    std::string name;
    Descriptor descriptor;
    bool is_absent = false;
  };
  static constexpr std::size_t kRoom = 4096;  // sysfs gives no more than a page
  File& file(std::string_view name);
  std::optional<std::string_view> fail(int problem);

  std::string path_;
  bool keeps_open_ = true;
  std::vector<File> files_;
  std::unique_ptr<char[]> room_;
  ValueState problem_ = ValueState::not_supported;
};

// The whole of `text` as a number in hex digits, "0x" before them or not.
std::optional<std::int64_t> parse_hex(std::string_view text);

}  // namespace vramscope::drm
