// The parsers of src/system over text: processes, cgroup paths, mounts, kernel messages.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <time.h>

#include "system/cgroup.h"
#include "system/fields.h"
#include "system/host.h"
#include "system/kernel_log.h"
#include "system/mounts.h"
#include "system/process.h"

namespace vramscope {
namespace {

const std::string kId = "36d2a5f8e1b47c0936d2a5f8e1b47c0936d2a5f8e1b47c0936d2a5f8e1b47c09";
const std::string kPod = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
const std::string kPodUnderscored = "0b1c2d3e_4f50_6172_8394_a5b6c7d8e9f0";

std::string stat_line(const std::string& name) {
  return "123 (" + name +
         ") R 45 120 119 34816 120 4194304 5000 0 0 0 150 50 0 0 20 0 24 0 6000 999 250 18446744073709551615 "
         "94251 94300 140732000 0 0 0 0\n";
}

TEST(ProcessStat, FieldsAreThoseOfProc5) {
  const std::string line = stat_line("python");
  const auto stat = parse_process_stat(line);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "python");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->ppid, 45);
  EXPECT_EQ(stat->session_id, 119);
  EXPECT_EQ(stat->cpu_ticks, 200);
  EXPECT_EQ(stat->threads, 24);
  EXPECT_EQ(stat->start_ticks, 6000);
  EXPECT_EQ(stat->rss_pages, 250);
  EXPECT_EQ(stat->stack_start, 140732000);
}

TEST(ProcessStat, NameMayHoldAnything) {
  for (const std::string name : {"", ")", "(", ") R 1 2 3", "a b", "a\nb", "((x))", "\xff\xfe"}) {
    const std::string line = stat_line(name);
    const auto stat = parse_process_stat(line);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->ppid, 45);
  }
}

TEST(ProcessStat, CutTextGivesNoWrongNumbers) {
  const std::string line = stat_line("python");
  const std::size_t after_start = line.find(" 6000 ") + 6;
  for (std::size_t size = 0; size < line.size(); ++size) {
    const auto stat = parse_process_stat(line.substr(0, size));
    EXPECT_EQ(stat.has_value(), size >= after_start) << size;
    if (!stat) continue;
    EXPECT_EQ(stat->start_ticks, 6000);
    if (stat->rss_pages) {
      EXPECT_EQ(stat->rss_pages, 250);
    }
  }
}

TEST(ProcessStatus, EffectiveUserAndInnermostPid) {
  const auto status = parse_process_status("Name:\tx\nUid:\t1000\t0\t1000\t1000\nNSpid:\t2042\t30\t7\n");
  EXPECT_EQ(status.effective_uid, 0);
  EXPECT_EQ(status.ns_pid, 7);
  EXPECT_EQ(status.namespace_depth, 3);
  const auto old = parse_process_status("Name:\tUid:\nUid:\t1\n");
  EXPECT_EQ(old.effective_uid, std::nullopt);
  EXPECT_EQ(old.ns_pid, std::nullopt);
  EXPECT_EQ(old.namespace_depth, std::nullopt);
}

TEST(ProcessArguments, AreJoined) {
  EXPECT_EQ(join_arguments(std::string_view("a\0b c\0\0", 7)), "a b c");
  EXPECT_EQ(join_arguments(std::string_view("a\0\0b\0", 5)), "a  b");
  EXPECT_EQ(join_arguments(""), std::nullopt);
  EXPECT_EQ(join_arguments(std::string_view("\0\0", 2)), std::nullopt);
}

TEST(NamespaceLink, Number) {
  EXPECT_EQ(parse_namespace_link("pid:[4026531836]"), 4026531836);
  for (const char* bad : {"", "pid:", "pid:[", "pid:[]", "pid:[x]", "pid:[1", "pid:[-1]"}) {
    EXPECT_EQ(parse_namespace_link(bad), std::nullopt) << bad;
  }
}

