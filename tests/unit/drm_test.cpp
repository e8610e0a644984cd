// The backend drm over the machines in tests/roots/drm, whole, half there and changing.
#include <cmath>

#include "devices/backend.h"
#include "devices/joined_source.h"
#include "drm_tree.h"

namespace vramscope {
namespace {

using M = Metric;
constexpr std::int64_t kMib = 1 << 20, kGib = 1 << 30;

Wanted everything() {
  Wanted wanted;
  wanted.metrics.set();
  wanted.processes = wanted.process_utilisation = true;
  return wanted;
}

class Drm : public DrmTree {
 protected:
  const std::vector<DeviceSample>& open(const std::string& name) {
    build(name);
    return open();
  }
  const std::vector<DeviceSample>& open() {
    auto opened = open_devices(device());
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      static const std::vector<DeviceSample> none;
      return none;
    }
    source_ = std::move(*opened);
    return sample();
  }
  const std::vector<DeviceSample>& sample() { return source_->sample(everything(), 0); }

  std::unique_ptr<DeviceSource> source_;
};

// Root reads everything: for a while we are nobody.
class AsNobody {
 public:
  AsNobody() : is_root_(geteuid() == 0) {
    if (is_root_ && seteuid(65534) != 0) ADD_FAILURE();
  }
  ~AsNobody() {
    if (is_root_ && seteuid(0) != 0) ADD_FAILURE();
  }

