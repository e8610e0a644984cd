#pragma once
// The failures of a log: each message once, with what other lines add to it. Not thread-safe.
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/readers/memory_log/line_window.h"
#include "import/readers/memory_log/settings.h"
#include "import/readers/memory_log/wordings.h"
#include "model/source.h"

namespace vramscope::memory_log {

class Failures {
 public:
  explicit Failures(std::vector<OutOfMemory>& out) : out_(out) {}

  void feed(const Line& line);
  std::int64_t messages() const { return messages_; }
  const Settings& settings() const { return settings_; }
  const std::vector<Trouble>& trouble() const { return trouble_; }

 private:
  void add(Message message, std::string_view text, const Line& line);
  bool repeats(const Message& message, std::string_view text);
  bool continues(const Message& message, const Line& line);
  void read_arena(const Line& line);

  std::vector<OutOfMemory>& out_;
  std::vector<Tie> ties_;       // parallel to out_
  std::int64_t last_line_ = 0;  // of the last message
  std::int64_t messages_ = 0;
  Settings settings_;
  std::vector<Trouble> trouble_;
};

}  // namespace vramscope::memory_log
