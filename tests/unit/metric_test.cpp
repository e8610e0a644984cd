// The metric table and nvidia-smi's way of writing a value.
#include "model/metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/metric_smi.h"

namespace vramscope {
namespace {

std::string cell(const MetricValues& values, Metric metric, bool with_unit = true) {
  std::string out;
  append_smi_cell(out, values, metric, with_unit);
  return out;
}

TEST(Metric, TableIsInTheOrderOfItsIds) {
  for (std::size_t i = 0; i < kMetricCount; ++i) EXPECT_EQ(index_of(metric_table()[i].id), i);
}

TEST(Metric, NamesAndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const MetricInfo& info : metric_table()) {
    std::stringstream names(std::string(info.name) + (info.aliases.empty() ? "" : "|") + std::string(info.aliases));
    for (std::string name; std::getline(names, name, '|');) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_EQ(metric_named(name), info.id) << name;
    }
  }
  EXPECT_GT(seen.size(), 250u);
  EXPECT_EQ(metric_named("memory.usedd"), std::nullopt);
  EXPECT_EQ(metric_named("Memory.used"), std::nullopt);
  EXPECT_EQ(metric_named(""), std::nullopt);
}

TEST(Metric, DcgmNamesAreUnique) {
  std::set<std::string_view> seen;
  for (const MetricInfo& info : metric_table()) {
    if (!info.dcgm.empty()) {
      EXPECT_TRUE(seen.insert(info.dcgm).second) << info.dcgm;
    }
  }
  EXPECT_EQ(info_of(Metric::memory_used).dcgm, "DCGM_FI_DEV_FB_USED");
}

TEST(Metric, CellsAreWrittenAsNvidiaSmiDoes) {
  MetricValues values;
  values.set(Metric::memory_used, 211LL << 20);
  values.set(Metric::power_draw, 39174);
  values.set(Metric::utilization_gpu, 0);
  values.set(Metric::clocks_current_sm, 1410);
  values.set(Metric::pstate, 8);
  values.set(Metric::clocks_event_reasons_active, 4);
  values.set(Metric::pci_bus, 12);
  values.set(Metric::pci_device_id, 0x1E8110DE);
  values.set(Metric::persistence_mode, 1);
  values.set(Metric::clocks_event_reasons_gpu_idle, 0);
  values.set(Metric::remapped_rows_failure, 0);
  values.set(Metric::compute_mode, 3);
  values.set(Metric::edpp_multiplier, 100);
  values.set_text(Metric::name, "NVIDIA A100");
  EXPECT_EQ(cell(values, Metric::memory_used), "211 MiB");
  EXPECT_EQ(cell(values, Metric::memory_used, false), "211");
  EXPECT_EQ(cell(values, Metric::power_draw), "39.17 W");
  EXPECT_EQ(cell(values, Metric::utilization_gpu), "0 %");
  EXPECT_EQ(cell(values, Metric::clocks_current_sm), "1410 MHz");
  EXPECT_EQ(cell(values, Metric::pstate), "P8");
  EXPECT_EQ(cell(values, Metric::clocks_event_reasons_active), "0x0000000000000004");
  EXPECT_EQ(cell(values, Metric::pci_bus), "0x0C");
  EXPECT_EQ(cell(values, Metric::pci_device_id), "0x1E8110DE");
  EXPECT_EQ(cell(values, Metric::persistence_mode), "Enabled");
  EXPECT_EQ(cell(values, Metric::clocks_event_reasons_gpu_idle), "Not Active");
  EXPECT_EQ(cell(values, Metric::remapped_rows_failure), "No");
  EXPECT_EQ(cell(values, Metric::compute_mode), "Exclusive_Process");
  EXPECT_EQ(cell(values, Metric::edpp_multiplier), "100.00 %");
  EXPECT_EQ(cell(values, Metric::name), "NVIDIA A100");
}