 private:
  bool is_root_;
};

const DeviceProcess* find(const DeviceSample& device, std::int64_t pid) {
  for (const DeviceProcess& process : device.processes) {
    if (process.pid == pid) return &process;
  }
  return nullptr;
}

TEST_F(Drm, DiscreteAmd) {
  const auto& samples = open("amd_discrete");
  ASSERT_EQ(samples.size(), 1u);
  const DeviceSample& gpu = samples[0];
  EXPECT_EQ(gpu.text(M::name), "AMD Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]");
  EXPECT_EQ(gpu.text(M::uuid), "GPU-3d4a95312be07c18");
  EXPECT_EQ(gpu.text(M::pci_bus_id), "00000000:03:00.0");
  EXPECT_EQ(gpu.text(M::driver_version), "amdgpu (Linux 6.14.0-24-generic)");
  EXPECT_EQ(gpu.text(M::vbios_version), "113-D70201-00");
  EXPECT_EQ(gpu.text(M::performance_level), "auto");
  EXPECT_EQ(gpu.number(M::pci_device_id), 0x744c1002);
  EXPECT_EQ(gpu.number(M::memory_total), 25753026560);
  EXPECT_EQ(gpu.number(M::memory_used), 18 * kGib);
  EXPECT_EQ(gpu.number(M::memory_free), 25753026560 - 18 * kGib);
  EXPECT_EQ(gpu.number(M::memory_visible_used), 19310575616);
  EXPECT_EQ(gpu.number(M::memory_system_used), 400 * kMib);
  EXPECT_EQ(gpu.number(M::memory_carved_total), std::nullopt);
  EXPECT_EQ(gpu.number(M::utilization_gpu), 87);
  EXPECT_EQ(gpu.number(M::utilization_memory), 41);
  EXPECT_EQ(gpu.number(M::temperature_gpu), 61);
  EXPECT_EQ(gpu.number(M::temperature_junction), 78);
  EXPECT_EQ(gpu.number(M::temperature_memory), 84);
  EXPECT_EQ(gpu.number(M::temperature_slowdown), 100);
  EXPECT_EQ(gpu.number(M::temperature_shutdown), 105);
  EXPECT_EQ(gpu.number(M::temperature_memory_max), 108);
  EXPECT_EQ(gpu.number(M::power_draw), 301000);
  EXPECT_EQ(gpu.number(M::enforced_power_limit), 339000);
  EXPECT_EQ(gpu.number(M::power_max_limit), 389000);
  EXPECT_EQ(gpu.number(M::fan_rpm), 1432);
  EXPECT_EQ(gpu.number(M::fan_speed), 40);
  EXPECT_EQ(gpu.number(M::clocks_current_sm), 2371);
  EXPECT_EQ(gpu.number(M::clocks_current_memory), 1249);
  EXPECT_EQ(gpu.number(M::clocks_max_sm), 2482);
  EXPECT_EQ(gpu.number(M::clocks_event_reasons_active), 4);
  // The card's own switch runs at 16 lanes, the slot at 8.
  EXPECT_EQ(gpu.number(M::pcie_link_width_current), 8);
  EXPECT_EQ(gpu.number(M::pcie_link_width_max), 16);
  EXPECT_EQ(gpu.number(M::pcie_link_gen_current), 4);
  EXPECT_EQ(gpu.values[M::ecc_errors_uncorrected_volatile_total].state, ValueState::not_supported);
  EXPECT_EQ(gpu.values[M::xid_last].state, ValueState::not_supported);
}

TEST_F(Drm, ClientsAreCountedOnce) {
  const DeviceSample& gpu = open("amd_discrete")[0];
  // The game's helper has the game's descriptor since a fork, the compositor its own twice.
  ASSERT_EQ(gpu.processes.size(), 3u);
  EXPECT_EQ(find(gpu, 1501), nullptr);
  const DeviceProcess* compositor = find(gpu, 1200);
  ASSERT_NE(compositor, nullptr);
  EXPECT_EQ(compositor->used_bytes, 512 * kMib);
  EXPECT_EQ(compositor->system_bytes, 64 * kMib);
  EXPECT_EQ(compositor->shared_bytes, 128 * kMib);
  EXPECT_EQ(compositor->type, ProcessType::graphics);
  EXPECT_EQ(compositor->sm_percent, std::nullopt);  // a first look knows no shares
  const DeviceProcess* game = find(gpu, 1500);
  ASSERT_NE(game, nullptr);
  EXPECT_EQ(game->evicted_bytes, 40 * kMib);
  const DeviceProcess* training = find(gpu, 1700);
  ASSERT_NE(training, nullptr);
  EXPECT_EQ(training->used_bytes, 15 * kGib);  // fdinfo and amdkfd count the same memory
  EXPECT_EQ(training->type, ProcessType::compute);
  EXPECT_EQ(gpu.unreadable_processes, 0);
  // The first has ended: the client goes on with who still has it.
  std::filesystem::remove_all(root_ / "proc/1500");
  EXPECT_EQ(find(sample()[0], 1500), nullptr);
  ASSERT_NE(find(sample()[0], 1501), nullptr);
  EXPECT_EQ(find(sample()[0], 1501)->used_bytes, 2 * kGib);
}

TEST_F(Drm, SharesFollowFromTwoSamples) {
  open("amd_discrete");
  for (const char* const descriptor : {"4", "5"}) {
    replace(std::string("proc/1200/fdinfo/") + descriptor, "drm-engine-gfx:\t912345678 ns",
            "drm-engine-gfx:\t99912345678 ns");
  }
  const DeviceSample& gpu = sample()[0];
  EXPECT_EQ(find(gpu, 1200)->sm_percent, 100);
  EXPECT_EQ(find(gpu, 1500)->sm_percent, 0);
  EXPECT_EQ(find(gpu, 1700)->sm_percent, std::nullopt);  // what queues of ROCm do is counted nowhere
}

TEST_F(Drm, IntegratedAmd) {
  const DeviceSample& gpu = open("amd_apu")[0];
  EXPECT_EQ(gpu.text(M::name), "AMD GPU 1002:150e");  // no list of names on this machine
  EXPECT_EQ(gpu.text(M::uuid), "PCI-0000:c4:00.0");
  EXPECT_EQ(gpu.number(M::memory_total), std::nullopt);
  EXPECT_EQ(gpu.number(M::memory_used), 432013312LL + 1825361100);
  EXPECT_EQ(gpu.number(M::memory_carved_total), 512 * kMib);
  EXPECT_EQ(gpu.number(M::memory_carved_used), 432013312);
  EXPECT_EQ(gpu.number(M::memory_system_total), 16372465664);
  EXPECT_EQ(gpu.number(M::clocks_current_sm), 611);
  EXPECT_EQ(gpu.number(M::clocks_current_memory), 1000);  // by level: no sensor
  EXPECT_EQ(gpu.number(M::enforced_power_limit), std::nullopt);
  EXPECT_EQ(gpu.number(M::fan_speed), std::nullopt);
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(find(gpu, 2100)->used_bytes, (90 + 180) * kMib);
  EXPECT_EQ(find(gpu, 2100)->evicted_bytes, 0);
  EXPECT_EQ(find(gpu, 2200)->used_bytes, 30 * kMib);
}

TEST_F(Drm, IntegratedIntel) {
  const DeviceSample& gpu = open("i915")[0];
  EXPECT_EQ(gpu.text(M::name), "Intel GPU 8086:9a60");
  EXPECT_EQ(gpu.number(M::memory_total), std::nullopt);
  EXPECT_EQ(gpu.number(M::memory_used), std::nullopt);
  EXPECT_EQ(gpu.number(M::clocks_current_sm), 1150);
  EXPECT_EQ(gpu.number(M::clocks_max_sm), 1450);
  EXPECT_EQ(gpu.number(M::clocks_event_reasons_active), 4);
  EXPECT_EQ(gpu.number(M::utilization_gpu), std::nullopt);  // of a first look
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(find(gpu, 3100)->used_bytes, (199 + 49) * kMib);  // two clients of one process
  EXPECT_EQ(find(gpu, 3100)->shared_bytes, 8 * kMib);
  replace("proc/3200/fdinfo/6", "drm-engine-video:\t7654321098 ns", "drm-engine-video:\t907654321098 ns");
  const DeviceSample& later = sample()[0];
  EXPECT_EQ(later.number(M::utilization_gpu), 100);
  EXPECT_EQ(find(later, 3200)->sm_percent, 0);
}

TEST_F(Drm, DiscreteIntel) {
  const DeviceSample& gpu = open("xe_discrete")[0];
  EXPECT_EQ(gpu.text(M::name), "Intel Battlemage G21 [Arc B580]");
  EXPECT_EQ(gpu.number(M::memory_total), std::nullopt);
  EXPECT_EQ(gpu.number(M::clocks_current_sm), 2850);
  EXPECT_EQ(gpu.number(M::clocks_current_video), 0);
  EXPECT_EQ(gpu.number(M::clocks_max_video), 1500);
  EXPECT_EQ(gpu.number(M::clocks_event_reasons_active), 0);
  EXPECT_EQ(gpu.number(M::temperature_gpu), 58);
  EXPECT_EQ(gpu.number(M::temperature_memory), 62);
  EXPECT_EQ(gpu.number(M::energy_total), 74100000);
  EXPECT_EQ(gpu.number(M::power_draw), std::nullopt);            // of a first look
  EXPECT_EQ(gpu.number(M::enforced_power_limit), std::nullopt);  // 0: none
  EXPECT_EQ(gpu.number(M::power_default_limit), 190000);
  EXPECT_EQ(gpu.number(M::pcie_link_gen_max), 4);
  EXPECT_EQ(gpu.number(M::pcie_link_gen_hostmax), 5);
  EXPECT_EQ(find(gpu, 4100)->used_bytes, 6 * kGib);
  EXPECT_EQ(find(gpu, 4200)->type, ProcessType::graphics);
  for (const char* const name : {"ccs"}) {
    replace("proc/4100/fdinfo/7", std::string("drm-total-cycles-") + name + ":\t7655183225",
            std::string("drm-total-cycles-") + name + ":\t7655185225");
    replace("proc/4100/fdinfo/7", std::string("drm-cycles-") + name + ":\t28257900",
            std::string("drm-cycles-") + name + ":\t28259400");
  }
  write(std::string("sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/hwmon/hwmon4/") +
            "energy1_input",
        "74100000001\n");
  usleep(20'000);
  const DeviceSample& later = sample()[0];
  EXPECT_EQ(find(later, 4100)->sm_percent, 75);
  EXPECT_EQ(find(later, 4100)->type, ProcessType::compute);
  EXPECT_EQ(later.number(M::utilization_gpu), 75);
  EXPECT_EQ(later.number(M::power_draw), 0);
  EXPECT_EQ(later.number(M::utilization_awake), 100);  // it did not sleep
}

TEST_F(Drm, Nouveau) {
  const DeviceSample& gpu = open("nouveau")[0];
  EXPECT_EQ(gpu.text(M::name), "NVIDIA GPU 10de:1004");
  EXPECT_EQ(gpu.number(M::temperature_gpu), 52);
  EXPECT_EQ(gpu.number(M::temperature_slowdown), 105);
  EXPECT_EQ(gpu.number(M::fan_speed), 34);  // percent there, not 0 to 255
  EXPECT_EQ(gpu.number(M::power_draw), 48210);
  EXPECT_EQ(gpu.number(M::enforced_power_limit), 250000);
  EXPECT_EQ(gpu.number(M::pcie_link_gen_current), 1);
  EXPECT_EQ(gpu.number(M::utilization_gpu), std::nullopt);
  ASSERT_EQ(gpu.processes.size(), 1u);
  EXPECT_EQ(gpu.processes[0].pid, 5100);
  EXPECT_EQ(gpu.processes[0].used_bytes, std::nullopt);
}

TEST_F(Drm, OthersThanNvidiasOwnDriverAndScreens) {
  const auto& samples = open("mixed");
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].text(M::name), "AMD Radeon 680M");
  EXPECT_EQ(samples[0].number(M::memory_used), 384 * kMib);
  EXPECT_EQ(samples[0].number(M::power_draw), 4100);
  EXPECT_EQ(find(samples[0], 6100)->used_bytes, 192 * kMib);
  // Asleep: nothing is asked of it.
  EXPECT_EQ(samples[1].text(M::name), "AMD Radeon PRO W6800");
  EXPECT_EQ(samples[1].text(M::power_state), "suspended");
  EXPECT_EQ(samples[1].number(M::memory_total), std::nullopt);
  EXPECT_FALSE(samples[1].is_lost);
  write("sys/devices/pci0000:00/0000:00:03.1/0000:0a:00.0/power/runtime_status", "active\n");
  EXPECT_EQ(sample()[1].number(M::memory_total), 34342961152);
}

