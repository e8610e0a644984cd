#pragma once
// Python's tracebacks in a program's output, line by line, also where ranks write between each other's lines. Not
// thread-safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/output_signs.h"

namespace vramscope {

class Tracebacks {
 public:
  // Each line while is_open(), else those alone that may_begin(). Without escape sequences. The exception when the line
  // names it.
  std::optional<OutputSign> feed(std::string_view line, std::int64_t number);
  bool is_open() const { return !open_.empty(); }
  // The words that begin one or link two, or are of neither.
  static bool may_begin(std::string_view line);

 private:
  static constexpr std::size_t kMostOpen = 16;
  static constexpr std::int64_t kMostLines = 5000;

  struct Open {
    std::string prefix;  // what stands before each of its lines: "[rank0]: "
    std::string frame;
    std::string own_frame;  // innermost outside of installed packages
    std::int64_t begin = 0;
    std::int64_t chain_begin = 0;
  };
  struct Closed {
    std::string prefix;
    std::int64_t chain_begin = 0;
    bool is_linked = false;
  };

  void begin(std::string_view prefix, std::int64_t number);
  void link(std::string_view line);
  std::optional<OutputSign> close(std::size_t place, std::string_view exception, std::string_view line);

  std::vector<Open> open_;
  std::vector<Closed> closed_;  // the last one of each prefix
};

}  // namespace vramscope