struct Case {
  std::string path;
  Placement expected;
};

TEST(CgroupPath, ToldApart) {
  const std::string pod_slice =
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kPodUnderscored + ".slice";
  const std::string user = "/user.slice/user-1000.slice/user@1000.service";
  const std::string docker_scope = "docker-" + kId + ".scope";
  const std::string static_pod = "0123456789abcdef0123456789abcdef";
  const std::vector<Case> cases = {
      {"/", {}},
      {"", {}},
      {"/docker/" + kId, {kId, "docker", {}, {}, {}}},
      {"/system.slice/" + docker_scope, {kId, "docker", {}, docker_scope, {}}},
      {"/kubepods/burstable/pod" + kPod + "/" + kId, {kId, {}, kPod, {}, {}}},
      {"/kubepods/pod" + static_pod + "/" + kId, {kId, {}, static_pod, {}, {}}},
      {"/kubepods/besteffort/pod" + kPod + "/crio-" + kId, {kId, "crio", kPod, {}, {}}},
      {pod_slice + "/cri-containerd-" + kId + ".scope",
       {kId, "containerd", kPod, "cri-containerd-" + kId + ".scope", {}}},
      {pod_slice + "/crio-" + kId + ".scope", {kId, "crio", kPod, "crio-" + kId + ".scope", {}}},
      {pod_slice + "/" + docker_scope, {kId, "docker", kPod, docker_scope, {}}},
      {"/system.slice/containerd.service/kubepods-burstable-pod" + kPodUnderscored + ".slice:cri-containerd:" + kId,
       {kId, "containerd", kPod, "containerd.service", {}}},
      // Kubernetes in docker: the innermost counts.
      {"/docker/" + std::string(64, 'f') + "/kubelet/kubepods/besteffort/pod" + kPod + "/" + kId,
       {kId, {}, kPod, {}, {}}},
      {"/k8s.io/" + kId, {kId, "containerd", {}, {}, {}}},
      {"/machine.slice/libpod-" + kId + ".scope/container", {kId, "podman", {}, "libpod-" + kId + ".scope", {}}},
      {user + "/user.slice/libpod-" + kId + ".scope/container", {kId, "podman", {}, "libpod-" + kId + ".scope", {}}},
      {"/machine.slice/libpod-conmon-" + kId + ".scope", {{}, {}, {}, "libpod-conmon-" + kId + ".scope", {}}},
      {"/lxc.payload.web/init.scope", {"web", "lxc", {}, "init.scope", {}}},
      {"/slurm/uid_1000/job_123/step_0/task_0", {{}, {}, {}, {}, 123}},
      {"/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0", {{}, {}, {}, "slurmstepd.scope", 4711}},
      {"/system.slice/node1_slurmstepd.scope/job_9/step_1", {{}, {}, {}, "node1_slurmstepd.scope", 9}},
      {"/slurm_node1/uid_5/job_77", {{}, {}, {}, {}, 77}},
      {"/build/job_123", {}},
      {"/slurm/job_", {}},
      {"/slurm/job_99999999999999999999", {}},
      {user + "/app.slice/app-gnome-code-42.scope", {{}, {}, {}, "app-gnome-code-42.scope", {}}},
      {user + "/app.slice/jupyter.service", {{}, {}, {}, "jupyter.service", {}}},
      {"/system.slice/docker-tooshort.scope", {{}, {}, {}, "docker-tooshort.scope", {}}},
      {"/home/pod" + kPod, {}},
      {"/kubepods/podnothing/:::/:", {}},
      {"/../../" + docker_scope, {kId, "docker", {}, docker_scope, {}}},
  };
  for (const Case& c : cases) EXPECT_TRUE(placement_of_path(c.path) == c.expected) << c.path;
}