TEST_F(Drm, NoCardIsAnErrorThatSaysWhereItLooked) {
  const auto nothing = open_devices(device());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ExitCode::machine);
  EXPECT_NE(nothing.error().message.find(root_.string() + "/sys/class/drm"), std::string::npos);
}

TEST_F(Drm, ACardThatGoesAndComesBackKeepsItsPlace) {
  open("mixed");
  const std::string folder = "sys/devices/pci0000:00/0000:00:08.1/0000:06:00.0";
  std::filesystem::rename(root_ / folder, root_ / "away");
  const auto& gone = sample();
  ASSERT_EQ(gone.size(), 2u);
  EXPECT_TRUE(gone[0].is_lost);
  EXPECT_EQ(gone[0].text(M::name), "AMD Radeon 680M");
  EXPECT_EQ(gone[0].values[M::memory_used].state, ValueState::lost);
  EXPECT_EQ(gone[0].processes_state, ValueState::lost);
  EXPECT_FALSE(gone[1].is_lost);
  for (int i = 0; i < 130; ++i) sample();  // it is looked for meanwhile
  std::filesystem::rename(root_ / "away", root_ / folder);
  for (int i = 0; i < 130; ++i) sample();
  const auto& back = sample();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_FALSE(back[0].is_lost);
  EXPECT_EQ(back[0].number(M::memory_used), 384 * kMib);
}

