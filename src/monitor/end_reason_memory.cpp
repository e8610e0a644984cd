// Memory that ran out: of the machine, a cgroup, a GPU.
#include <algorithm>
#include <csignal>

#include "analysis/oom_cause.h"
#include "monitor/end_reason_parts.h"
#include "rules/arguments.h"
#include "rules/oom_messages.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLinesAfterFailure = 50;  // a traceback and what other ranks say

OutOfMemory host_event() {
  OutOfMemory event;
  event.framework = "linux";
  return event;
}

// The advice that the rule out-of-memory gives, so that both say the same.
void advise(EndReason& reason, const OutOfMemory& event) {
  const ExplainedOom oom{event, explain_oom(event, {}), nullptr, 0};
  reason.fixes = oom_advice(oom);
  reason.fix_command = oom_command(oom);
  reason.doc = "out-of-memory";
}

bool rose(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& after) {
  return before && after && *after > *before;
}

const CgroupMemoryLevel* level_of(const CgroupMemory& memory, const std::string& folder) {
  for (const CgroupMemoryLevel& level : memory.levels) {
    if (level.folder == folder) return &level;
  }
  return nullptr;
}

// A level at which a counter rose.
struct Risen {
  const CgroupMemoryLevel* before = nullptr;
  const CgroupMemoryLevel* after = nullptr;
  bool is_own = false;  // the processes' own cgroup, not one above it
};

Risen find_risen(const EndFacts& facts, std::optional<std::int64_t> CgroupMemoryLevel::*counter) {
  for (const WatchedCgroup& watched : facts.cgroups) {
    for (const CgroupMemoryLevel& after : watched.after.levels) {
      const CgroupMemoryLevel* before = level_of(watched.before, after.folder);
      if (before == nullptr || !rose(before->*counter, after.*counter)) continue;
      return {before, &after, !watched.cgroup.folders.empty() && watched.cgroup.folders.front() == after.folder};
    }
  }
  return {};
}

Value transition(std::int64_t before, std::int64_t after) {
  return text_value(std::to_string(before) + " -> " + std::to_string(after));
}

Message in_file(const std::string& path) {
  return where_named(path);
}

// The counter, and whose limit it was as far as the counters tell.
void add_cgroup(EndReason& reason, const EndFacts& facts, const Risen& kills) {
  reason.evidence.push_back({N_("processes killed for want of memory"),
                             transition(*kills.before->oom_kills, *kills.after->oom_kills),
                             in_file(kills.after->folder)});
  Risen limit = find_risen(facts, &CgroupMemoryLevel::limit_misses);
  if (limit.after == nullptr || !limit.after->limit_bytes) limit = kills;
  if (!limit.after->limit_bytes) return;
  reason.evidence.push_back(
      {N_("its memory limit"), bytes_value(*limit.after->limit_bytes), in_file(limit.after->folder)});
  reason.summary = {N_("The kernel killed it for want of memory: its cgroup's limit of {limit} was reached."),
                    {{"limit", bytes_value(*limit.after->limit_bytes)}}};
}

// The kernel's own words about one of its processes.
const KernelEvent* kill_in_log(const EndView& view, const OomKill*& kill) {
  if (!view.facts.are_pids_the_kernels) return nullptr;
  for (const KernelEvent& event : view.facts.kernel) {
    kill = std::get_if<OomKill>(&event.message);
    if (kill == nullptr || !view.has_process(kill->pid)) continue;
    // A helper that was killed long before was survived.
    const bool is_recent = view.facts.end_real_ns - event.time_ns <= 60 * kSecondNs;
    if (kill->pid == view.facts.end.pid || is_recent) return &event;
  }
  return nullptr;
}

