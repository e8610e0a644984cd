#pragma once
// What the reader in Python, written from docs/recording-format.md alone, finds in a recording.
#include <stdio.h>

#include <string>

namespace vramscope::recording {

inline std::string python_dump(const std::string& path) {
  const std::string command = "PATH=/usr/bin:$PATH PYTHONIOENCODING=utf-8 python3 -B '" VRAMSCOPE_SOURCE_DIR
                              "/tests/recording/read_vrs.py' '" +
                              path + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string text;
  char piece[4096];
  for (std::size_t got = 0; (got = ::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, got);
  return ::pclose(pipe) == 0 ? text : text + "(read_vrs.py failed)";
}

}  // namespace vramscope::recording