TEST_F(Drm, AnAddedCardIsFound) {
  build("mixed");
  const std::string link = "sys/class/drm/card1";
  std::filesystem::rename(root_ / link, root_ / "link");
  EXPECT_EQ(open().size(), 1u);
  std::filesystem::rename(root_ / "link", root_ / link);
  for (int i = 0; i < 61; ++i) sample();
  const auto& both = sample();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].text(M::name), "AMD Radeon PRO W6800");  // places stay
  EXPECT_EQ(both[1].text(M::name), "AMD Radeon 680M");
  EXPECT_EQ(both[1].index, 1);
  ASSERT_NE(find(both[1], 6100), nullptr);
}

// Every file of the tree in turn: missing, empty, garbage, a huge number, a folder in its place.
TEST_F(Drm, EveryFileMayBeMissingOrWrong) {
  for (const char* const name : {"amd_discrete", "amd_apu", "i915", "xe_discrete", "nouveau", "mixed"}) {
    SetUp();
    build(name);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string file = entry.path().filename();
      // Of processes only these are read by the backend.
      const bool is_read = entry.path().string().find("/proc/") == std::string::npos || file == "stat" ||
                           entry.path().parent_path().filename() == "fdinfo";
      if (is_read && entry.is_regular_file() && !entry.is_symlink())
        files.push_back(entry.path().lexically_relative(root_));
    }
    ASSERT_GT(files.size(), 20u) << name;
    const std::string kWrong[] = {"9223372036854775807\n", "-9223372036854775808\n", std::string("\0\xff\n: :\n", 7),
                                  "drm-client-id:\t1\ndrm-resident-vram:\t9223372036854775807\n"};
    for (const std::filesystem::path& file : files) {
      const std::string whole = read(file);
      for (const std::string& wrong : kWrong) {
        write(file, wrong);
        if (auto source = open_devices(device())) {
          for (int i = 0; i < 2; ++i) {
            for (const DeviceSample& gpu : (*source)->sample(everything(), 0)) {
              EXPECT_GE(gpu.number(M::memory_used).value_or(0), 0) << file << wrong;
              EXPECT_LE(gpu.number(M::utilization_gpu).value_or(0), 100) << file << wrong;
              EXPECT_LE(gpu.number(M::temperature_gpu).value_or(0), 250) << file << wrong;
            }
          }
        }
      }
      std::filesystem::remove(root_ / file);
      std::filesystem::create_directory(root_ / file);
      if (auto source = open_devices(device())) (*source)->sample(everything(), 0);
      std::filesystem::remove(root_ / file);
      if (auto source = open_devices(device())) (*source)->sample(everything(), 0);
      write(file, whole);
    }
  }
}