EndReason from_log(const EndView& view, const KernelEvent& event, const OomKill& kill) {
  EndReason reason;
  reason.kind = EndKind::host_out_of_memory;
  reason.summary = {kill.is_cgroup ? N_("The kernel killed it for want of memory: the limit of its cgroup was reached.")
                                   : N_("The kernel killed it for want of memory: the machine had none left."),
                    {}};
  reason.worker = view.worker(kill.pid, SIGKILL);
  reason.evidence.push_back(from_kernel(event.text));
  if (kill.anon_rss_bytes) {
    reason.evidence.push_back(
        {N_("memory of its own when it was killed"), bytes_value(*kill.anon_rss_bytes), {N_("the kernel's log"), {}}});
  }
  return reason;
}

// A message counts when it belongs to the exception that ended the program, or nothing says that it was survived.
bool is_last_word(const EndView& view, const OutputOom& oom) {
  if (!view.is_recent(oom.time_ns)) return false;
  if (view.has_ranks || view.exception == nullptr) return true;
  const OutputSign& exception = *view.exception;
  return oom.stream == exception.stream && oom.last_line >= exception.first_line;
}

// Of one process the last; of several that wait for each other the first: the others followed.
std::optional<OutputOom> own_message(const EndView& view, bool of_host) {
  std::optional<OutputOom> found;
  if (view.facts.output == nullptr) return found;
  for (const OutputOom& oom : view.facts.output->out_of_memory()) {
    // What a shell or the kernel says of a killed process is no word of the program's own.
    if (is_out_of_host_memory(oom.event) != of_host || oom.event.framework == "linux" || !is_last_word(view, oom)) {
      continue;
    }
    if (found && (view.has_ranks ? oom.time_ns >= found->time_ns : oom.time_ns < found->time_ns)) continue;
    found = oom;
  }
  return found;
}

bool is_memory_exception(const OutputSign* sign) {
  return sign != nullptr && (sign->type == "MemoryError" || sign->type.find("ArrayMemoryError") != std::string::npos);
}

void add_frame(EndReason& reason, const EndView& view) {
  if (view.exception == nullptr || view.exception->frame.empty()) return;
  reason.evidence.push_back(from_output(N_("place in the program"), view.exception->frame, view.exception->line));
}

// In a container the driver names processes by numbers that mean nothing here: each may be one of them.
bool may_be_own(const EndFacts& facts, const HolderHistory& holder) {
  const bool is_hidden = !facts.are_pids_the_kernels && !facts.is_played_back && holder.key.start_ticks == 0;
  return is_hidden || facts.names.count(holder.key.pid) != 0;
}

// From where it stood a minute ago to its highest of the last seconds.
std::int64_t grown_bytes(const Monitor& monitor, const HolderHistory& holder) {
  const std::int64_t minute_ago_ns = monitor.last_time_ns() - 60 * kSecondNs;
  const auto highest = holder.memory_used.range_since(monitor.last_time_ns() - 10 * kSecondNs);
  const auto points = holder.memory_used.points_since(minute_ago_ns);
  if (!highest || points.empty()) return 0;
  // What was there when the watch began may have been there for long.
  const bool is_new = holder.first_seen_ns > std::max(minute_ago_ns, monitor.first_time_ns());
  return is_new ? highest->second : highest->second - points.front().value;
}

}  // namespace

std::optional<EndReason> killed_for_host_memory(const EndView& view) {
  const EndFacts& facts = view.facts;
  const OomKill* kill = nullptr;
  const KernelEvent* event = kill_in_log(view, kill);
  const Risen risen = find_risen(facts, &CgroupMemoryLevel::oom_kills);
  const bool has_host_risen = rose(facts.host_before.oom_kills, facts.host_after.oom_kills);
  // Of a process that somebody else started nobody tells us whether it was killed.
  const bool may_be_killed = view.is_killed() || !facts.end.is_known();
  if (event == nullptr && risen.after == nullptr && !(has_host_risen && may_be_killed)) return std::nullopt;
  // Somebody was killed; that it was one of these processes is told by nothing, and they give another reason.
  if (event == nullptr && !view.is_killed() && !view.signs.empty()) return std::nullopt;
  EndReason reason;
  if (event != nullptr) {
    reason = from_log(view, *event, *kill);
  } else {
    reason.kind = EndKind::host_out_of_memory;
    reason.certainty = risen.is_own && view.is_killed() ? Certainty::certain : Certainty::likely;
    reason.summary = {N_("The kernel killed a process for want of memory just then."), {}};
    if (view.signal() != SIGKILL) reason.worker = view.worker();
  }
  if (risen.after != nullptr) add_cgroup(reason, facts, risen);
  if (has_host_risen) {
    reason.evidence.push_back({N_("processes killed on the whole machine"),
                               transition(*facts.host_before.oom_kills, *facts.host_after.oom_kills),
                               in_file("/proc/vmstat")});
  }
  if (view.is_killed() && view.signal() != SIGKILL) {
    if (const OutputSign* sign = view.first(SignKind::worker)) {
      reason.evidence.push_back(from_output(N_("its own words"), sign->text, sign->line));
    }
  }
  advise(reason, host_event());
  return reason;
}

