#pragma once
// One chunk: columns put together and taken apart. Kinds and columns that come later need nothing new here.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/format.h"
#include "recording/records.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace vramscope::recording {

// zstd with its working memory kept between chunks.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  // False when the result would be no smaller; `out` is then of no use.
  bool compress(std::string_view raw, std::string& out);

 private:
  ZSTD_CCtx_s* context_;
  int level_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  // Exactly `raw_bytes`, else false.
  bool decompress(std::string_view stored, std::size_t raw_bytes, std::string& out);

 private:
  ZSTD_DCtx_s* context_;
};

class ChunkBuilder {
 public:
  // At most kMaxRows rows. Every column has as many values as the chunk has rows.
  ChunkBuilder(ChunkKind kind, std::size_t rows);
  ChunkBuilder& integers(std::uint16_t id, const std::vector<std::int64_t>& values);
  // A column with the same value in every row.
  ChunkBuilder& constant(std::uint16_t id, std::int64_t value);
  ChunkBuilder& texts(std::uint16_t id, const std::vector<std::string_view>& values);
  // Sets the chunk's span of time.
  ChunkBuilder& times(const std::vector<std::int64_t>& times_ns);
  ChunkHeader& header() { return header_; }
  // Appends the chunk. False when the payload is larger than kMaxRawBytes; nothing is appended then.
  bool finish(Compressor& compressor, std::string& out);

 private:
  void entry(std::uint16_t id, ColumnType type, Encoding encoding, std::size_t start);

  ChunkHeader header_;
  std::string entries_;
  std::string data_;
};

// Chunks of rows for traces; their sequence numbers are the writer's. Columns that are 0 in every row are left out.
std::vector<ChunkBuilder> trace_chunks(const TraceRows& rows, std::uint16_t flags);

// The columns of a payload; views into it.
class ChunkColumns {
 public:
  // False when the table of columns does not fit the payload.
  bool parse(const ChunkHeader& header, std::string_view payload);
  // A column is there that a reader must know, and it is none of ids 1 to `known`.
  bool has_unknown_needed(std::uint16_t known) const;
  bool has(std::uint16_t id) const { return find(id) != nullptr; }
  // A column that is absent has `absent` in every row. False: damaged, or a type or encoding that is not known.
  bool integers(std::uint16_t id, std::int64_t absent, std::vector<std::int64_t>& values) const;
  bool texts(std::uint16_t id, std::vector<std::string_view>& values) const;
  std::size_t rows() const { return rows_; }

 private:
  struct Place {
    std::uint16_t id;
    ColumnType type;
    Encoding encoding;
    std::string_view bytes;
  };
  const Place* find(std::uint16_t id) const;

  std::vector<Place> places_;
  std::size_t rows_ = 0;
};

}  // namespace vramscope::recording
