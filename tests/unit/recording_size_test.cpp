// A day of a large machine is small.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "../recording/simulated_day.h"
#include "recording/reader.h"

namespace vramscope::recording {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::int64_t kBudgetBytes = 40'000'000;

struct Counting : Visitor {
  std::int64_t samples = 0;
  void on_samples(const std::vector<Sample>& rows) override { samples += static_cast<std::int64_t>(rows.size()); }
};

// A quarter of an hour, or as many seconds as VRAMSCOPE_RECORDING_SECONDS says (86400: the day itself).
TEST(RecordingSize, ADayOfEightGpusAnd160ProcessesIsUnder40Megabytes) {
  const char* given = std::getenv("VRAMSCOPE_RECORDING_SECONDS");
  const std::int64_t seconds = given != nullptr ? std::atoll(given) : 900;
  ASSERT_GE(seconds, 60);
  const TemporaryFile file;
  WriterOptions options = test_options();
  if (const char* level = std::getenv("VRAMSCOPE_RECORDING_LEVEL")) options.compression_level = std::atoi(level);
  const std::unique_ptr<Writer> writer = open_writer(file.path(), options);
  SimulatedDay day(*writer);
  for (std::int64_t second = 0; second < seconds; ++second) day.second(second);
  ASSERT_FALSE(writer->close());
  EXPECT_EQ(day.errors, 0);
  EXPECT_EQ(day.rows, seconds * (8 * 20 + 160 * 4));
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
  const double a_day = static_cast<double>(bytes) * kDaySeconds / static_cast<double>(seconds);
  std::printf("%lld seconds: %lld rows, %lld bytes, %.3f bytes a row; a day: %.1f MB\n",
              static_cast<long long>(seconds), static_cast<long long>(day.rows), static_cast<long long>(bytes),
              static_cast<double>(bytes) / static_cast<double>(day.rows), a_day / 1e6);
  EXPECT_LT(a_day, static_cast<double>(kBudgetBytes));

  Counting counting;
  Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
  ASSERT_TRUE(reader);
  (*reader)->read_all(counting);
  EXPECT_TRUE((*reader)->trouble().empty());
  EXPECT_EQ(counting.samples, day.rows);
}

}  // namespace
}  // namespace vramscope::recording
