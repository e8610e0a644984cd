#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

TEST(FormatBytes, BinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(-3984588), "-3.80 MiB");
  EXPECT_EQ(format_bytes(207897812173), "193.62 GiB");
}

TEST(FormatBytes, RoundingUpReachesTheNextUnit) {
  EXPECT_EQ(format_bytes(1024 * 1024 - 6), "1023.99 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1.00 MiB");
}

TEST(FormatBytes, Extremes) {
  EXPECT_EQ(format_bytes(kLowest), "-8.00 EiB");
  EXPECT_EQ(format_bytes(kHighest), "8.00 EiB");
}

TEST(FormatDuration, EveryUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(312), "312 ns");
  EXPECT_EQ(format_duration(4426), "4.43 us");
  EXPECT_EQ(format_duration(12345000), "12.345 ms");
  EXPECT_EQ(format_duration(1234000000), "1.234 s");
  EXPECT_EQ(format_duration(125000000000), "2 min 05 s");
  EXPECT_EQ(format_duration(3720000000000), "1 h 02 min");
  EXPECT_EQ(format_duration(-4426), "-4.43 us");
}

TEST(FormatDuration, RoundingUpReachesTheNextUnit) {
  EXPECT_EQ(format_duration(999994), "999.99 us");
  EXPECT_EQ(format_duration(999995), "1.000 ms");
  EXPECT_EQ(format_duration(999999500), "1.000 s");
  EXPECT_EQ(format_duration(59999499999), "59.999 s");
  EXPECT_EQ(format_duration(59999500000), "1 min 00 s");
  EXPECT_EQ(format_duration(3599500000000), "1 h 00 min");
}

TEST(FormatDuration, Extremes) {
  EXPECT_EQ(format_duration(kHighest), "2562047 h 47 min");
  EXPECT_EQ(format_duration(kLowest), "-2562047 h 47 min");
}

TEST(FormatDuration, InChinese) {
  ASSERT_TRUE(set_language("zh"));
  EXPECT_EQ(format_duration(125000000000), "2 分 05 秒");
  EXPECT_EQ(format_duration(3720000000000), "1 小时 02 分");
  set_language("en");
}

TEST(FormatCount, Groups) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(926121), "926,121");
  EXPECT_EQ(format_count(-926121), "-926,121");
  EXPECT_EQ(format_count(kLowest), "-9,223,372,036,854,775,808");
}

TEST(FormatShare, Percent) {
  EXPECT_EQ(format_share(0.396), "39.6 %");
  EXPECT_EQ(format_share(0), "0.0 %");
  EXPECT_EQ(format_share(-0.00001), "0.0 %");
  EXPECT_EQ(format_share(1), "100.0 %");
  EXPECT_EQ(format_share(std::nan("")), "N/A");
  EXPECT_EQ(format_share(std::numeric_limits<double>::max()), "N/A");
}

TEST(FormatTorch, Time) {
  EXPECT_EQ(format_torch_time(0), "0.000us");
  EXPECT_EQ(format_torch_time(999.9996), "1000.000us");
  EXPECT_EQ(format_torch_time(4426), "4.426ms");
  EXPECT_EQ(format_torch_time(1e6), "1.000s");
  EXPECT_EQ(format_torch_time(3.6e9), "3600.000s");
  EXPECT_EQ(format_torch_time(-5000), "-5000.000us");
}

TEST(FormatTorch, Memory) {
  EXPECT_EQ(format_torch_memory(0), "0 B");
  EXPECT_EQ(format_torch_memory(-512), "-512 B");
  EXPECT_EQ(format_torch_memory(1024), "1.00 KB");
  EXPECT_EQ(format_torch_memory(1024 * 1024 - 1), "1024.00 KB");
  EXPECT_EQ(format_torch_memory(3984588), "3.80 MB");
  EXPECT_EQ(format_torch_memory(-3984588), "-3.80 MB");
  EXPECT_EQ(format_torch_memory(207897812173), "193.62 GB");
  EXPECT_EQ(format_torch_memory(kLowest), "-8589934592.00 GB");
}

}  // namespace
}  // namespace vramscope
