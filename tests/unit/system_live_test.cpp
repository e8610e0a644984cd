// src/system over the real /proc, with processes that the tests start.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "system/host.h"
#include "system/memory_events.h"
#include "system/process_table.h"
#include "system/process_tree.h"

namespace vramscope {
namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// A child that runs `body` until the test ends it.
class Child {
 public:
  explicit Child(const std::function<void()>& body = [] {}) {
    pid_ = ::fork();
    if (pid_ == 0) {
      body();
      while (true) ::pause();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::int32_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

const Process* sample_one(ProcessTable& table, std::int32_t pid, std::int64_t now_ns = 0) {
  const std::vector<std::int32_t> pids = {pid};
  const auto sample = table.sample(pids, now_ns);
  return sample.processes.empty() ? nullptr : sample.processes[0];
}

// Samples until the process is as wished, for five seconds at most.
const Process* wait_for(ProcessTable& table, std::int32_t pid, const std::function<bool(const Process&)>& wished) {
  const Process* process = nullptr;
  for (int i = 0; i < 500; ++i) {
    process = sample_one(table, pid);
    if (process == nullptr || wished(*process)) return process;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return process;
}

TEST(LiveProcess, Ourselves) {
  ProcessTable table;
  const Process* self = sample_one(table, ::getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->ppid, ::getppid());
  EXPECT_EQ(self->uid, ::geteuid());
  EXPECT_EQ(self->session_id, ::getsid(0));
  EXPECT_EQ(self->state, 'R');
  EXPECT_EQ(self->ns_pid, ::getpid());
  EXPECT_EQ(self->is_in_other_pid_namespace, false);
  ASSERT_TRUE(self->command && self->rss_bytes && self->start_time_ns && self->cgroup);
  EXPECT_NE(self->command->find("test"), std::string::npos);
  EXPECT_GT(self->rss_bytes, 100 * 1024);
  EXPECT_GE(self->threads, 1);
  const std::int64_t now_ns = clock_ns(CLOCK_REALTIME);
  EXPECT_LE(*self->start_time_ns, now_ns + 2'000'000'000);
  EXPECT_GT(*self->start_time_ns, now_ns - std::int64_t{86'400'000'000'000});
}

TEST(LiveProcess, StoppedThenZombieThenEnded) {
  Child child;
  ProcessTable table;
  const Process* process = wait_for(table, child.pid(), [](const Process& p) { return p.state == 'S'; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->state, 'S');
  const auto command = process->command;
  ::kill(child.pid(), SIGSTOP);
  process = wait_for(table, child.pid(), [](const Process& p) { return p.state == 'T'; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->state, 'T');
  ::kill(child.pid(), SIGKILL);
  process = wait_for(table, child.pid(), [](const Process& p) { return p.state == 'Z'; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->state, 'Z');
  EXPECT_EQ(process->command, command);  // known from before
  const ProcessKey key = process->key;
  const std::vector<std::int32_t> pids = {child.pid()};
  child.end();
  const auto sample = table.sample(pids, 0);
  EXPECT_TRUE(sample.processes.empty());
  EXPECT_EQ(sample.ended, (std::vector<ProcessKey>{key}));
  EXPECT_EQ(sample.absent, pids);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.open_descriptors(), 0u);
  EXPECT_TRUE(table.sample(pids, 0).ended.empty());  // told once
}

TEST(LiveProcess, ExecChangesNameAndCommand) {
  int start[2];
  ASSERT_EQ(::pipe(start), 0);
  Child child([&] {
    char byte = 0;
    if (::read(start[0], &byte, 1) == 1) ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  });
  ProcessTable table;
  const Process* process = sample_one(table, child.pid());
  ASSERT_NE(process, nullptr);
  EXPECT_NE(process->name, "sleep");
  const ProcessKey key = process->key;
  ASSERT_EQ(::write(start[1], "x", 1), 1);
  process = wait_for(table, child.pid(), [](const Process& p) { return p.command == "sleep 1000"; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->name, "sleep");
  EXPECT_EQ(process->command, "sleep 1000");
  EXPECT_EQ(process->key, key);
  ::close(start[0]);
  ::close(start[1]);
}

TEST(LiveProcess, ExecOfTheSameNameIsSeen) {
  int start[2];
  ASSERT_EQ(::pipe(start), 0);
  // A shell that replaces itself by a shell: the name stays.
  Child child([&] {
    ::dup2(start[0], 0);
    ::execl("/bin/sh", "sh", "-c", "read x; exec sh -c 'read y; true' second", nullptr);
    ::_exit(1);
  });
  ProcessTable table;
  const Process* process = wait_for(
      table, child.pid(), [](const Process& p) { return p.command && p.command->starts_with("sh -c read x"); });
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(process->name, "sh");
  ASSERT_EQ(::write(start[1], "\n", 1), 1);
  process = wait_for(table, child.pid(), [](const Process& p) { return p.command == "sh -c read y; true second"; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->command, "sh -c read y; true second");
  ::close(start[0]);
  ::close(start[1]);
}

TEST(LiveProcess, CpuShareOfABusyProcess) {
  Child child([] {
    while (true) {
      [[maybe_unused]] volatile int spin = 0;
    }
  });
  ProcessTable table;
  ASSERT_NE(sample_one(table, child.pid(), clock_ns(CLOCK_MONOTONIC)), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const Process* process = sample_one(table, child.pid(), clock_ns(CLOCK_MONOTONIC));
  ASSERT_NE(process, nullptr);
  ASSERT_TRUE(process->cpu_percent);
  EXPECT_GT(*process->cpu_percent, 5);  // the machine may be busy with others
  EXPECT_LT(*process->cpu_percent, 130);
}

TEST(LiveProcess, TreeOfChildren) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  Child child([&] {
    const pid_t grandchild = ::fork();
    if (grandchild > 0) {
      const std::int32_t pid = grandchild;
      if (::write(told[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    }
  });
  std::int32_t grandchild = 0;
  ASSERT_EQ(::read(told[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_EQ(descendants({}, child.pid()), (std::vector<std::int32_t>{grandchild}));
  EXPECT_EQ(descendants_by_parent({}, child.pid()), (std::vector<std::int32_t>{grandchild}));
  const auto all = descendants({}, ::getpid());
  EXPECT_TRUE(std::count(all.begin(), all.end(), grandchild) == 1 &&
              std::count(all.begin(), all.end(), child.pid()) == 1);

  ProcessTable table;
  const Process* process = sample_one(table, grandchild);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->first_ppid, child.pid());
  child.end();
  process = wait_for(table, grandchild, [](const Process& p) { return p.ppid != p.first_ppid; });
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(is_orphan({}, *process), true);
  ::kill(grandchild, SIGKILL);
  ::close(told[0]);
  ::close(told[1]);
}

TEST(LiveProcess, DescriptorsAreBounded) {
  std::vector<std::unique_ptr<Child>> children;
  std::vector<std::int32_t> pids;
  for (int i = 0; i < 12; ++i) {
    children.push_back(std::make_unique<Child>());
    pids.push_back(children.back()->pid());
  }
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{100}}) {
    ProcessTable table({}, limit);
    for (int round = 0; round < 40; ++round) {
      ASSERT_EQ(table.sample(pids, round).processes.size(), pids.size());
      ASSERT_EQ(table.open_descriptors(), std::min(limit, pids.size()));
    }
    // Other processes get the descriptors of those no longer asked for; later the latter are forgotten.
    const std::vector<std::int32_t> half(pids.begin(), pids.begin() + 6);
    for (int round = 0; round < 40; ++round) ASSERT_EQ(table.sample(half, round).processes.size(), half.size());
    EXPECT_EQ(table.size(), half.size());
    EXPECT_EQ(table.open_descriptors(), std::min(limit, half.size()));
  }
}

TEST(LiveProcess, WithoutAFreeDescriptorOlderOnesAreGivenUp) {
  Child first, second;
  const std::vector<std::int32_t> pids = {first.pid(), second.pid()};
  ProcessTable table({}, 100);
  ASSERT_EQ(table.sample(pids, 0).processes.size(), 2u);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit none{0, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto still = table.sample(pids, 1);  // open ones go on
  const std::vector<std::int32_t> fresh = {::getpid()};
  const auto refused = table.sample(fresh, 2);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(still.processes.size(), 2u);
  EXPECT_EQ(refused.unreadable, fresh);
  EXPECT_EQ(table.sample(pids, 3).processes.size(), 2u);
  EXPECT_EQ(table.sample(fresh, 4).processes.size(), 1u);
}

// Three descriptors are free: one process at a time needs them all to be read, so the first one's is given up.
TEST(LiveProcess, LastDescriptorsServeOneProcessAfterTheOther) {
  Child first, second;
  const std::vector<std::int32_t> pids = {first.pid(), second.pid()};
  ProcessTable table({}, 100);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  int limit = 0;
  for (int free = 0; free < 3; ++limit) {
    if (::fcntl(limit, F_GETFD) < 0) ++free;
  }
  const rlimit few{static_cast<rlim_t>(limit), old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto sample = table.sample(pids, 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  ASSERT_EQ(sample.processes.size(), 2u);
  for (const Process* process : sample.processes) {
    EXPECT_TRUE(process->uid) << process->key.pid;
    EXPECT_TRUE(process->command) << process->key.pid;
  }
}

TEST(LiveProcess, PidThatReturnsIsAnotherProcess) {
  // Pids do not return on demand, so a tree of files plays /proc.
  const auto root = std::filesystem::temp_directory_path() / ("vramscope-proc-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "7");
  // Both have one name, so that the start time alone tells them apart.
  const auto write = [&](const char* command, int start_ticks, int cpu_ticks) {
    std::ofstream(root / "7/stat") << "7 (same) S 1 7 7 0 0 0 0 0 0 0 " << cpu_ticks << " 0 0 0 20 0 1 0 "
                                   << start_ticks << " 0 1 0 0 0 0 0\n";
    std::ofstream(root / "7/cmdline") << command;
  };
  ProcessTable table({root.string(), "/nonexistent"});
  write("old", 100, 10);
  ASSERT_NE(sample_one(table, 7, 1'000'000'000), nullptr);
  write("new", 200, 60);
  const std::vector<std::int32_t> pids = {7};
  const auto sample = table.sample(pids, 2'000'000'000);
  EXPECT_EQ(sample.ended, (std::vector<ProcessKey>{{7, 100}}));
  EXPECT_TRUE(sample.absent.empty());
  ASSERT_EQ(sample.processes.size(), 1u);
  EXPECT_EQ(sample.processes[0]->key, (ProcessKey{7, 200}));
  EXPECT_EQ(sample.processes[0]->command, "new");
  EXPECT_EQ(sample.processes[0]->cpu_percent, std::nullopt);  // what the old one used is not its own
  write("new", 200, 110);
  const Process* again = sample_one(table, 7, 3'000'000'000);
  ASSERT_NE(again, nullptr);
  ASSERT_TRUE(again->cpu_percent);
  EXPECT_DOUBLE_EQ(*again->cpu_percent, 100.0 * 50 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  // Without time between them there is no share, and the one before is not shown again.
  again = sample_one(table, 7, 3'000'000'000);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->cpu_percent, std::nullopt);
  std::filesystem::remove_all(root);
}

// Of foreign processes the start of the stack is not told; then the name alone shows that another program runs.
TEST(LiveProcess, NewNameMeansANewCommand) {
  const auto root = std::filesystem::temp_directory_path() / ("vramscope-name-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "7");
  const auto write = [&](const char* name) {
    std::ofstream(root / "7/stat") << "7 (" << name << ") S 1 7 7 0 0 0 0 0 0 0 1 0 0 0 20 0 1 0 100 0 1 0 0 0 0 0\n";
    std::ofstream(root / "7/cmdline") << name << " --flag";
  };
  ProcessTable table({root.string(), "/nonexistent"});
  write("shell");
  ASSERT_NE(sample_one(table, 7), nullptr);
  write("python");
  const Process* process = sample_one(table, 7);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->name, "python");
  EXPECT_EQ(process->command, "python --flag");
  std::filesystem::remove_all(root);
}

// A process in uninterruptible sleep is not asked for its command until it wakes.
TEST(LiveProcess, CommandIsReadWhenUninterruptibleSleepEnds) {
  const auto root = std::filesystem::temp_directory_path() / ("vramscope-sleep-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "7");
  const auto write = [&](char state) {
    std::ofstream(root / "7/stat") << "7 (x) " << state << " 1 7 7 0 0 0 0 0 0 0 1 0 0 0 20 0 1 0 100 0 1 0 0 0 0 0\n";
  };
  std::ofstream(root / "7/cmdline") << "x y";
  ProcessTable table({root.string(), "/nonexistent"});
  write('D');
  const Process* process = sample_one(table, 7);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->command, std::nullopt);
  write('S');
  process = sample_one(table, 7);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->command, "x y");
  std::filesystem::remove_all(root);
}

TEST(LiveHost, IsThisMachine) {
  const MachineFacts host = read_machine();
  ASSERT_TRUE(host.boot_id && host.kernel && host.boot_time_ns);
  EXPECT_EQ(host.boot_id->size(), 36u);
  EXPECT_EQ(host.page_bytes, ::sysconf(_SC_PAGESIZE));
  if (host.cores) {
    EXPECT_EQ(host.cores, ::sysconf(_SC_NPROCESSORS_ONLN));
  }
  EXPECT_GT(read_host_memory().total_bytes, 1 << 20);
}

TEST(LiveHost, OwnMemoryCgroupWhereThereIsOne) {
  const auto cgroup = find_memory_cgroup({}, ::getpid());
  if (!cgroup) GTEST_SKIP() << "memory is not counted here";
  const auto memory = read_cgroup_memory(*cgroup);
  if (!memory) GTEST_SKIP() << "the root cgroup alone";
  ASSERT_FALSE(memory->levels.empty());
  if (memory->levels[0].current_bytes) {
    EXPECT_GT(memory->levels[0].current_bytes, 0);
  }
}

}  // namespace
}  // namespace vramscope
