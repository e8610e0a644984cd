// src/system over the trees in tests/roots: what /proc, /sys and cgroups look like on machines other than this one.
#include <gtest/gtest.h>
#include <unistd.h>

#include "system/host.h"
#include "system/memory_events.h"
#include "system/process_table.h"
#include "system/process_tree.h"

namespace vramscope {
namespace {

const std::string kId = "3a18f6d4b2907e5c3a18f6d4b2907e5c3a18f6d4b2907e5c3a18f6d4b2907e5c";

Roots roots_of(const std::string& name) {
  const std::string folder = std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/roots/" + name;
  return {folder + "/proc", folder + "/sys"};
}

// One process of a tree, by a table of its own.
std::optional<Process> process_of(const Roots& roots, std::int32_t pid) {
  ProcessTable table(roots);
  const std::vector<std::int32_t> pids = {pid};
  const auto sample = table.sample(pids, 0);
  return sample.processes.empty() ? std::nullopt : std::optional(*sample.processes[0]);
}

TEST(Roots, ProcessInDockerSeenFromTheHost) {
  const auto process = process_of(roots_of("docker_v2"), 2042);
  ASSERT_TRUE(process);
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  EXPECT_EQ(process->key.start_ticks, 6000);
  EXPECT_EQ(process->name, "python");
  EXPECT_EQ(process->command, "python train.py --lr 1e-3");
  EXPECT_EQ(process->state, 'R');
  EXPECT_EQ(process->ppid, 2001);
  EXPECT_EQ(process->uid, 3000000);
  EXPECT_EQ(process->user, std::nullopt);  // a user of the container alone
  EXPECT_EQ(process->cpu_time_ns, 200 * tick_ns);
  EXPECT_EQ(process->cpu_percent, std::nullopt);
  EXPECT_EQ(process->rss_bytes, 250000 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(process->threads, 24);
  EXPECT_EQ(process->start_time_ns, 1'700'000'000'000'000'000 + 6000 * tick_ns);
  EXPECT_EQ(process->placement.container_id, kId);
  EXPECT_EQ(process->placement.container_runtime, "docker");
  EXPECT_EQ(process->pid_namespace, 4026532456);
  EXPECT_EQ(process->ns_pid, 7);
  EXPECT_EQ(process->is_in_other_pid_namespace, true);
}

TEST(Roots, KubernetesWithVersion1) {
  const auto process = process_of(roots_of("kubepods_v1"), 700);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->user, "root");
  EXPECT_EQ(process->placement.container_id, kId);
  EXPECT_EQ(process->placement.container_runtime, std::nullopt);
  EXPECT_EQ(process->placement.pod_uid, "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0");
  // Without permission to follow the link, the list of pids tells.
  const auto second = process_of(roots_of("kubepods_v1"), 701);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->pid_namespace, std::nullopt);
  EXPECT_EQ(second->ns_pid, 12);
  EXPECT_EQ(second->is_in_other_pid_namespace, true);
}

TEST(Roots, SlurmAndPodmanAndWsl) {
  const auto job = process_of(roots_of("slurm_v2"), 3100);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->placement.slurm_job, 4711);
  EXPECT_EQ(job->placement.container_id, std::nullopt);
  EXPECT_EQ(job->is_in_other_pid_namespace, false);
  const auto served = process_of(roots_of("podman_rootless"), 4010);
  ASSERT_TRUE(served);
  EXPECT_EQ(served->placement.container_id, kId);
  EXPECT_EQ(served->placement.container_runtime, "podman");
  EXPECT_EQ(served->ns_pid, 1);
  const auto plain = process_of(roots_of("wsl"), 11);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->cgroup, "/");
  EXPECT_TRUE(plain->placement == Placement{});
}

TEST(Roots, Hidepid) {
  ProcessTable table(roots_of("hidepid"));
  const std::vector<std::int32_t> pids = {50, 51, 52, 52, 51, 0, -7};
  const auto sample = table.sample(pids, 0);
  ASSERT_EQ(sample.processes.size(), 1u);
  EXPECT_EQ(sample.unreadable, (std::vector<std::int32_t>{50}));
  EXPECT_EQ(sample.absent, (std::vector<std::int32_t>{-7, 0, 52}));
  const Process& process = *sample.processes[0];
  EXPECT_EQ(process.name, "python");
  EXPECT_EQ(process.uid, std::nullopt);
  EXPECT_EQ(process.user, std::nullopt);
  EXPECT_EQ(process.command, std::nullopt);
  EXPECT_EQ(process.cgroup, std::nullopt);
  EXPECT_EQ(process.ns_pid, std::nullopt);
  EXPECT_EQ(process.is_in_other_pid_namespace, std::nullopt);
}

