#pragma once
// A reader turns one kind of file into a Source. One .cpp in readers/ that defines `reader_<file name>()`
// is all it takes (docs/adding-a-reader.md); the table below is generated from the files that are there.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/byte_stream.h"
#include "model/source.h"

namespace vramscope {

// The first bytes of a file, decompressed (at most 256 KiB), and whether that is all of it.
struct Head {
  std::string_view bytes;
  bool is_whole_file = false;
};

// Called now and then from the reading thread: bytes of the file consumed so far, and its size.
using Progress = std::function<void(std::int64_t done, std::int64_t total)>;

struct Reader {
  const char* name;         // "kineto"; also Source::format
  const char* description;  // English msgid
  int priority;             // of two readers that claim a head the higher one gets it; all different
  bool (*claims)(const Head& head);
  // Reads to the end. Trouble is counted in the Source; an Error only when nothing could be kept.
  Result<Source> (*read)(ByteStream& stream, const std::string& path, const Progress& progress);
};

// Every reader, highest priority first.
const std::vector<Reader>& readers();

// Recognises by content and reads; `path` is for sentences alone.
Result<Source> read_source(ByteStream& stream, const std::string& path, const Progress& progress = {});
// Opens, recognises by content and reads. The Error is one sentence that names the file.
Result<Source> load_source(const std::string& path, const Progress& progress = {});

}  // namespace vramscope