TEST(CgroupFile, LinesAndTheOneToShow) {
  const auto lines = parse_cgroup_file(
      "9:cpu,memory:/a:b (deleted)\n1:name=systemd:/user.slice/x.service\n0::/\nx::/\n3\n:::\n0::relative\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].path, "/a:b");
  EXPECT_TRUE(lines[0].has_controller("memory"));
  EXPECT_FALSE(lines[0].has_controller("mem"));
  EXPECT_TRUE(lines[2].is_version_2());
  EXPECT_EQ(main_cgroup_path(lines), "/user.slice/x.service");
  EXPECT_EQ(placement_of(lines).systemd_unit, "x.service");
  EXPECT_EQ(main_cgroup_path(parse_cgroup_file("4:memory:/\n0::/\n")), "/");
  EXPECT_EQ(main_cgroup_path({}), std::nullopt);
}

TEST(CgroupFile, ParserStandsCutsAtEveryByte) {
  const std::string text =
      "9:memory:/kubepods/burstable/pod" + kPod + "/" + kId + "\n0::/system.slice/docker-" + kId + ".scope\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto placement = placement_of(parse_cgroup_file(text.substr(0, size)));
    if (placement.container_id) {
      EXPECT_EQ(placement.container_id, kId);
    }
    if (placement.pod_uid) {
      EXPECT_EQ(placement.pod_uid, kPod);
    }
  }
}

