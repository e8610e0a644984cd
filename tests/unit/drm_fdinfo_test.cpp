// What is made of the texts of the kernel's DRM drivers, piece by piece.
#include <gtest/gtest.h>

#include "devices/backends/drm/amdgpu.h"
#include "devices/backends/drm/client_work.h"
#include "devices/backends/drm/fdinfo.h"
#include "devices/backends/drm/pci_ids.h"
#include "devices/backends/drm/pcie_link.h"

namespace vramscope::drm {
namespace {

constexpr std::int64_t kKib = 1 << 10, kMib = 1 << 20, kSecond = 1'000'000'000;

ClientInfo parsed(std::string_view text) {
  ClientInfo info;
  parse_fdinfo(text, info);
  return info;
}

CardUser memory_of(std::string_view text) {
  CardUser user;
  add_memory(parsed(text), user);
  return user;
}

TEST(Fdinfo, UnitsAreBytesKibAndMib) {
  const ClientInfo info = parsed(
      "pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
      "drm-total-vram0:\t23992 KiB\ndrm-resident-vram0:\t23 MiB\ndrm-shared-vram0:\t4096\ndrm-active-vram0:\t0\n");
  EXPECT_TRUE(info.is_drm);
  EXPECT_EQ(info.client_id, 3);
  EXPECT_EQ(info.pci_address, "0000:03:00.0");
  ASSERT_EQ(info.regions.size(), 1u);
  EXPECT_EQ(info.regions[0].total, 23992 * kKib);
  EXPECT_EQ(info.regions[0].resident, 23 * kMib);
  EXPECT_EQ(info.regions[0].shared, 4096);
}

TEST(Fdinfo, WhatIsNoNumberOrDoesNotFitIsUnknown) {
  const ClientInfo info = parsed(
      "drm-client-id:\t-4\ndrm-resident-vram:\t9223372036854775807 MiB\ndrm-total-vram:\t12 parsecs\n"
      "drm-shared-vram:\t-1 KiB\ndrm-engine-gfx:\t99999999999999999999 ns\ndrm-engine-capacity-gfx:\t0\n"
      "drm-engine-:\t5 ns\nno colon\n:\n\xff\xfe:\x01\n");
  EXPECT_EQ(info.client_id, std::nullopt);
  ASSERT_EQ(info.regions.size(), 1u);
  EXPECT_EQ(info.regions[0].resident, std::nullopt);
  EXPECT_EQ(info.regions[0].total, std::nullopt);
  EXPECT_EQ(info.regions[0].shared, std::nullopt);
  ASSERT_EQ(info.engines.size(), 1u);
  EXPECT_EQ(info.engines[0].busy_ns, std::nullopt);
  EXPECT_EQ(info.engines[0].capacity, 1);
  // Names without end do not grow the lists without end.
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "drm-resident-r" + std::to_string(i) + ":\t1\ndrm-engine-e" + std::to_string(i) + ":\t1 ns\n";
  EXPECT_LT(parsed(many).regions.size(), 100u);
  EXPECT_LT(parsed(many).engines.size(), 100u);
  EXPECT_FALSE(parsed("pos:\t0\nflags:\t02\nmnt_id:\t26\nino:\t1\n").is_drm);
}

TEST(Fdinfo, AmdgpuOfAllAges) {
  // Linux 6.14, 6.1, 5.15.
  const CardUser newest = memory_of(
      "drm-total-vram:\t300 KiB\ndrm-resident-vram:\t200 KiB\ndrm-resident-gtt:\t16 KiB\n"
      "drm-resident-doorbell:\t8 KiB\ndrm-memory-vram:\t200 KiB\namd-evicted-vram:\t100 KiB\n");
  EXPECT_EQ(newest.local_bytes, 200 * kKib);
  EXPECT_EQ(newest.system_bytes, 16 * kKib);
  EXPECT_EQ(newest.evicted_bytes, 100 * kKib);
  const CardUser older = memory_of("drm-memory-vram:\t200 KiB\ndrm-memory-gtt: \t16 KiB\ndrm-memory-cpu: \t4 KiB\n");
  EXPECT_EQ(older.local_bytes, 200 * kKib);
  EXPECT_EQ(older.system_bytes, 20 * kKib);
  EXPECT_EQ(older.evicted_bytes, std::nullopt);
  const ClientInfo oldest =
      parsed("pdev:\t0000:03:00.0\npasid:\t32771\nvram mem:\t20480 kB\ngtt mem:\t10240 kB\ngfx0:\t1.25%\n");
  EXPECT_TRUE(oldest.is_drm);
  EXPECT_EQ(oldest.client_id, 32771);
  EXPECT_EQ(oldest.pci_address, "0000:03:00.0");
  EXPECT_TRUE(oldest.engines.empty());
  // The client's own number wins over the address space's, whichever comes first.
  EXPECT_EQ(parsed("pasid:\t32771\ndrm-client-id:\t5\n").client_id, 5);
  EXPECT_EQ(parsed("drm-client-id:\t5\npasid:\t32771\n").client_id, 5);
}

TEST(Fdinfo, WithoutResidentTheTotalStandsForIt) {
  EXPECT_EQ(memory_of("drm-total-memory:\t64 KiB\n").system_bytes, 64 * kKib);
  EXPECT_EQ(memory_of("drm-total-local0:\t64 KiB\ndrm-resident-local0:\t8 KiB\n").local_bytes, 8 * kKib);
  EXPECT_EQ(memory_of("drm-driver:\tpanfrost\n").local_bytes, std::nullopt);
  EXPECT_EQ(memory_of("drm-resident-vram0:\t1 KiB\ndrm-resident-vram1:\t2 KiB\n").local_bytes, 3 * kKib);  // two tiles
}

std::optional<double> share(std::string_view before, std::string_view now, std::int64_t elapsed_ns, Work work) {
  return work_since(parsed(before).engines, parsed(now).engines, elapsed_ns)[work];
}

TEST(Fdinfo, ShareOfTimeByNanoseconds) {
  EXPECT_DOUBLE_EQ(*share("drm-engine-gfx:\t100 ns\n", "drm-engine-gfx:\t500000100 ns\n", kSecond, Work::graphics), 50);
  // Two engines under one name.
  EXPECT_DOUBLE_EQ(*share("drm-engine-video:\t0 ns\n",
                          "drm-engine-video:\t1000000000 ns\ndrm-engine-capacity-video:\t2\n", kSecond, Work::video),
                   50);
  // amdgpu leaves out engines that did nothing.
  EXPECT_DOUBLE_EQ(*share("", "drm-engine-compute:\t250000000 ns\n", kSecond, Work::compute), 25);
  EXPECT_EQ(share("", "", kSecond, Work::compute), std::nullopt);
  EXPECT_EQ(share("", "drm-engine-gfx:\t5 ns\n", 0, Work::graphics), std::nullopt);
  // A counter that falls is waited for; more than all of the time does not exist.
  EXPECT_DOUBLE_EQ(*share("drm-engine-gfx:\t900 ns\n", "drm-engine-gfx:\t800 ns\n", kSecond, Work::graphics), 0);
  EXPECT_DOUBLE_EQ(*share("drm-engine-gfx:\t0 ns\n", "drm-engine-gfx:\t9223372036854775807 ns\n", 1, Work::graphics),
                   100);
}

TEST(Fdinfo, ShareOfTimeByCycles) {
  // xe: against all cycles that passed; their number at the first look says nothing.
  const char* const before = "drm-cycles-ccs:\t1000\ndrm-total-cycles-ccs:\t5000\n";
  const char* const now = "drm-cycles-ccs:\t1300\ndrm-total-cycles-ccs:\t6000\n";
  EXPECT_DOUBLE_EQ(*share(before, now, kSecond, Work::compute), 30);
  EXPECT_DOUBLE_EQ(*share(before, std::string(now) + "drm-engine-capacity-ccs:\t2\n", kSecond, Work::compute), 15);
  EXPECT_EQ(share("", now, kSecond, Work::compute), std::nullopt);
  EXPECT_EQ(share(before, before, kSecond, Work::compute), std::nullopt);  // no cycle passed: it slept
  // Against the highest rate.
  EXPECT_DOUBLE_EQ(*share("drm-cycles-fragment:\t0\n",
                          "drm-cycles-fragment:\t400000000\ndrm-maxfreq-fragment:\t800 MHz\n", kSecond, Work::graphics),
                   50);
  EXPECT_EQ(share("drm-cycles-gpu:\t0\n", "drm-cycles-gpu:\t9\n", kSecond, Work::graphics), std::nullopt);
}

TEST(Fdinfo, FallenCountersKeepTheHigherValue) {
  std::vector<Engine> kept = parsed("drm-engine-gfx:\t900 ns\n").engines;
  keep_engines(kept, parsed("drm-engine-gfx:\t800 ns\ndrm-engine-dma:\t7 ns\n").engines);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].busy_ns, 900);
  EXPECT_EQ(kept[1].busy_ns, 7);
}