TEST(Roots, HostileFiles) {
  ProcessTable table(roots_of("hostile"));
  const std::vector<std::int32_t> pids = {60, 61, 62, 63, 64};
  const auto sample = table.sample(pids, 0);
  EXPECT_EQ(sample.unreadable, (std::vector<std::int32_t>{61, 63}));
  ASSERT_EQ(sample.processes.size(), 3u);
  EXPECT_EQ(sample.processes[0]->name, "a) S 1 (b)\n) Z");
  EXPECT_EQ(sample.processes[0]->state, 'T');
  EXPECT_EQ(sample.processes[0]->ppid, 900);
  const Process& big = *sample.processes[1];
  EXPECT_EQ(big.key.start_ticks, 602);
  EXPECT_EQ(big.ppid, std::nullopt);
  EXPECT_EQ(big.cpu_time_ns, std::nullopt);
  EXPECT_EQ(big.rss_bytes, std::nullopt);
  EXPECT_EQ(big.uid, std::nullopt);
  EXPECT_EQ(big.ns_pid, std::nullopt);
  ASSERT_TRUE(big.command);
  EXPECT_EQ(big.command->size(), kCommandBytes);
  EXPECT_EQ(big.placement.container_id, std::nullopt);
  EXPECT_EQ(sample.processes[2]->name, "");
  EXPECT_EQ(sample.processes[2]->command, "title of its own");
  EXPECT_EQ(descendants(roots_of("hostile"), 60), (std::vector<std::int32_t>{64}));
}

TEST(Roots, TreeByChildrenAndByParents) {
  const Roots roots = roots_of("docker_v2");
  EXPECT_EQ(descendants(roots, 1), (std::vector<std::int32_t>{900, 2000, 2001, 2042}));
  EXPECT_EQ(descendants_by_parent(roots, 1), (std::vector<std::int32_t>{900, 2000, 2001, 2042}));
  EXPECT_EQ(descendants(roots, 2001), (std::vector<std::int32_t>{2042}));
  EXPECT_TRUE(descendants(roots, 77777).empty());
  EXPECT_EQ(descendants(roots_of("kubepods_v1"), 650),
            (std::vector<std::int32_t>{700, 701}));  // has no lists of children
}

TEST(Roots, Orphans) {
  const auto orphan = [](const char* tree, std::int32_t pid) {
    const auto process = process_of(roots_of(tree), pid);
    return process ? is_orphan(roots_of(tree), *process) : std::nullopt;
  };
  EXPECT_EQ(orphan("podman_rootless", 4300), true);   // its launcher died, the shell lives on
  EXPECT_EQ(orphan("podman_rootless", 600), false);   // a daemon of a system service
  EXPECT_EQ(orphan("podman_rootless", 4010), false);  // the first of a container
  EXPECT_EQ(orphan("podman_rootless", 1500), false);  // a user's manager
  EXPECT_EQ(orphan("docker_v2", 2042), false);        // its parent is its session's leader
  EXPECT_EQ(orphan("docker_v2", 1), false);
  EXPECT_EQ(orphan("wsl", 11), true);
  EXPECT_EQ(orphan("hostile", 62), std::nullopt);
  auto moved = process_of(roots_of("docker_v2"), 2042);
  ASSERT_TRUE(moved);
  moved->first_ppid = 2020;
  EXPECT_EQ(is_orphan(roots_of("docker_v2"), *moved), true);
}

TEST(Roots, MemoryOfVersion2) {
  const Roots roots = roots_of("docker_v2");
  const auto cgroup = find_memory_cgroup(roots, 2042);
  ASSERT_TRUE(cgroup);
  EXPECT_EQ(cgroup->version, 2);
  EXPECT_EQ(cgroup->folders.size(), 3u);
  const auto memory = read_cgroup_memory(*cgroup);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->levels.size(), 2u);  // the mount's own folder has no memory files
  EXPECT_EQ(memory->limit_bytes, 8589934592);
  EXPECT_EQ(memory->oom_kills, 2);
  EXPECT_EQ(memory->levels[0].current_bytes, 8500000000);
  EXPECT_EQ(memory->levels[0].peak_bytes, 8589934592);
  EXPECT_EQ(memory->levels[0].limit_misses, 2);
  EXPECT_EQ(memory->levels[1].limit_bytes, std::nullopt);  // "max"
}

