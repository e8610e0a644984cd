#pragma once
// What a log shows that the allocator's settings were: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python …", an
// export, a dump of the environment. Not thread-safe; any text is safe.
#include <string>
#include <string_view>

#include "import/readers/memory_log/line_window.h"

namespace vramscope::memory_log {

class Settings {
 public:
  void feed(const Line& line);
  // The variable that was set last, and to what; both empty before that.
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }

 private:
  std::string name_;
  std::string value_;
};

}  // namespace vramscope::memory_log
