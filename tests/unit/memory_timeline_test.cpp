#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "import/reader.h"

namespace vramscope {
namespace {

const Reader& timeline_reader() {
  const auto& all = readers();
  return *std::find_if(all.begin(), all.end(),
                       [](const Reader& reader) { return reader.name == std::string("memory_timeline"); });
}

Result<Source> read_timeline(const std::string& text, std::size_t piece = 1 << 20) {
  const std::unique_ptr<ByteStream> stream = memory_stream(text, piece);
  return timeline_reader().read(*stream, "timeline", {});
}

bool is_claimed(std::string_view text) {
  return timeline_reader().claims(Head{text, true});
}

std::int64_t at(const Source& source, const std::string& category, std::size_t point) {
  const CategoryTimeline& timeline = *source.memory_timeline;
  const auto found = std::find(timeline.categories.begin(), timeline.categories.end(), category);
  return timeline.bytes[static_cast<std::size_t>(found - timeline.categories.begin())][point];
}

constexpr std::int64_t kStart_ns = 1'696'966'047'000'000'000;

TEST(MemoryTimeline, RawEntries) {
  const std::string text =
      "[[-1, 1, 1000, 0], [-1, 1, 24, 7], [1696966047000000000, 2, 512, 4], [1696966047000000000, 3, -1000, 0], "
      "[1696966047000000000, 3, 1000, 5], [1696966047000000500, 4, -512, 4]]";
  ASSERT_TRUE(is_claimed(text));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4096}}) {
    Result<Source> source = read_timeline(text, piece);
    ASSERT_TRUE(source);
    const CategoryTimeline& timeline = *source->memory_timeline;
    ASSERT_EQ(timeline.time_ns.size(), 3U);
    EXPECT_FALSE(timeline.is_relative);
    EXPECT_EQ(timeline.time_ns[0], kStart_ns);
    EXPECT_EQ(timeline.time_ns[1], kStart_ns);
    EXPECT_EQ(timeline.time_ns[2], kStart_ns + 500);
    EXPECT_EQ(at(*source, "parameter", 0), 1000);
    EXPECT_EQ(at(*source, "unknown", 0), 24);
    EXPECT_EQ(at(*source, "parameter", 1), 0);
    EXPECT_EQ(at(*source, "gradient", 1), 1000);
    EXPECT_EQ(at(*source, "activation", 1), 512);
    EXPECT_EQ(at(*source, "activation", 2), 0);
    EXPECT_EQ(source->events, 6);
    EXPECT_EQ(source->version, "raw");
    EXPECT_TRUE(source->trouble.empty());
  }
}

TEST(MemoryTimeline, SizesInMicroseconds) {
  const std::string text =
      "[[1696966047000000, 1696966047000002], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 10, 0, 0, 0, 0, 0, 0, 80]]]";
  ASSERT_TRUE(is_claimed(text));
  Result<Source> source = read_timeline(text);
  ASSERT_TRUE(source);
  ASSERT_EQ(source->memory_timeline->time_ns.size(), 2U);
  EXPECT_EQ(source->memory_timeline->time_ns[0], kStart_ns);
  EXPECT_EQ(source->memory_timeline->time_ns[1], kStart_ns + 2000);
  EXPECT_EQ(at(*source, "parameter", 0), 1);
  EXPECT_EQ(at(*source, "unknown", 0), 8);
  EXPECT_EQ(at(*source, "parameter", 1), 10);
  EXPECT_EQ(at(*source, "unknown", 1), 80);
  EXPECT_EQ(source->version, "sizes");
  EXPECT_TRUE(source->trouble.empty());
}

TEST(MemoryTimeline, TimesOfASimpleClock) {
  Result<Source> source = read_timeline("[[5, 7], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0]]]");
  ASSERT_TRUE(source);
  EXPECT_TRUE(source->memory_timeline->is_relative);
  EXPECT_EQ(source->memory_timeline->time_ns[1], 7000);
}

TEST(MemoryTimeline, DamageIsTold) {
  Result<Source> cut = read_timeline("[[5, 2, 100, 0], [6, 2, 100, 0], [7, 2, 10");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->events, 2);
  EXPECT_EQ(cut->trouble.at(0).name, "cut_file");
  Result<Source> odd = read_timeline("[[5, 2, 100, 0], [6, 9, 100, 0], [4, 2, 100, 12], [3, 2, 1, 0]]");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->events, 2);
  ASSERT_EQ(odd->trouble.size(), 2U);
  EXPECT_EQ(odd->trouble[0].name, "odd_entry");
  EXPECT_EQ(odd->trouble[0].count, 2);
  EXPECT_EQ(odd->trouble[1].name, "time_goes_back");
  Result<Source> missing = read_timeline("[[5, 6], [[0, 1, 0, 0, 0, 0, 0, 0, 0]]]");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->trouble.at(0).name, "rows_missing");
  EXPECT_FALSE(read_timeline("[[], []]"));
  EXPECT_FALSE(read_timeline("[[5, 6], [["));
}

TEST(MemoryTimeline, HugeSumsStop) {
  Result<Source> source = read_timeline("[[1, 2, 9223372036854775807, 0], [2, 2, 99999999999999999999, 0]]");
  ASSERT_TRUE(source);
  EXPECT_EQ(at(*source, "parameter", 1), std::numeric_limits<std::int64_t>::max());
}

TEST(MemoryTimeline, APictureIsRefused) {
  const std::string page =
      "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>\n<body>";
  ASSERT_TRUE(is_claimed(page));
  Result<Source> source = read_timeline(page);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ExitCode::bad_input);
  EXPECT_NE(source.error().message.find(".raw.json.gz"), std::string::npos);
}

TEST(MemoryTimeline, OtherListsAreNotClaimed) {
  EXPECT_FALSE(is_claimed("[[1, 2], [3, 4]]"));
  EXPECT_FALSE(is_claimed("[[1, 9, 3, 4], [3, 4, 5, 6]]"));
  EXPECT_FALSE(is_claimed("[1, 2, 3]"));
  EXPECT_FALSE(is_claimed("[[3, 2, 1], [[1]]]"));
  EXPECT_FALSE(is_claimed("[{\"ph\": \"X\"}]"));
  EXPECT_FALSE(is_claimed("[]"));
  EXPECT_FALSE(is_claimed(""));
  EXPECT_FALSE(is_claimed("[rank0]: text"));
}

}  // namespace
}  // namespace vramscope