TEST_F(Drm, WhatIsUnreadableIsCountedAndNeverNothing) {
  build("i915");
  lock("proc/3100/fd");
  // A thread of the kernel is as unreadable, and uses no GPU.
  write("proc/2/stat",
        "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 18446744073709551615 0 0 0 0 0\n");
  std::filesystem::create_directory(root_ / "proc/2/fd");
  lock("proc/2/fd");
  const AsNobody nobody;
  open();
  const DeviceSample& gpu = sample()[0];
  EXPECT_EQ(gpu.unreadable_processes, 1);
  EXPECT_EQ(find(gpu, 3100), nullptr);
  ASSERT_NE(find(gpu, 3200), nullptr);
  // The other's work is missing, so the card's is not known.
  EXPECT_EQ(gpu.number(M::utilization_gpu), std::nullopt);
}

TEST_F(Drm, ValuesWithoutPermissionSaySo) {
  build("mixed");
  lock("sys/devices/pci0000:00/0000:00:08.1/0000:06:00.0/gpu_busy_percent");
  const AsNobody nobody;
  EXPECT_EQ(open()[0].values[M::utilization_gpu].state, ValueState::no_permission);
}

TEST_F(Drm, NamesOfProcessesAreThoseOfProc) {
  open("i915");
  EXPECT_EQ(*source_->process_name(3200), "ffmpeg");
  EXPECT_FALSE(source_->process_name(99));
  std::filesystem::create_symlink("/usr/bin/ffmpeg", root_ / "proc/3200/exe");
  EXPECT_EQ(*source_->process_name(3200), "/usr/bin/ffmpeg");
}

