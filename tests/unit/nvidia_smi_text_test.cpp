// Times and values as nvidia-smi and its imitators write them.
#include "gtest/gtest.h"
#include "import/readers/nvidia_smi/cells.h"
#include "import/readers/nvidia_smi/csv_header.h"
#include "import/readers/nvidia_smi/layouts.h"
#include "import/readers/nvidia_smi/monitor_header.h"
#include "import/readers/nvidia_smi/times.h"
#include "model/metric_smi.h"

namespace vramscope::nvidia_smi {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMarch = 1'772'359'200 * kSecond;  // 2026-03-01 10:00:00 UTC

void expect_time(const char* text, std::int64_t ns, LogClock clock) {
  const auto time = parse_time(text);
  ASSERT_TRUE(time) << text;
  EXPECT_EQ(time->ns, ns) << text;
  EXPECT_EQ(time->clock, clock) << text;
}

TEST(LogTimes, EveryWayToWriteOne) {
  expect_time("2026/03/01 10:00:00.250", kMarch + kSecond / 4, LogClock::local);
  expect_time("2026-03-01 10:00:00", kMarch, LogClock::local);
  expect_time("2026-03-01T10:00:00,5", kMarch + kSecond / 2, LogClock::local);
  expect_time("2026-03-01T18:00:00+08:00", kMarch, LogClock::zoned);
  expect_time("2026-03-01T06:30:00-0330", kMarch, LogClock::zoned);
  expect_time("2026-03-01T10:00:00Z", kMarch, LogClock::zoned);
  expect_time("2026-03-01 10:00:00 UTC", kMarch, LogClock::zoned);
  expect_time("Sun Mar  1 10:00:00 2026       ", kMarch, LogClock::local);
  expect_time("Sun Mar 1 10:00:00 UTC 2026", kMarch, LogClock::zoned);
  expect_time("Sun Mar  1 10:00:00 AM CET 2026", kMarch, LogClock::local);
  expect_time("20260301 10:00:00", kMarch, LogClock::local);
  expect_time("1772359200", kMarch, LogClock::zoned);
  expect_time("1772359200.125", kMarch + kSecond / 8, LogClock::zoned);
  expect_time("1772359200500", kMarch + kSecond / 2, LogClock::zoned);
  expect_time("10:00:01", 36001 * kSecond, LogClock::time_of_day);
  expect_time("29.02.2024 00:00:00", 1'709'164'800 * kSecond, LogClock::local);
}

TEST(LogTimes, WhichIsTheMonth) {
  EXPECT_TRUE(parse_time("03-01-2026 10:00:00")->is_order_assumed);
  expect_time("03-01-2026 10:00:00", kMarch, LogClock::local);
  EXPECT_FALSE(parse_time("27-02-2026 10:00:00")->is_order_assumed);
  EXPECT_FALSE(parse_time("02/27/2026 10:00:00")->is_order_assumed);
  EXPECT_EQ(parse_time("27-02-2026 10:00:00")->ns, parse_time("02/27/2026 10:00:00")->ns);
}

TEST(LogTimes, WhatIsNone) {
  for (const char* text : {"", "x", "2026", "2026/13/01 10:00:00", "2026/03/01 24:00:00", "2026/03/01", "10", "12345",
                           "2026/03/01 10:00:00 and more", "Sun Foo 1 10:00:00 2026", "99999999999999999999",
                           "2026/03/01 10:00:00.", "9999-01-01 00:00:00", "1 MiB"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

Cell cell(Metric metric, std::string_view text, std::string_view unit = {}) {
  return parse_cell(info_of(metric), text, unit);
}

TEST(LogCells, NumbersInTheUnitOfTheMetric) {
  EXPECT_EQ(cell(Metric::memory_used, "211 MiB").number, 211 << 20);
  EXPECT_EQ(cell(Metric::memory_used, "211").number, 211 << 20);
  EXPECT_EQ(cell(Metric::memory_used, "2", "GiB").number, std::int64_t{2} << 30);
  EXPECT_EQ(cell(Metric::memory_used, "11MB").number, 11 << 20);
  EXPECT_EQ(cell(Metric::power_draw, "39.17 W").number, 39170);
  EXPECT_EQ(cell(Metric::temperature_gpu, "45.5").number, 46);
  EXPECT_EQ(cell(Metric::temperature_gpu_tlimit, "-3 C").number, -3);
  EXPECT_EQ(cell(Metric::pcie_link_width_max, "16x").number, 16);
  EXPECT_EQ(cell(Metric::pci_device_id, "20B010DE").number, 0x20B010DE);
  EXPECT_EQ(cell(Metric::pcie_throughput_tx, "52000 KB/s").number, 52000 * 1024);
  EXPECT_EQ(cell(Metric::pstate, "P8").number, 8);
  EXPECT_EQ(cell(Metric::compute_mode, "E. Process").number, 3);
  EXPECT_EQ(cell(Metric::persistence_mode, "On").number, 1);
}

TEST(LogCells, WordsInPlaceOfAValue) {
  EXPECT_EQ(cell(Metric::fan_speed, "[N/A]").state, ValueState::not_supported);
  EXPECT_EQ(cell(Metric::fan_speed, "[Not Supported]").state, ValueState::not_supported);
  EXPECT_EQ(cell(Metric::fan_speed, "-").state, ValueState::not_supported);
  EXPECT_EQ(cell(Metric::fan_speed, "[Requested functionality has been deprecated]").state, ValueState::not_supported);
  EXPECT_EQ(cell(Metric::fan_speed, "[Insufficient Permissions]").state, ValueState::no_permission);
  EXPECT_EQ(cell(Metric::fan_speed, "[GPU is lost]").state, ValueState::lost);
  EXPECT_EQ(cell(Metric::fan_speed, "[GPU requires reset]").number, 16);
  EXPECT_EQ(cell(Metric::fan_speed, "ERR!").state, ValueState::failed);
  EXPECT_EQ(cell(Metric::fan_speed, "[whatever comes next]").state, ValueState::failed);
}

TEST(LogCells, WhatIsNoValue) {
  for (const char* text : {"", "x", "12 apples", "-5 %", "9007199254740993 %", "99999999999999999999999 %", "1 2"}) {
    EXPECT_EQ(cell(Metric::fan_speed, text).state, ValueState::not_asked) << text;
  }
  EXPECT_EQ(cell(Metric::memory_used, "9999999999999 GiB").state, ValueState::not_asked);
}

// What smi writes is read back as it was.
TEST(LogCells, ReadsWhatSmiWrites) {
  for (const MetricInfo& info : metric_table()) {
    if (info.unit == MetricUnit::text || info.print == SmiPrint::none || info.print == SmiPrint::deprecated) continue;
    const bool is_small = info.unit == MetricUnit::flag || info.unit == MetricUnit::choice;
    const std::int64_t number = is_small ? 1 : (info.print == SmiPrint::mebibytes ? 77 << 20 : 77000);
    MetricValues values;
    values.set(info.id, number);
    std::string text;
    append_smi_cell(text, values, info.id, true);
    const Cell read = parse_cell(info, text);
    EXPECT_EQ(read.state, ValueState::known) << info.name << ": " << text;
    EXPECT_EQ(read.number, number) << info.name << ": " << text;
  }
}

TEST(LogHeaders, WhatIsAHeader) {
  EXPECT_TRUE(parse_csv_header("timestamp, memory.used [MiB]"));
  EXPECT_TRUE(parse_csv_header("memory.used [MiB]"));
  EXPECT_TRUE(parse_csv_header("pid, used_gpu_memory [MiB]"));
  EXPECT_EQ(parse_csv_header("timestamp;gpu;memory.used")->separator, ';');
  EXPECT_FALSE(parse_csv_header("name, index"));
  EXPECT_FALSE(parse_csv_header("epoch, loss, memory.used, a, b, c"));
  EXPECT_FALSE(parse_csv_header("The value of memory.used, in MiB, is large."));
  EXPECT_FALSE(parse_csv_header(""));
  EXPECT_TRUE(parse_monitor_header("# gpu    pwr  gtemp"));
  EXPECT_TRUE(parse_monitor_header("#Date Time gpu pid type"));
  EXPECT_FALSE(parse_monitor_header("# gpu memory is full"));
  EXPECT_FALSE(parse_monitor_header("# which gpu pwr"));
}

Layout layout(std::string_view text) {
  return layout_of(Head{text, true});
}

TEST(LogLayouts, ByContent) {
  EXPECT_EQ(layout("<?xml version=\"1.0\"?>\n<nvidia_smi_log>\n"), Layout::xml);
  EXPECT_EQ(layout("\n==============NVSMI LOG==============\n"), Layout::q);
  EXPECT_EQ(layout("# gpu    pwr  gtemp\n# Idx W C\n 0 1 2\n"), Layout::monitor);
  EXPECT_EQ(layout("2026/03/01 10:00:00.000, 0, 12 %, 5 MiB\n"), Layout::headerless_csv);
  EXPECT_EQ(layout("hello\n"), Layout::none);
  EXPECT_EQ(layout(""), Layout::none);
  EXPECT_EQ(layout("{\"memory.used\": 1}\n"), Layout::none);
  // A log of something else that holds one.
  std::string log = "memory.used [MiB]\n1 MiB\n";
  for (int i = 0; i < 100; ++i) log += "training goes on and on, step after step after step\n";
  EXPECT_EQ(layout(log), Layout::none);
  EXPECT_EQ(layout("memory.used [MiB]\n1 MiB\nRuntimeError: CUDA out of memory. Tried to allocate\n"), Layout::none);
}

}  // namespace
}  // namespace vramscope::nvidia_smi
