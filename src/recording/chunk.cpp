#include "recording/chunk.h"

#include <zstd.h>

#include <algorithm>
#include <new>

#include "recording/column_codec.h"
#include "recording/crc32c.h"
#include "recording/little_endian.h"

namespace vramscope::recording {

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()), level_(level) {
  if (context_ == nullptr) throw std::bad_alloc();
}
Compressor::~Compressor() {
  ZSTD_freeCCtx(context_);
}

bool Compressor::compress(std::string_view raw, std::string& out) {
  out.resize(raw.size());
  const std::size_t size = ZSTD_compressCCtx(context_, out.data(), out.size(), raw.data(), raw.size(), level_);
  if (ZSTD_isError(size) != 0 || size >= raw.size()) return false;
  out.resize(size);
  return true;
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}
Decompressor::~Decompressor() {
  ZSTD_freeDCtx(context_);
}

bool Decompressor::decompress(std::string_view stored, std::size_t raw_bytes, std::string& out) {
  out.resize(raw_bytes);
  const std::size_t size = ZSTD_decompressDCtx(context_, out.data(), out.size(), stored.data(), stored.size());
  return ZSTD_isError(size) == 0 && size == raw_bytes;
}

ChunkBuilder::ChunkBuilder(ChunkKind kind, std::size_t rows) {
  header_.kind = static_cast<std::uint16_t>(kind);
  header_.rows = static_cast<std::uint32_t>(rows);
}

void ChunkBuilder::entry(std::uint16_t id, ColumnType type, Encoding encoding, std::size_t start) {
  ++header_.columns;
  append_number(entries_, id);
  append_number(entries_, static_cast<std::uint8_t>(type));
  append_number(entries_, static_cast<std::uint8_t>(encoding));
  append_number(entries_, static_cast<std::uint32_t>(data_.size() - start));
}

ChunkBuilder& ChunkBuilder::integers(std::uint16_t id, const std::vector<std::int64_t>& values) {
  const std::size_t start = data_.size();
  entry(id, ColumnType::integer, encode_integers(values, data_), start);
  return *this;
}

ChunkBuilder& ChunkBuilder::constant(std::uint16_t id, std::int64_t value) {
  const std::size_t start = data_.size();
  encode_integers_as(Encoding::constant, {value}, data_);
  entry(id, ColumnType::integer, Encoding::constant, start);
  return *this;
}

ChunkBuilder& ChunkBuilder::texts(std::uint16_t id, const std::vector<std::string_view>& values) {
  const std::size_t start = data_.size();
  entry(id, ColumnType::text, encode_texts(values, data_), start);
  return *this;
}

ChunkBuilder& ChunkBuilder::times(const std::vector<std::int64_t>& times_ns) {
  for (const std::int64_t time : times_ns) {
    header_.min_time_ns = std::min(header_.min_time_ns, time);
    header_.max_time_ns = std::max(header_.max_time_ns, time);
  }
  return *this;
}

bool ChunkBuilder::finish(Compressor& compressor, std::string& out) {
  const std::string raw = entries_ + data_;
  if (raw.size() > kMaxRawBytes) return false;
  std::string packed;
  const bool is_smaller = compressor.compress(raw, packed);
  const std::string& stored = is_smaller ? packed : raw;
  if (is_smaller) header_.flags |= kCompressed;
  header_.raw_bytes = static_cast<std::uint32_t>(raw.size());
  header_.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header_.payload_crc = crc32c(stored);
  append_header(header_, out);
  out += stored;
  return true;
}

bool ChunkColumns::parse(const ChunkHeader& header, std::string_view payload) {
  places_.clear();
  rows_ = header.rows;
  const std::size_t table = kColumnEntryBytes * header.columns;
  if (payload.size() < table) return false;
  std::string_view data = payload.substr(table);
  for (std::size_t i = 0; i < header.columns; ++i) {
    const char* entry = payload.data() + kColumnEntryBytes * i;
    const std::size_t size = number_at<std::uint32_t>(entry + 4);
    if (size > data.size()) return false;
    places_.push_back({number_at<std::uint16_t>(entry), static_cast<ColumnType>(number_at<std::uint8_t>(entry + 2)),
                       static_cast<Encoding>(number_at<std::uint8_t>(entry + 3)), data.substr(0, size)});
    data.remove_prefix(size);
  }
  return data.empty();
}

bool ChunkColumns::has_unknown_needed(std::uint16_t known) const {
  return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    const int id = place.id & ~kColumnMustUnderstand;
    return (place.id & kColumnMustUnderstand) != 0 && (id == 0 || id > known);
  });
}

const ChunkColumns::Place* ChunkColumns::find(std::uint16_t id) const {
  for (const Place& place : places_) {
    if ((place.id & ~kColumnMustUnderstand) == id) return &place;
  }
  return nullptr;
}

bool ChunkColumns::integers(std::uint16_t id, std::int64_t absent, std::vector<std::int64_t>& values) const {
  const Place* place = find(id);
  if (place == nullptr) {
    values.assign(rows_, absent);
    return true;
  }
  return place->type == ColumnType::integer && decode_integers(place->encoding, place->bytes, rows_, values);
}

bool ChunkColumns::texts(std::uint16_t id, std::vector<std::string_view>& values) const {
  const Place* place = find(id);
  if (place == nullptr) {
    values.assign(rows_, std::string_view());
    return true;
  }
  return place->type == ColumnType::text && decode_texts(place->encoding, place->bytes, rows_, values);
}

}  // namespace vramscope::recording