TEST(Mountinfo, TagsAndEscapes) {
  const auto mounts = parse_mountinfo(
      "29 23 0:26 / /sys/fs/cgroup rw shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n"
      "30 23 0:27 /a\\040b /mnt/c\\134d rw - cgroup cgroup rw,memory\n"
      "31 23 0:28 / /cut rw - ext4\n32\n\n33 1 1:1 / /no-dash rw ext4 x rw\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].type, "cgroup2");
  EXPECT_TRUE(mounts[0].has_option("nsdelegate"));
  EXPECT_EQ(mounts[1].root, "/a b");
  EXPECT_EQ(mounts[1].point, "/mnt/c\\d");
  EXPECT_TRUE(mounts[1].has_option("memory"));
  EXPECT_FALSE(mounts[1].has_option("mem"));
}

TEST(CpuList, Counted) {
  EXPECT_EQ(count_cpu_list("0-15\n"), 16);
  EXPECT_EQ(count_cpu_list("0-3,8,10-11\n"), 7);
  EXPECT_EQ(count_cpu_list("0"), 1);
  for (const char* bad : {"", "\n", "x", "3-1", "-1", "0-99999999999", "0-9223372036854775807"}) {
    EXPECT_EQ(count_cpu_list(bad), std::nullopt) << bad;
  }
}

TEST(KernelMessage, KillsOfAllKernels) {
  struct Line {
    const char* text;
    std::int32_t pid;
    const char* name;
    bool is_cgroup;
    std::int64_t anon_kib;
    std::optional<std::int64_t> uid;
  };
  const Line lines[] = {
      {"Out of memory: Killed process 123 (python) total-vm:900kB, anon-rss:800kB, file-rss:7kB, shmem-rss:6kB, "
       "UID:1000 "
       "pgtables:1kB oom_score_adj:0",
       123, "python", false, 800, 1000},
      {"Memory cgroup out of memory: Killed process 5 (a (b) c) total-vm:9kB, anon-rss:8kB, file-rss:0kB, "
       "shmem-rss:0kB, "
       "UID:0 pgtables:1kB oom_score_adj:-998",
       5, "a (b) c", true, 8, 0},
      {"Killed process 77 (java) total-vm:100kB, anon-rss:90kB, file-rss:0kB", 77, "java", false, 90, std::nullopt},
      {"Killed process 78 (x), UID 12, total-vm:100kB, anon-rss:91kB", 78, "x", false, 91, 12},
      {"Killed process 79, UID 13, (y) total-vm:100kB, anon-rss:92kB", 79, "y", false, 92, 13},
      {"Out of memory: Killed process 6 (total-vm:1kB, ) total-vm:50kB, anon-rss:40kB", 6, "total-vm:1kB, ", false, 40,
       std::nullopt},
  };
  for (const Line& line : lines) {
    const auto message = parse_kernel_message(line.text);
    ASSERT_TRUE(message && std::holds_alternative<OomKill>(*message)) << line.text;
    const auto& kill = std::get<OomKill>(*message);
    EXPECT_EQ(kill.pid, line.pid);
    EXPECT_EQ(kill.name, line.name);
    EXPECT_EQ(kill.is_cgroup, line.is_cgroup);
    EXPECT_EQ(kill.anon_rss_bytes, line.anon_kib * 1024);
    EXPECT_EQ(kill.uid, line.uid);
  }
}

TEST(KernelMessage, ReasonOfAKill) {
  const auto message = parse_kernel_message(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=abc,mems_allowed=0,oom_memcg=/a,b,task_memcg=/a,b/c,"
      "task=py,pid=1,x,pid=4242,uid=1000");
  ASSERT_TRUE(message && std::holds_alternative<OomReason>(*message));
  const auto& reason = std::get<OomReason>(*message);
  EXPECT_EQ(reason.constraint, "CONSTRAINT_MEMCG");
  EXPECT_EQ(reason.limit_cgroup, "/a,b");
  EXPECT_EQ(reason.task_cgroup, "/a,b/c");
  EXPECT_EQ(reason.name, "py,pid=1,x");
  EXPECT_EQ(reason.pid, 4242);
  EXPECT_EQ(reason.uid, 1000);
  const auto global = parse_kernel_message(
      "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/"
      "u,task=x,pid=9,uid=0");
  ASSERT_TRUE(global && std::holds_alternative<OomReason>(*global));
  EXPECT_EQ(std::get<OomReason>(*global).limit_cgroup, std::nullopt);
  EXPECT_EQ(std::get<OomReason>(*global).task_cgroup, "/u");
}

Xid xid_of(std::string_view text) {
  const auto message = parse_kernel_message(text);
  return message && std::holds_alternative<Xid>(*message) ? std::get<Xid>(*message) : Xid{};
}

TEST(KernelMessage, XidOfOldAndNewDrivers) {
  const Xid lost = xid_of("NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.");
  EXPECT_EQ(lost.pci, "0000:3b:00");
  EXPECT_EQ(lost.number, 79);
  EXPECT_EQ(lost.pid, 1234);
  EXPECT_EQ(lost.name, "python");
  EXPECT_EQ(lost.detail, "GPU has fallen off the bus.");
  const Xid unknown =
      xid_of("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
  EXPECT_EQ(unknown.number, 79);
  EXPECT_EQ(unknown.pid, std::nullopt);
  EXPECT_EQ(unknown.name, std::nullopt);
  EXPECT_EQ(unknown.detail, "GPU has fallen off the bus.");
  const Xid fault = xid_of("NVRM: Xid (PCI:0000:0a:00): 31, pid=7, Ch 00000008, intr 00000000. MMU Fault");
  EXPECT_EQ(fault.pid, 7);
  EXPECT_EQ(fault.name, std::nullopt);
  EXPECT_EQ(fault.detail, "Ch 00000008, intr 00000000. MMU Fault");
  const Xid old = xid_of("NVRM: Xid (0000:01:00): 13, 0002 00000000");
  EXPECT_EQ(old.pci, "0000:01:00");
  EXPECT_EQ(old.number, 13);
  EXPECT_EQ(old.detail, "0002 00000000");
}

TEST(KernelMessage, OthersAreNone) {
  for (const char* text :
       {"", "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.104.05", "NVRM: Xid (", "NVRM: Xid (PCI:0000:3b:00): ",
        "NVRM: Xid (PCI:0000:3b:00): -3", "oom-kill:constraint=", "oom-kill:constraint=X,task=a,pid=0,uid=0",
        "Killed process ", "Killed process 99999999999 (x) total-vm:1kB", "Killed process 1 (x)",
        "python[7]: I say Out of memory: Killed process 1 (x) total-vm:1kB",
        "Out of memory: Kill process 1 (x) score 900 or sacrifice child", "python invoked oom-killer: gfp_mask=0x0"}) {
    EXPECT_FALSE(parse_kernel_message(text)) << text;
  }
}

TEST(KmsgRecord, FieldsAndEscapes) {
  const auto record =
      parse_kmsg_record("6,339,5140900,-,caller=T1;a\\x0ab; c\\x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 0);
  EXPECT_EQ(record->sequence, 339);
  EXPECT_EQ(record->time_us, 5140900);
  EXPECT_EQ(record->message, "a\nb; c\\x");
  EXPECT_EQ(parse_kmsg_record("12,1,2,-;x")->facility, 1);
  for (const char* bad :
       {"", ";", "6,339;x", "6,339,-1,-;x", "-6,1,1,-;x", "6,1,99999999999999999999,-;x", "6,1,1,-"}) {
    EXPECT_FALSE(parse_kmsg_record(bad)) << bad;
  }
}

TEST(KernelLines, TimesOfDmesg) {
  const auto events = parse_kernel_lines(
      "[    1.000000] Linux version\n"
      "[  100.250000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
      "Dec  2 16:37:14 node1 kernel: [200.500000] Killed process 9 (x) total-vm:1kB\n"
      "NVRM: Xid (PCI:0000:3b:00): 13, without a time\n"
      "[99999999999999999999.000000] NVRM: Xid (PCI:0000:3b:00): 13, x\n"
      "[9223372036854.000000] NVRM: Xid (PCI:0000:3b:00): 14, x\n",
      1'000'000'000'000);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].time_ns, 1'100'250'000'000);
  EXPECT_EQ(events[0].text, "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  EXPECT_EQ(events[1].time_ns, 1'200'500'000'000);
  EXPECT_EQ(events[2].time_ns, INT64_MAX);
}

// A log whose records come one a read, as from the kernel.
class FollowedLog : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends_), 0); }
  void TearDown() override { ::close(ends_[1]); }
  void write(const std::string& record) {
    ASSERT_EQ(::write(ends_[1], record.data(), record.size()), static_cast<ssize_t>(record.size()));
  }
  int ends_[2] = {-1, -1};
};

