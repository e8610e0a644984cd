// How often links of processes are read, and what is noticed when (devices/backends/drm/clients.h).
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "devices/backends/drm/clients.h"
#include "drm_tree.h"

namespace vramscope::drm {
namespace {

class DrmClients : public DrmTree {
 protected:
  void SetUp() override {
    DrmTree::SetUp();
    cards_ = {{"0000:03:00.0", "amdgpu", "/nowhere", {"card0", "renderD128"}, {}}};
    std::filesystem::create_directories(root_ / "proc");
  }
  Roots roots() const { return {root_ / "proc", root_ / "sys"}; }
  void add_process(int pid, int links) {
    const std::filesystem::path folder = root_ / "proc" / std::to_string(pid) / "fd";
    std::filesystem::create_directories(folder);
    for (int i = 0; i < links; ++i) std::filesystem::create_symlink("socket:[4711]", folder / std::to_string(i));
  }
  void open_card(int pid, int descriptor, int client, int vram_kib, const std::string& more = {}) {
    const std::string process = "proc/" + std::to_string(pid);
    std::filesystem::create_directories(root_ / process / "fd");
    std::filesystem::create_symlink("/dev/dri/renderD128", root_ / process / "fd" / std::to_string(descriptor));
    write(process + "/fdinfo/" + std::to_string(descriptor),
          "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t" + std::to_string(client) +
              "\ndrm-pdev:\t0000:03:00.0\ndrm-resident-vram:\t" + std::to_string(vram_kib) + " KiB\n" + more);
  }
  std::vector<Card> cards_;
};

constexpr std::int64_t kSecond = 1'000'000'000;

TEST_F(DrmClients, LinksOfASampleAreBounded) {
  for (int pid = 100; pid < 400; ++pid) add_process(pid, 50);
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  EXPECT_GE(clients.links_read(), 300u * 50u);  // once, all
  // A process that opens the card later is found when its turn comes at the latest.
  open_card(250, 50, 7, 64);
  const std::size_t rounds = 300 * 54 / kLinksASample + 4;
  std::size_t found_after = 0;
  for (std::size_t i = 1; i <= rounds; ++i) {
    clients.sample(cards_, static_cast<std::int64_t>(i) * kSecond);
    EXPECT_LE(clients.links_read(), 2 * kLinksASample + 60);
    EXPECT_GT(clients.links_read(), kLinksASample / 2);
    if (found_after == 0 && !clients.users().empty()) found_after = i;
  }
  ASSERT_GT(found_after, 0u);
  EXPECT_EQ(clients.users()[0].pid, 250);
  EXPECT_EQ(clients.users()[0].local_bytes, 64 << 10);
}

TEST_F(DrmClients, NewProcessesAreSeenAtOnceAndGoneOnesForgotten) {
  for (int pid = 100; pid < 160; ++pid) add_process(pid, 50);
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  add_process(500, 10);
  open_card(500, 20, 9, 128);
  clients.sample(cards_, kSecond);
  ASSERT_EQ(clients.users().size(), 1u);
  EXPECT_EQ(clients.users()[0].pid, 500);
  std::filesystem::remove_all(root_ / "proc/500");
  clients.sample(cards_, 2 * kSecond);
  EXPECT_TRUE(clients.users().empty());
}

TEST_F(DrmClients, OneClientInManyPlacesIsOne) {
  open_card(300, 3, 7, 64);
  open_card(300, 4, 7, 64);
  open_card(301, 3, 7, 64);
  open_card(301, 5, 8, 32);
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  ASSERT_EQ(clients.users().size(), 2u);
  EXPECT_EQ(clients.users()[0].local_bytes, 64 << 10);
  EXPECT_EQ(clients.users()[1].pid, 301);
  EXPECT_EQ(clients.users()[1].local_bytes, 32 << 10);
  // Another process with a lower number gets the descriptor: it stays with whom it was first seen.
  open_card(200, 3, 7, 64);
  clients.sample(cards_, kSecond);
  ASSERT_EQ(clients.users().size(), 2u);
  EXPECT_EQ(clients.users()[0].pid, 300);
}

TEST_F(DrmClients, ADescriptorThatIsClosedOrReusedIsNoticed) {
  open_card(300, 3, 7, 64);
  open_card(301, 3, 8, 64);
  for (const std::size_t descriptors : {std::size_t{64}, std::size_t{0}}) {  // kept open, and read by path
    Clients clients(roots(), descriptors);
    clients.sample(cards_, 0);
    ASSERT_EQ(clients.users().size(), 2u);
    const std::string whole = read("proc/300/fdinfo/3");
    write("proc/300/fdinfo/3", "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t77\n");
    std::filesystem::remove(root_ / "proc/300/fd/3");
    std::filesystem::create_symlink("/home/a/file", root_ / "proc/300/fd/3");
    clients.sample(cards_, kSecond);
    ASSERT_EQ(clients.users().size(), 1u);
    EXPECT_EQ(clients.users()[0].pid, 301);
    std::filesystem::remove(root_ / "proc/300/fd/3");
    open_card(300, 3, 7, 64);
    clients.sample(cards_, 2 * kSecond);
    EXPECT_EQ(clients.users().size(), 2u);
  }
}

TEST_F(DrmClients, SharesAddUpOverClientsAndFallenCountersWait) {
  open_card(300, 3, 7, 64, "drm-engine-gfx:\t1000 ns\ndrm-engine-dec:\t0 ns\n");
  open_card(301, 3, 8, 64, "drm-engine-gfx:\t5000 ns\n");
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  EXPECT_EQ(clients.users()[0].shares[Work::graphics], std::nullopt);
  replace("proc/300/fdinfo/3", "gfx:\t1000", "gfx:\t400001000");
  replace("proc/301/fdinfo/3", "gfx:\t5000", "gfx:\t250005000");
  clients.sample(cards_, kSecond);
  EXPECT_DOUBLE_EQ(*clients.users()[0].shares[Work::graphics], 40);
  EXPECT_DOUBLE_EQ(*clients.users()[0].shares[Work::decode], 0);
  EXPECT_DOUBLE_EQ(*clients.work_on(0)[Work::graphics], 65);
  replace("proc/300/fdinfo/3", "gfx:\t400001000", "gfx:\t399001000");
  clients.sample(cards_, 2 * kSecond);
  EXPECT_DOUBLE_EQ(*clients.users()[0].shares[Work::graphics], 0);
  replace("proc/300/fdinfo/3", "gfx:\t399001000", "gfx:\t900001000");
  clients.sample(cards_, 3 * kSecond);
  EXPECT_DOUBLE_EQ(*clients.users()[0].shares[Work::graphics], 50);
  // The same moment again tells nothing, and spoils nothing.
  clients.sample(cards_, 3 * kSecond);
  EXPECT_EQ(clients.users()[0].shares[Work::graphics], std::nullopt);
}

TEST_F(DrmClients, WithoutClientNumbersAProcessCountsOnce) {
  for (const int descriptor : {3, 4}) {
    open_card(300, descriptor, 7, 64);
    replace("proc/300/fdinfo/" + std::to_string(descriptor), "drm-client-id:\t7\n", "");
  }
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  ASSERT_EQ(clients.users().size(), 1u);
  EXPECT_EQ(clients.users()[0].local_bytes, 64 << 10);
}

// The machine's own /proc, and a file that is named as a card's node is.
TEST_F(DrmClients, ARealProcessThatOpensACardIsFound) {
  Clients clients({"/proc", "/sys"}, 64);
  const auto is_seen = [&] {
    return std::any_of(clients.users().begin(), clients.users().end(),
                       [](const CardUser& user) { return user.pid == getpid(); });
  };
  clients.sample(cards_, 0);
  ASSERT_FALSE(is_seen());
  write("dev/dri/renderD128", "");
  std::ifstream first(root_ / "dev/dri/renderD128");
  std::ifstream second(root_ / "dev/dri/renderD128");
  std::size_t samples = 0;
  for (constexpr std::size_t kMost = 2000; samples < kMost && !is_seen(); ++samples) clients.sample(cards_, 0);
  ASSERT_TRUE(is_seen());
  // Linux 6.2 tells how many descriptors there are.
  struct stat facts {};
  ASSERT_EQ(::stat("/proc/self/fd", &facts), 0);
  if (facts.st_size > 0) {
    const std::size_t processes = read_numbered_entries("/proc")->size();
    EXPECT_LE(samples, 2 * processes / kSizesASample + 4);
  }
  for (const CardUser& user : clients.users()) EXPECT_EQ(user.local_bytes, std::nullopt);  // nothing is told
  first.close();
  second.close();
  clients.sample(cards_, 0);
  EXPECT_FALSE(is_seen());
}

TEST_F(DrmClients, NoProcIsNobody) {
  std::filesystem::remove_all(root_ / "proc");
  Clients clients(roots(), 64);
  clients.sample(cards_, 0);
  EXPECT_TRUE(clients.users().empty());
  EXPECT_EQ(clients.unreadable(), 0);
}

}  // namespace
}  // namespace vramscope::drm