TEST(Roots, MemoryOfVersion1TakesTheSmallestLimitAbove) {
  const auto cgroup = find_memory_cgroup(roots_of("kubepods_v1"), 700);
  ASSERT_TRUE(cgroup);
  EXPECT_EQ(cgroup->version, 1);
  const auto memory = read_cgroup_memory(*cgroup);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->levels.size(), 5u);
  EXPECT_EQ(memory->levels[0].limit_bytes, 6442450944);
  EXPECT_EQ(memory->limit_bytes, 4294967296);  // of the pod
  EXPECT_EQ(memory->oom_kills, 1);
  EXPECT_EQ(memory->levels[1].limit_misses, 5);
  EXPECT_EQ(memory->levels[4].limit_bytes, std::nullopt);  // the largest number stands for none
}

TEST(Roots, MemoryLimitOfASlurmJobIsAboveItsTask) {
  const auto cgroup = find_memory_cgroup(roots_of("slurm_v2"), 3100);
  ASSERT_TRUE(cgroup);
  const auto memory = read_cgroup_memory(*cgroup);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit_bytes, 34359738368);
  EXPECT_EQ(memory->levels.back().peak_bytes, std::nullopt);  // Linux before 5.19
}

TEST(Roots, MemoryInsideAContainerAndWhereNoneIsTold) {
  const auto cgroup = find_memory_cgroup(roots_of("inside_docker"), 12);
  ASSERT_TRUE(cgroup);
  EXPECT_EQ(read_cgroup_memory(*cgroup)->limit_bytes, 2147483648);
  const auto wsl = find_memory_cgroup(roots_of("wsl"), 11);
  ASSERT_TRUE(wsl);
  EXPECT_FALSE(read_cgroup_memory(*wsl));
  EXPECT_FALSE(find_memory_cgroup(roots_of("hostile"), 62));  // leads outside
  EXPECT_FALSE(find_memory_cgroup(roots_of("docker_v2"), 77777));
}

TEST(Roots, MemoryPathIsRelativeToTheMountsRoot) {
  const Roots roots = roots_of("docker_v2");
  const std::string path = "/system.slice/docker-" + kId + ".scope";
  const auto find = [&](const std::string& root, const std::string& of_process) {
    return find_memory_cgroup(roots, {{0, "", of_process}}, {{root, "/sys/fs/cgroup", "cgroup2", "rw"}});
  };
  EXPECT_TRUE(find("/", path));
  EXPECT_TRUE(find("/outer", "/outer" + path));
  EXPECT_FALSE(find("/outer", "/outermost" + path));
  EXPECT_FALSE(find("/outer", path));
  EXPECT_FALSE(find("/", "/system.slice/.." + path));
  ASSERT_TRUE(find("/outer", "/outer"));
  EXPECT_EQ(find("/outer", "/outer")->folders, (std::vector<std::string>{roots.sys + "/fs/cgroup"}));
}

TEST(Roots, HostMemory) {
  const HostMemory memory = read_host_memory(roots_of("docker_v2"));
  EXPECT_EQ(memory.total_bytes, 16384000LL * 1024);
  EXPECT_EQ(memory.available_bytes, 8192000LL * 1024);
  EXPECT_EQ(memory.swap_total_bytes, 0);
  EXPECT_EQ(memory.oom_kills, 3);
  const HostMemory none = read_host_memory({"/nonexistent", "/nonexistent"});
  EXPECT_EQ(none.total_bytes, std::nullopt);
  EXPECT_EQ(none.oom_kills, std::nullopt);
}

TEST(Roots, Host) {
  const MachineFacts host = read_machine(roots_of("docker_v2"));
  EXPECT_EQ(host.boot_id, "3f0c1e6a-8d2b-4a57-9c11-0e5d7b9a2f64");
  EXPECT_EQ(host.host_name, "node1");
  EXPECT_EQ(host.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(host.cores, 16);
  EXPECT_EQ(host.boot_time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(host.is_initial_pid_namespace, true);
  EXPECT_FALSE(host.is_container);
  EXPECT_FALSE(host.is_wsl);
  EXPECT_TRUE(read_machine(roots_of("wsl")).is_wsl);
  const MachineFacts inside = read_machine(roots_of("inside_docker"));
  EXPECT_TRUE(inside.is_container);
  EXPECT_EQ(inside.container_runtime, "docker");
  EXPECT_EQ(inside.container_id, kId);
  EXPECT_EQ(inside.is_initial_pid_namespace, false);
  const MachineFacts none = read_machine({"/nonexistent", "/nonexistent"});
  EXPECT_EQ(none.boot_id, std::nullopt);
  EXPECT_EQ(none.cores, std::nullopt);
  EXPECT_EQ(none.is_initial_pid_namespace, std::nullopt);
}

}  // namespace
}  // namespace vramscope