// Passed through to a virtual machine a card sits on the root bus, as integrated GPUs do.
TEST_F(Drm, MemoryOfACardOnTheRootBusIsItsOwn) {
  build("i915");
  replace("proc/3200/fdinfo/6", "drm-total-stolen-system0:",
          "drm-total-local0:\t4096 KiB\ndrm-resident-local0:\t4096 KiB\ndrm-total-stolen-system0:");
  const DeviceSample& gpu = open()[0];
  EXPECT_EQ(find(gpu, 3200)->used_bytes, 4 * kMib);
  EXPECT_EQ(find(gpu, 3200)->system_bytes, 95 * kMib);
}

TEST_F(Drm, OnlyWhatIsWantedIsRead) {
  build("amd_discrete");
  auto source = open_devices(device());
  ASSERT_TRUE(source);
  Wanted wanted;
  wanted.metrics = mask_of({M::memory_used});
  const DeviceSample& gpu = (*source)->sample(wanted, 0)[0];
  EXPECT_EQ(gpu.number(M::memory_used), 18 * kGib);
  EXPECT_EQ(gpu.values[M::temperature_gpu].state, ValueState::not_asked);
  EXPECT_EQ(gpu.processes_state, ValueState::not_asked);
  EXPECT_TRUE(gpu.processes.empty());
}

TEST_F(Drm, CountersOfErrorsAndBadPages) {
  build("amd_discrete");
  const std::string folder = "sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0/ras/";
  write(folder + "umc_err_count", "ue: 2\nce: 70\nde: 1\n");
  write(folder + "gfx_err_count", "ue: 1\nce: 5\n");
  write(folder + "features", "feature mask: 0x3fff\n");
  write(folder + "gpu_vram_bad_pages",
        "0x027f5d43 : 0x00001000 : R\n0x027f5d4b : 0x00001000 : R\n0x027f5d53 : 0x00001000 : P\n");
  const DeviceSample& gpu = open()[0];
  EXPECT_EQ(gpu.number(M::ecc_errors_uncorrected_volatile_total), 3);
  EXPECT_EQ(gpu.number(M::ecc_errors_corrected_volatile_total), 75);
  EXPECT_EQ(gpu.number(M::ecc_errors_uncorrected_volatile_device_memory), 2);
  EXPECT_EQ(gpu.number(M::retired_pages_double_bit_count), 3);
  EXPECT_EQ(gpu.number(M::retired_pages_pending), 1);
}

TEST_F(Drm, JoinedSourcesNumberOn) {
  build("mixed");
  std::vector<std::unique_ptr<DeviceSource>> sources;
  for (const std::string& name : {std::string("sim:node8"), device(), std::string("sim:healthy")}) {
    auto source = open_devices(name);
    ASSERT_TRUE(source) << name;
    sources.push_back(std::move(*source));
  }
  const std::size_t first_size = sources[0]->sample(everything(), 0).size();
  const auto joined = join_sources(std::move(sources));
  for (int i = 0; i < 2; ++i) {
    const auto& samples = joined->sample(everything(), 0);
    ASSERT_EQ(samples.size(), first_size + 3);
    int next = 0;
    for (const DeviceSample& device : samples) {
      if (device.parent) {
        EXPECT_EQ(samples[static_cast<std::size_t>(*device.parent)].parent, std::nullopt);
        EXPECT_EQ(*device.parent, 7);  // node8's last GPU has MIG devices
        continue;
      }
      EXPECT_EQ(device.index, next++);
      EXPECT_EQ(device.number(M::index).value_or(device.index), device.index);
      EXPECT_EQ(device.number(M::count), 11);
    }
    EXPECT_EQ(samples[first_size].text(M::name), "AMD Radeon 680M");
  }
  EXPECT_TRUE((*joined->accounted(0)).empty());
  EXPECT_TRUE((*joined->accounted(99)).empty());
}

}  // namespace
}  // namespace vramscope