std::optional<EndReason> own_gpu_out_of_memory(const EndView& view) {
  const auto oom = own_message(view, false);
  if (!oom) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::gpu_out_of_memory;
  // A kill is another's doing, whatever was said before it.
  // So is what came long after it: a program that went on had caught it.
  const bool went_on = view.facts.output->line_count(oom->stream) - oom->last_line > kLinesAfterFailure;
  reason.certainty = view.signal() == SIGKILL || went_on ? Certainty::likely : Certainty::certain;
  const ExplainedOom explained{oom->event, explain_oom(oom->event, {}), nullptr, 0};
  reason.summary = {N_("Out of GPU memory."), {}};
  reason.details.push_back(oom_summary(explained));
  reason.evidence.push_back(from_output(N_("its own words"), oom->event.text, oom->last_line));
  if (oom->event.count > 1) {
    reason.evidence.push_back({N_("times that it was said"), count_value(oom->event.count), {N_("its output"), {}}});
  }
  add_frame(reason, view);
  advise(reason, oom->event);
  if (view.has_ranks && view.exception != nullptr && view.exception->rank) {
    EndedWorker worker;
    for (const OutputSign* sign : view.signs) {
      if (sign->kind == SignKind::exception && sign->line == oom->last_line) worker.rank = sign->rank;
    }
    if (worker.rank) reason.worker = worker;
  }
  return reason;
}

std::optional<EndReason> own_host_out_of_memory(const EndView& view) {
  const auto oom = own_message(view, true);
  const OutputSign* words = view.first(SignKind::no_memory);
  if (view.exception != nullptr && words != nullptr && words->line < view.exception->first_line) words = nullptr;
  const OutputSign* exception = is_memory_exception(view.exception) ? view.exception : nullptr;
  if (!oom && words == nullptr && exception == nullptr) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::host_out_of_memory;
  // An allocation that fails may have had an impossible size: then the memory was never there to be had.
  reason.certainty = oom || exception != nullptr ? Certainty::certain : Certainty::likely;
  reason.summary = {N_("It asked for host memory and got none."), {}};
  if (oom) {
    reason.evidence.push_back(from_output(N_("its own words"), oom->event.text, oom->last_line));
  } else {
    const OutputSign& sign = exception != nullptr ? *exception : *words;
    reason.evidence.push_back(from_output(N_("its own words"), sign.text, sign.line));
  }
  add_frame(reason, view);
  const auto& host = view.facts.host_after;
  if (host.available_bytes) {
    reason.evidence.push_back(
        {N_("host memory available now"), bytes_value(*host.available_bytes), in_file("/proc/meminfo")});
  }
  advise(reason, oom ? oom->event : host_event());
  return reason;
}

