#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "recording/chunk.h"
#include "recording/column_codec.h"
#include "recording/crc32c.h"

namespace vramscope::recording {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
const std::vector<std::vector<std::int64_t>> kColumns = {{},
                                                         {0},
                                                         {kLeast},
                                                         {kMost, kMost, kMost},
                                                         {kLeast, kMost, kLeast, kMost},
                                                         {1, 2, 3, 4, 5, 1000},
                                                         {7, 7, 7, 7, 9, 9, 9, 9, -1},
                                                         {1'000'000'000, 2'000'000'001, 3'000'000'003, 2}};

TEST(RecordingColumns, Crc32cHasItsKnownValues) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);            // the check value of the CRC catalogue
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
}

TEST(RecordingColumns, EveryEncodingGivesTheValuesBack) {
  for (const std::vector<std::int64_t>& values : kColumns) {
    for (const Encoding encoding :
         {Encoding::raw, Encoding::varint, Encoding::delta, Encoding::delta2, Encoding::runs}) {
      std::string bytes;
      encode_integers_as(encoding, values, bytes);
      std::vector<std::int64_t> back = {42};
      ASSERT_TRUE(decode_integers(encoding, bytes, values.size(), back)) << static_cast<int>(encoding);
      EXPECT_EQ(back, values) << static_cast<int>(encoding);
    }
  }
}

TEST(RecordingColumns, TheSmallestEncodingIsChosen) {
  const auto chosen = [](const std::vector<std::int64_t>& values) {
    std::string bytes;
    return encode_integers(values, bytes);
  };
  EXPECT_EQ(chosen({5, 5, 5, 5}), Encoding::constant);
  EXPECT_EQ(chosen({0, 1000, 0, 1, 0, 1, 0}), Encoding::varint);
  EXPECT_EQ(chosen({1000, 1001, 999, 1003, 998}), Encoding::delta);
  EXPECT_EQ(chosen({1'000'000, 2'000'000, 3'000'000, 4'000'000, 5'000'000}), Encoding::delta2);
  EXPECT_EQ(chosen({8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9}), Encoding::runs);
  EXPECT_EQ(chosen({kMost / 3, -(kMost / 5), kMost / 7 * 3, -(kMost / 2)}), Encoding::raw);
}

// A cut, a byte more or another number of rows is seen; nothing is read beyond the bytes.
TEST(RecordingColumns, DamagedBytesAreRefused) {
  for (const std::vector<std::int64_t>& values : kColumns) {
    for (int number = 0; number <= 7; ++number) {
      const auto encoding = static_cast<Encoding>(number);
      if (encoding == Encoding::constant) continue;
      std::string bytes;
      encode_integers_as(encoding, values, bytes);
      std::vector<std::int64_t> back;
      EXPECT_FALSE(decode_integers(encoding, bytes + '\0', values.size(), back)) << number;
      EXPECT_FALSE(decode_integers(encoding, bytes, values.size() + 1, back)) << number;
      for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        EXPECT_FALSE(decode_integers(encoding, std::string_view(bytes).substr(0, cut), values.size(), back)) << number;
      }
    }
  }
  std::vector<std::int64_t> back;
  EXPECT_FALSE(decode_integers(Encoding::varint, std::string(10, '\xFF'), 1, back));
  EXPECT_FALSE(decode_integers(Encoding::runs, std::string("\0\xFF\xFF\xFF\xFF\x7F", 6), 3, back));
  EXPECT_FALSE(decode_integers(Encoding::constant, "", 3, back));
  EXPECT_FALSE(decode_integers(static_cast<Encoding>(6), "\1", 1, back));
}

TEST(RecordingColumns, TextsComeBackAndDamagedOnesAreRefused) {
  const std::vector<std::vector<std::string_view>> columns = {
      {}, {""}, {"a"}, {"same", "same"}, {"one", "", "three\n"}, {"\xE6\x98\xBE\xE5\xAD\x98", "x"}};
  for (const std::vector<std::string_view>& texts : columns) {
    std::string bytes;
    const Encoding encoding = encode_texts(texts, bytes);
    std::vector<std::string_view> back;
    ASSERT_TRUE(decode_texts(encoding, bytes, texts.size(), back));
    EXPECT_EQ(back, texts);
    if (encoding == Encoding::constant) continue;
    EXPECT_FALSE(decode_texts(encoding, bytes + 'x', texts.size(), back));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_FALSE(decode_texts(encoding, std::string_view(bytes).substr(0, cut), texts.size(), back));
    }
  }
}

TEST(RecordingColumns, AbsentColumnsHaveTheirDefaultAndUnknownOnesAreSkipped) {
  Compressor compressor(3);
  ChunkBuilder chunk(ChunkKind::samples, 3);
  chunk.integers(2, {1, 2, 3}).integers(77, {4, 5, 6}).texts(78, {"a", "b", "c"});
  std::string bytes;
  ASSERT_TRUE(chunk.finish(compressor, bytes));
  ChunkHeader header;
  ASSERT_TRUE(parse_header(bytes.data(), header));
  ASSERT_EQ(header.flags & kCompressed, 0);  // too small to become smaller
  ChunkColumns columns;
  ASSERT_TRUE(columns.parse(header, std::string_view(bytes).substr(kChunkHeaderBytes)));
  std::vector<std::int64_t> values;
  EXPECT_TRUE(columns.integers(2, 0, values));
  EXPECT_EQ(values, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TRUE(columns.integers(3, -9, values));
  EXPECT_EQ(values, (std::vector<std::int64_t>{-9, -9, -9}));
  EXPECT_FALSE(columns.integers(78, 0, values));  // of another type
  EXPECT_FALSE(columns.has_unknown_needed(5));
}

TEST(RecordingColumns, AColumnThatMustBeKnownMakesTheChunkUnknown) {
  Compressor compressor(3);
  ChunkBuilder chunk(ChunkKind::samples, 1);
  chunk.integers(2, {1}).integers(9 | kColumnMustUnderstand, {4});
  std::string bytes;
  ASSERT_TRUE(chunk.finish(compressor, bytes));
  ChunkHeader header;
  ASSERT_TRUE(parse_header(bytes.data(), header));
  ChunkColumns columns;
  ASSERT_TRUE(columns.parse(header, std::string_view(bytes).substr(kChunkHeaderBytes)));
  EXPECT_TRUE(columns.has_unknown_needed(5));
  EXPECT_FALSE(columns.has_unknown_needed(9));
}

TEST(RecordingColumns, AChunkBeyondTheLimitIsNotWritten) {
  Compressor compressor(1);
  const std::string text(kMaxRawBytes, 'x');
  ChunkBuilder chunk(ChunkKind::events, 2);
  chunk.texts(1, {text, "y"});
  std::string bytes;
  EXPECT_FALSE(chunk.finish(compressor, bytes));
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace vramscope::recording