TEST(Metric, MebibytesAreRoundedUp) {
  constexpr std::int64_t kMebibyte = 1048576;
  EXPECT_EQ(smi_mebibytes(0), 0);
  EXPECT_EQ(smi_mebibytes(1), 1);
  EXPECT_EQ(smi_mebibytes(kMebibyte), 1);
  EXPECT_EQ(smi_mebibytes(kMebibyte + 1), 2);
  EXPECT_EQ(smi_mebibytes(-kMebibyte - 1), -1);
}

TEST(Metric, WhatIsNotKnownHasItsOwnWords) {
  MetricValues values;
  EXPECT_EQ(cell(values, Metric::fan_speed), "[N/A]");
  EXPECT_EQ(cell(values, Metric::temperature_memory), "N/A");
  EXPECT_EQ(cell(values, Metric::display_mode), "[Requested functionality has been deprecated]");
  values.set_missing(Metric::fan_speed, ValueState::no_permission, 4);
  EXPECT_EQ(cell(values, Metric::fan_speed), "[Insufficient Permissions]");
  values.set_missing(Metric::fan_speed, ValueState::failed, 999);
  EXPECT_EQ(cell(values, Metric::fan_speed), "[Unknown Error]");
  values.set_missing(Metric::fan_speed, ValueState::failed, 16);
  EXPECT_EQ(cell(values, Metric::fan_speed), "[GPU requires reset]");
  values.set_missing(Metric::fan_speed, ValueState::lost, 15);
  EXPECT_EQ(cell(values, Metric::fan_speed), "[GPU is lost]");
  EXPECT_EQ(values.number(Metric::fan_speed), std::nullopt);
}

TEST(Metric, ExtremeNumbersAreWrittenWhole) {
  MetricValues values;
  values.set(Metric::memory_used, INT64_MAX);
  values.set(Metric::pstate, -1);
  values.set(Metric::compute_mode, INT64_MIN);
  EXPECT_EQ(cell(values, Metric::memory_used), "8796093022208 MiB");
  EXPECT_EQ(cell(values, Metric::pstate), "P-1");
  EXPECT_EQ(cell(values, Metric::compute_mode), "Unknown");
}

// Every column of the files that nvidia-smi wrote is in the table, its header comes out as it stands there, and the
// unit of its cells is the table's.
TEST(Metric, RealColumnsAreKnown) {
  const char* const folder = std::getenv("VRAMSCOPE_REAL");
  const std::filesystem::path real =
      folder != nullptr ? folder : std::filesystem::path(VRAMSCOPE_SOURCE_DIR) / "../shared/real";
  if (!std::filesystem::exists(real / "nvidia_smi_csv")) GTEST_SKIP();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(real / "nvidia_smi_csv")) {
    if (entry.path().filename().string().find("__query-gpu.csv") == std::string::npos) continue;
    std::ifstream file(entry.path());
    std::string header, row;
    std::getline(file, header);
    std::getline(file, row);
    for (std::string* line : {&header, &row}) line->erase(line->find_last_not_of("\r\n") + 1);
    std::string written;
    std::stringstream names(header + ","), cells(row + ",");
    for (std::string name, text; std::getline(names, name, ',') && std::getline(cells, text, ',');) {
      name.erase(0, name.find_first_not_of(' '));
      text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
      const std::string plain = name.substr(0, name.find(" ["));
      const auto metric = metric_named(plain);
      ASSERT_TRUE(metric) << plain;
      std::string again;
      append_smi_header(again, info_of(*metric), plain);
      EXPECT_EQ(again, name);
      const std::string unit(smi_unit(info_of(*metric)));
      if (!unit.empty() && text.find("N/A") == text.npos) {
        EXPECT_EQ(text.substr(text.rfind(' ') + 1), unit) << plain;
      }
      if (text == "N/A" || text == "[N/A]") {
        EXPECT_EQ(cell(MetricValues(), *metric), text) << plain;
      }
    }
    ++files;
  }
  EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace vramscope