TEST(DrmTexts, Levels) {
  const Levels levels = parse_levels("0: 500Mhz \n1: 2371Mhz *\n2: 2482Mhz \n");
  EXPECT_EQ(levels.current_mhz, 2371);
  EXPECT_EQ(levels.highest_mhz, 2482);
  EXPECT_EQ(parse_levels("S: 19Mhz *\n0: 615Mhz \n").current_mhz, 19);
  EXPECT_EQ(parse_levels("garbage\n: :\n0: -5Mhz *\n1: 99999999999999999999Mhz\n2: 7\n").highest_mhz, std::nullopt);
  EXPECT_EQ(parse_levels("").current_mhz, std::nullopt);
}

TEST(DrmTexts, MetricsTable) {
  std::string card(120, '\0');
  card[0] = 120;
  card[2] = 1;
  card[3] = 3;
  EXPECT_EQ(parse_metrics_table(card).is_apu, false);
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, 0);
  card[112 + 4] = 0x10;  // the hottest spot
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, 0x20);
  card[112 + 5] = 0x10;  // the voltage regulator's alarm
  card[112] = 0x01;      // power
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, 0x64);
  std::fill(card.begin() + 112, card.end(), '\xff');
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, std::nullopt);
  card[3] = 4;  // a layout without them
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, std::nullopt);
  card[2] = 2;
  EXPECT_EQ(parse_metrics_table(card).is_apu, true);
  EXPECT_EQ(parse_metrics_table(card).clock_reasons, std::nullopt);  // cut: 128 bytes it should have
  card[2] = 9;
  EXPECT_EQ(parse_metrics_table(card).is_apu, std::nullopt);
  for (std::size_t size = 0; size < card.size(); ++size) parse_metrics_table(std::string_view(card).substr(0, size));
}