std::optional<EndReason> shared_memory_full(const EndView& view) {
  const OutputSign* found = nullptr;
  for (const OutputSign* sign : view.signs) {
    const bool is_bus = sign->kind == SignKind::worker && sign->signal == SIGBUS;
    if (is_bus || sign->text.find("out of shared memory") != std::string::npos) found = sign;
  }
  if (found == nullptr) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::shared_memory;
  reason.certainty = Certainty::likely;
  reason.summary = {N_("Shared memory (/dev/shm) was full, and a worker got {signal} from it."),
                    {{"signal", text_value("SIGBUS")}}};
  reason.evidence.push_back(from_output(N_("its own words"), found->text, found->line));
  if (found->pid) reason.worker = view.worker(*found->pid, SIGBUS);
  reason.fixes = {{N_("Give the container more shared memory (docker run --shm-size=8g, or --ipc=host; in Kubernetes "
                      "an emptyDir of medium Memory at /dev/shm)."),
                   {}},
                  {N_("Use fewer data loader workers (num_workers) or a smaller prefetch_factor."), {}}};
  return reason;
}

const DeviceHistory* filled_device(const EndFacts& facts) {
  if (facts.monitor == nullptr) return nullptr;
  constexpr double kFull = 0.97;
  constexpr std::int64_t kLeastRise = std::int64_t{16} << 20;  // less is a rhythm
  const Monitor& monitor = *facts.monitor;
  for (const DeviceHistory& device : monitor.devices()) {
    const auto range = device.memory_used.range_since(monitor.last_time_ns() - 10 * kSecondNs);
    if (!device.memory_total_bytes || !range) continue;
    const std::int64_t usable = *device.memory_total_bytes - device.memory_reserved_bytes.value_or(0);
    if (static_cast<double>(range->second) < kFull * static_cast<double>(usable)) continue;
    std::int64_t own = 0, others = 0;  // most that one process rose by
    for (const HolderHistory& holder : monitor.holders()) {
      if (holder.device_uuid != device.uuid) continue;
      std::int64_t& most = may_be_own(facts, holder) ? own : others;
      most = std::max(most, grown_bytes(monitor, holder));
    }
    if (own >= kLeastRise && own >= others) return &device;
  }
  return nullptr;
}

std::optional<EndReason> gpu_full_by_curve(const EndView& view) {
  const DeviceHistory* device = filled_device(view.facts);
  if (device == nullptr || view.signal() == SIGKILL) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::gpu_out_of_memory;
  reason.certainty = Certainty::likely;
  const auto range = device->memory_used.range_since(view.facts.monitor->last_time_ns() - 10 * kSecondNs);
  reason.summary = {N_("Out of GPU memory: GPU {gpu} was full just before, and its own memory had risen most."),
                    {{"gpu", {std::int64_t{device->index}, Unit::none}}}};
  const Message where = {N_("GPU {gpu}, its last 10 seconds"), {{"gpu", {std::int64_t{device->index}, Unit::none}}}};
  reason.evidence.push_back({N_("memory in use"), bytes_value(range->second), where});
  reason.evidence.push_back({N_("memory of the device"), bytes_value(*device->memory_total_bytes), where});
  OutOfMemory event;
  event.framework = "cuda";
  event.device = device->index;
  event.total_bytes = device->memory_total_bytes;
  advise(reason, event);
  if (reason.fixes.empty()) reason.fixes.push_back({N_("Use a smaller batch."), {}});
  return reason;
}

std::optional<EndCurve> end_curve(const EndFacts& facts) {
  if (facts.monitor == nullptr) return std::nullopt;
  const Monitor& monitor = *facts.monitor;
  const DeviceHistory* device = filled_device(facts);
  for (auto holder = monitor.holders().rbegin(); device == nullptr && holder != monitor.holders().rend(); ++holder) {
    if (may_be_own(facts, *holder)) device = monitor.find_device(holder->device_uuid);
  }
  if (device == nullptr) return std::nullopt;
  EndCurve curve;
  curve.gpu = device->index;
  curve.gpu_uuid = device->uuid;
  curve.total_bytes = device->memory_total_bytes;
  for (const TimedValue& point : device->memory_used.points_since(monitor.last_time_ns() - 60 * kSecondNs)) {
    curve.points.emplace_back(point.time_ns - monitor.last_time_ns(), point.value);
  }
  if (curve.points.size() < 2) return std::nullopt;
  return curve;
}

}  // namespace vramscope
