#pragma once
// The bytes of a file from front to back, decompressed when it is gzip (RFC 1952, several members, trailing
// zero padding) or zstd by content. Damage ends the stream early and is told, never thrown.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace vramscope {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills up to `size` bytes; fewer only at the end. Not thread-safe.
  virtual std::size_t read(char* out, std::size_t size) = 0;
  // Bytes of the file consumed so far (compressed ones), and the file's size (0 when it cannot be known: a pipe).
  virtual std::int64_t consumed() const = 0;
  virtual std::int64_t file_size() const = 0;
  virtual bool is_compressed() const { return false; }
  // Set when the stream ended before its end: a trouble name ("gzip_cut", "gzip_corrupt", "read_failed", …).
  // The offset is in the file, not in the text.
  virtual std::string damage() const { return {}; }
  virtual std::int64_t damage_offset() const { return 0; }
};

// `path` "-" is standard input. The Error says why it could not be opened.
Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path);
// For tests and fuzzing: bytes in memory, handed out in pieces of at most `piece` bytes; gzip is recognised too.
std::unique_ptr<ByteStream> memory_stream(std::string_view bytes, std::size_t piece);

}  // namespace vramscope
