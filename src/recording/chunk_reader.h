#pragma once
// The frame of a recording: finds whole chunks, in file order, whatever lies between them.
//
// Memory is bounded by the largest chunk. Damage is counted by name with the first offset:
//   header_damaged        the file header has a wrong CRC; its fields are not used
//   chunk_header_damaged  bytes where a chunk should begin, until the next one that does
//   payload_damaged       a wrong CRC, or a payload that does not decompress to its size; the chunk is passed over
//   cut_short             the file ends within a chunk
//   sequence_gap          chunks are missing or out of order
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/source.h"
#include "recording/chunk.h"
#include "recording/format.h"

namespace vramscope::recording {

// Where the bytes come from.
class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  // Fewer bytes than asked for only at the end, or where reading fails.
  virtual std::size_t read_at(std::int64_t offset, char* out, std::size_t size) = 0;
};
Result<std::unique_ptr<RandomBytes>> open_bytes(const std::string& path);
// The text must outlive the result.
std::unique_ptr<RandomBytes> bytes_of(std::string_view text);

// Named counters, in the order of first appearance.
class TroubleList {
 public:
  void count(std::string_view name, std::int64_t offset, std::int64_t more = 1);
  const std::vector<Trouble>& all() const { return all_; }
  std::int64_t of(std::string_view name) const;

 private:
  std::vector<Trouble> all_;
};

// Looks at the first bytes of a file.
bool is_recording(std::string_view head);

class ChunkReader {
 public:
  // Reads the file header. An Error when these bytes are no recording, or one of a newer version. A damaged header
  // is no Error where a chunk follows.
  static Result<std::unique_ptr<ChunkReader>> open(std::unique_ptr<RandomBytes> bytes, const std::string& name);

  // Goes to the next whole chunk; false at the end. header(), payload() and offset() are then of that chunk.
  bool next();
  const ChunkHeader& header() const { return header_; }
  // Not compressed. Empty with a flag of kUnknownFlags, since what it means is not known.
  std::string_view payload() const { return payload_; }
  std::int64_t offset() const { return offset_; }  // of the chunk in the file

  const std::optional<RunInfo>& run() const { return run_; }  // none: the file header is damaged
  TroubleList& trouble() { return trouble_; }

 private:
  explicit ChunkReader(std::unique_ptr<RandomBytes> bytes) : bytes_(std::move(bytes)) {}
  bool read_file_header(std::uint16_t& version);
  std::optional<std::int64_t> find_chunk(std::int64_t from);
  bool header_at(std::int64_t offset, ChunkHeader& header);
  bool read_payload();

  std::unique_ptr<RandomBytes> bytes_;
  std::optional<RunInfo> run_;
  TroubleList trouble_;
  Decompressor decompressor_;
  ChunkHeader header_;
  std::string stored_;
  std::string raw_;
  std::string_view payload_;
  std::string window_;  // of find_chunk
  std::int64_t offset_ = 0;
  std::int64_t next_offset_ = 0;
  std::optional<std::uint64_t> sequence_;
};

}  // namespace vramscope::recording
