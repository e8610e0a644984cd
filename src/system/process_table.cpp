#include "system/process_table.h"

#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "system/fields.h"
#include "system/host.h"

namespace vramscope {

namespace {

// A line of /proc/PID/stat: a name of at most 64 bytes and 52 numbers of at most 21.
constexpr std::size_t kStatBytes = 2048;
// Processes that nobody asked for in so many samples are forgotten.
constexpr std::uint64_t kForgetAfter = 16;
constexpr std::size_t kMostUsers = 4096;

ssize_t read_stat(int file, std::array<char, kStatBytes>& text) {
  ssize_t got = 0;
  do {
    got = ::pread(file, text.data(), text.size(), 0);
  } while (got < 0 && errno == EINTR);
  return got;
}

bool is_gone(int problem) {
  return problem == ESRCH || problem == ENOENT || problem == ENOTDIR;
}

bool lacks_descriptors(int problem) {
  return problem == EMFILE || problem == ENFILE;
}

// With hidepid=2 a foreign process looks as if it were not there; signal 0 tells.
bool is_hidden(const Roots& roots, std::int32_t pid) {
  return roots.proc == "/proc" && ::kill(pid, 0) != 0 && errno == EPERM;
}

void sort_unique(std::vector<std::int32_t>& pids) {
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

}  // namespace

std::size_t process_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 16;
  return std::clamp<std::size_t>(static_cast<std::size_t>(limit.rlim_cur / 4), 16, 1024);
}

ProcessTable::ProcessTable(Roots roots, std::size_t max_descriptors)
    : roots_(std::move(roots)), max_descriptors_(max_descriptors) {
  const MachineFacts host = read_machine(roots_);
  page_bytes_ = host.page_bytes;
  tick_ns_ = 1'000'000'000 / host.ticks_per_second;
  boot_time_ns_ = host.boot_time_ns;
  own_pid_namespace_ = host.pid_namespace;
}

ProcessSample ProcessTable::sample(std::span<const std::int32_t> pids, std::int64_t now_ns) {
  ++round_;
  ProcessSample sample;
  sample.processes.reserve(pids.size());
  for (const std::int32_t pid : pids) {
    switch (look(pid, now_ns, sample)) {
      case Look::ok:
      case Look::ended:
        break;
      case Look::absent:
        sample.absent.push_back(pid);
        break;
      case Look::unreadable:
        sample.unreadable.push_back(pid);
        break;
    }
  }
  sort_unique(sample.absent);
  sort_unique(sample.unreadable);
  if (round_ % kForgetAfter == 0) forget_unasked();
  return sample;
}

ProcessTable::Look ProcessTable::look(std::int32_t pid, std::int64_t now_ns, ProcessSample& sample) {
  if (pid <= 0) return Look::absent;
  if (const auto known = entries_.find(pid); known != entries_.end()) {
    Entry& entry = known->second;
    if (entry.round == round_) return Look::ok;  // one process on several GPUs
    const ProcessKey key = entry.process.key;
    const Look result = refresh(entry, now_ns);
    if (result == Look::ok) {
      entry.round = round_;
      sample.processes.push_back(&entry.process);
      return result;
    }
    release(entry);
    entries_.erase(known);
    if (result == Look::unreadable) return result;
    sample.ended.push_back(key);
  }
  Entry fresh;
  const Look result = load(pid, now_ns, fresh);
  if (result != Look::ok) return result;
  fresh.round = round_;
  const auto placed = entries_.emplace(pid, std::move(fresh)).first;
  sample.processes.push_back(&placed->second.process);
  return result;
}

// The next sample of a known process. `ended` also when the pid is another process now.
ProcessTable::Look ProcessTable::refresh(Entry& entry, std::int64_t now_ns) {
  const std::int32_t pid = entry.process.key.pid;
  Descriptor by_path;
  if (entry.stat) {
    recent_.splice(recent_.end(), recent_, entry.place_in_recent);
  } else {
    by_path = open(AT_FDCWD, (roots_.proc + "/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY);
    if (!by_path) return is_gone(errno) && !is_hidden(roots_, pid) ? Look::ended : Look::unreadable;
  }
  std::array<char, kStatBytes> text;
  const ssize_t got = read_stat(entry.stat ? entry.stat.get() : by_path.get(), text);
  if (got < 0) return is_gone(errno) ? Look::ended : Look::unreadable;
  const auto stat = parse_process_stat({text.data(), static_cast<std::size_t>(got)});
  if (!stat) return Look::unreadable;
  if (stat->start_ticks != entry.process.key.start_ticks) return Look::ended;

  const bool is_other_program = stat->name != entry.process.name ||
                                (stat->stack_start && entry.stack_start && stat->stack_start != entry.stack_start) ||
                                (entry.are_facts_pending && stat->state != 'D');
  if (is_other_program && stat->state != 'Z' && stat->state != 'X') {
    release(entry);
    return load(pid, now_ns, entry);
  }
  if (by_path) keep(entry, std::move(by_path));
  apply(*stat, now_ns, entry);
  return Look::ok;
}

// Reads everything. An entry that already holds a process keeps what only time tells; another process: `ended`.
ProcessTable::Look ProcessTable::load(std::int32_t pid, std::int64_t now_ns, Entry& entry) {
  // All files through one descriptor of the folder, so that they are of one process.
  const Descriptor folder = open(AT_FDCWD, (roots_.proc + "/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY);
  Descriptor stat_file;
  if (folder) stat_file = open(folder.get(), "stat", O_RDONLY);
  if (!stat_file) return is_gone(errno) && !is_hidden(roots_, pid) ? Look::absent : Look::unreadable;
  std::array<char, kStatBytes> text;
  const ssize_t got = read_stat(stat_file.get(), text);
  if (got < 0) return is_gone(errno) ? Look::absent : Look::unreadable;
  const auto stat = parse_process_stat({text.data(), static_cast<std::size_t>(got)});
  if (!stat) return Look::unreadable;

  const ProcessKey key{pid, stat->start_ticks};
  if (entry.process.key.pid == pid && entry.process.key != key) return Look::ended;
  entry.process.key = key;
  if (!entry.process.first_ppid) entry.process.first_ppid = stat->ppid;
  if (boot_time_ns_) {
    std::int64_t start = 0;
    const auto since_boot = product(stat->start_ticks, tick_ns_);
    if (since_boot && !__builtin_add_overflow(*boot_time_ns_, *since_boot, &start)) entry.process.start_time_ns = start;
  }
  apply(*stat, now_ns, entry);
  read_facts(folder.get(), entry);
  keep(entry, std::move(stat_file));
  return Look::ok;
}

void ProcessTable::apply(const ProcessStat& stat, std::int64_t now_ns, Entry& entry) {
  Process& process = entry.process;
  if (process.name != stat.name) process.name.assign(stat.name);
  process.state = stat.state;
  process.ppid = stat.ppid;
  process.session_id = stat.session_id;
  process.threads = stat.threads;
  process.rss_bytes = stat.rss_pages ? product(*stat.rss_pages, page_bytes_) : std::nullopt;
  const auto cpu = stat.cpu_ticks ? product(*stat.cpu_ticks, tick_ns_) : std::nullopt;
  process.cpu_percent.reset();
  if (cpu && process.cpu_time_ns && entry.sampled_ns && now_ns > *entry.sampled_ns && *cpu >= *process.cpu_time_ns) {
    process.cpu_percent = 100.0 * static_cast<double>(*cpu - *process.cpu_time_ns) /
                          (static_cast<double>(now_ns) - static_cast<double>(*entry.sampled_ns));
  }
  process.cpu_time_ns = cpu;
  entry.sampled_ns = now_ns;
  if (stat.stack_start) entry.stack_start = stat.stack_start;
}

void ProcessTable::read_facts(int folder, Entry& entry) {
  Process& process = entry.process;
  auto status_text = read_file_at(folder, "status");
  if (!status_text && lacks_descriptors(errno) && evict(true)) status_text = read_file_at(folder, "status");
  // The kernel may wait for the address space of a process in uninterruptible sleep, and so would we.
  const bool is_asleep = process.state == 'D';
  entry.are_facts_pending = is_asleep || (!status_text && lacks_descriptors(errno));
  if (status_text) {
    const ProcessStatus status = parse_process_status(*status_text);
    process.uid = status.effective_uid;
    process.ns_pid = status.ns_pid;
    if (status.namespace_depth) process.is_in_other_pid_namespace = *status.namespace_depth > 1;
  }
  process.user = process.uid ? user_name(*process.uid) : std::nullopt;
  if (!is_asleep) {
    const auto arguments = read_file_at(folder, "cmdline", kCommandBytes);
    process.command = arguments ? join_arguments(*arguments) : std::nullopt;
  }
  if (const auto text = read_file_at(folder, "cgroup")) {
    const auto lines = parse_cgroup_file(*text);
    process.cgroup = main_cgroup_path(lines);
    process.placement = placement_of(lines);
  }
  if (const auto target = read_link_at(folder, "ns/pid")) process.pid_namespace = parse_namespace_link(*target);
  // The link is surer than the depth, which is told from the namespace of /proc; reading it takes more permission.
  if (process.pid_namespace && own_pid_namespace_) {
    process.is_in_other_pid_namespace = *process.pid_namespace != *own_pid_namespace_;
  }
}

// Opens, and gives up an older descriptor when there is none left.
Descriptor ProcessTable::open(int folder, const char* path, int flags) {
  Descriptor file(::openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK));
  if (!file && lacks_descriptors(errno) && evict(true)) {
    file = Descriptor(::openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK));
  }
  return file;
}

// Closes the least recently used descriptor. Those of this round stay unless asked: with more processes than
// descriptors, closing them in turn would leave none open for the next round.
bool ProcessTable::evict(bool also_of_this_round) {
  if (recent_.empty()) return false;
  Entry& oldest = entries_.at(recent_.front());
  if (oldest.round == round_ && !also_of_this_round) return false;
  release(oldest);
  return true;
}

void ProcessTable::keep(Entry& entry, Descriptor stat) {
  while (recent_.size() >= max_descriptors_) {
    if (!evict(false)) return;
  }
  entry.stat = std::move(stat);
  entry.place_in_recent = recent_.insert(recent_.end(), entry.process.key.pid);
}

void ProcessTable::release(Entry& entry) {
  if (!entry.stat) return;
  recent_.erase(entry.place_in_recent);
  entry.stat.reset();
}

void ProcessTable::forget_unasked() {
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (round_ - it->second.round < kForgetAfter) {
      ++it;
      continue;
    }
    release(it->second);
    it = entries_.erase(it);
  }
}

std::optional<std::string> ProcessTable::user_name(std::int64_t uid) {
  if (const auto known = users_.find(uid); known != users_.end()) return known->second;
  if (users_.size() >= kMostUsers) users_.clear();
  std::optional<std::string> name;
  if (uid <= static_cast<std::int64_t>(static_cast<uid_t>(-2))) {
    std::vector<char> space(1024);
    passwd entry{};
    passwd* found = nullptr;
    int problem = 0;
    while ((problem = ::getpwuid_r(static_cast<uid_t>(uid), &entry, space.data(), space.size(), &found)) == ERANGE &&
           space.size() < 65536) {
      space.resize(space.size() * 4);
    }
    if (lacks_descriptors(problem)) return std::nullopt;  // may be known next time
    if (problem == 0 && found != nullptr && found->pw_name != nullptr) name = found->pw_name;
  }
  users_.emplace(uid, name);
  return name;
}

}  // namespace vramscope