TEST(DrmTexts, PcieSpeed) {
  EXPECT_EQ(pcie_generation("2.5 GT/s PCIe"), 1);
  EXPECT_EQ(pcie_generation("16.0 GT/s PCIe"), 4);
  EXPECT_EQ(pcie_generation("8 GT/s"), 3);  // Linux before 5.6
  EXPECT_EQ(pcie_generation("Unknown"), std::nullopt);
  EXPECT_EQ(pcie_generation(""), std::nullopt);
}

TEST(DrmTexts, NamesOfPciDevices) {
  const char* const list =
      "# comment\n1001  One\n\t744c  Wrong maker\n1002  AMD\n\t73bf  Navi 21\n\t744c  Navi 31 [Radeon]\r\n"
      "\t\t1da2 e471  A board\n8086  Intel\n\t744c  Wrong again\nC 00  Class\n\t00  Sub\n";
  EXPECT_EQ(find_pci_name(list, 0x1002, 0x744c), "Navi 31 [Radeon]");
  EXPECT_EQ(find_pci_name(list, 0x1002, 0x0001), std::nullopt);
  EXPECT_EQ(find_pci_name(list, 0x1003, 0x744c), std::nullopt);
  EXPECT_EQ(find_pci_name(list, -1, 0x744c), std::nullopt);
  EXPECT_EQ(find_pci_name("1002  AMD\n\t744c", 0x1002, 0x744c), std::nullopt);
  EXPECT_EQ(find_pci_name("", 0x1002, 0x744c), std::nullopt);
}

}  // namespace
}  // namespace vramscope::drm