TEST_F(FollowedLog, GivesWhatTheKernelSaidSince) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t now_ns = now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_us = now.tv_sec * std::int64_t{1'000'000} + now.tv_nsec / 1000;
  const auto record = [](int priority, std::int64_t time_us, const char* text) {
    return std::to_string(priority) + ",1," + std::to_string(time_us) + ",-;" + text + "\n";
  };
  KernelLog log(Descriptor{ends_[0]}, now_ns);
  EXPECT_TRUE(log.poll().empty());
  write(record(4, 0, "NVRM: Xid (PCI:0000:3b:00): 13, before we look"));
  write(record(12, now_us + 2'000'000, "NVRM: Xid (PCI:0000:3b:00): 14, from a program"));
  write(record(4, now_us + 2'000'000, "NVRM: Xid (PCI:0000:3b:00): 15, from the kernel"));
  write("rubbish");
  write(record(6, now_us + 3'000'000, "usb 1-1: new device"));
  const auto events = log.poll();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<Xid>(events[0].message).number, 15);
  EXPECT_NEAR(static_cast<double>(events[0].time_ns - now_ns), 2e9, 1e8);
  EXPECT_TRUE(log.poll().empty());
}

TEST(KernelLogFile, ThatIsNotThereIsOneSentence) {
  const auto log = KernelLog::open(std::nullopt, "/nonexistent/kmsg");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ExitCode::machine);
  EXPECT_NE(log.error().message.find("/nonexistent/kmsg"), std::string::npos);
}

}  // namespace
}  // namespace vramscope
