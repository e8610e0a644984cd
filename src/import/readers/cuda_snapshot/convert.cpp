#include "import/readers/cuda_snapshot/convert.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "fmt/format.h"
#include "formats/cuda_snapshot.h"
#include "import/readers/cuda_snapshot/segments.h"

namespace vramscope::pickle {

namespace {

// Rows of the logs, in the order in which the devices list them.
struct LogPlan {
  std::int64_t device = 0;
  std::vector<std::uint32_t> rows;
};

class Conversion {
 public:
  Conversion(Store& store, Recorder& recorder, std::int64_t offset, Source& source)
      : store_(store), recorder_(recorder), offset_(offset), source_(source) {}
  void run(Value root);

 private:
  void read_traces(Value list, bool is_host);
  void add_rows(Value list, std::int64_t device);
  void give_logs(Devices& devices);
  void read_annotations(Value list);
  void read_settings(Value value, const std::string& prefix, int depth);
  void count_events();

  Store& store_;
  Recorder& recorder_;
  std::int64_t offset_;
  Source& source_;
  MemoryState state_;
  std::vector<LogPlan> plans_;
  absl::flat_hash_set<std::uint64_t> seen_;  // lists of entries
  std::size_t settings_seen_ = 0;
};

void Conversion::add_rows(Value list, std::int64_t device) {
  LogPlan plan;
  plan.device = device;
  const Items items = store_.items(list);
  if (items.size > 0 && !seen_.insert(list.payload()).second) {
    recorder_.note("list_used_twice", offset_);
    return;
  }
  plan.rows.reserve(items.size);
  for (const Value& item : items) {
    const Value entry = store_.resolve(item);
    if (entry.is(Tag::entry)) {
      plan.rows.push_back(entry.id());
    } else if (!store_.is_dict(entry)) {
      recorder_.note("wrong_type", offset_);
    } else if (const Items pairs = store_.items(entry); pairs.size > 0) {
      plan.rows.push_back(recorder_.add_entry(pairs, offset_));
    }
  }
  plans_.push_back(std::move(plan));
}

// A list of lists of entries, one a device; or the entries of one.
void Conversion::read_traces(Value list, bool is_host) {
  list = store_.resolve(list);
  if (list.is_absent() || list == kNothing) return;
  if (!store_.is_list(list)) {
    recorder_.note("wrong_type", offset_);
    return;
  }
  const Items devices = store_.items(list);
  const bool is_flat = devices.size > 0 && !store_.is_list(store_.resolve(devices.data[0])) &&
                       store_.resolve(devices.data[0]) != kNothing;
  if (is_flat) {
    add_rows(list, is_host ? -1 : 0);
    return;
  }
  for (std::uint32_t i = 0; i < devices.size; ++i) {
    const Value trace = store_.resolve(devices.data[i]);
    // No frames and no entries: a list of an entry of its own may look like a stack.
    if (!store_.is_list(trace)) {
      recorder_.note("wrong_type", offset_);
    } else if (i >= Devices::kMost) {
      recorder_.note("odd_device", offset_);
    } else {
      add_rows(trace, is_host ? -1 : std::int64_t{i});
    }
  }
}

// The devices' logs lie one behind the other in the file: the longest one keeps the block, the others are copied.
template <typename T>
void give_column(Column<T> AllocatorLog::*column, AllocatorLog& rows, const std::vector<LogPlan>& plans,
                 const LogPlan* kept, Devices& devices) {
  Column<T>& from = rows.*column;
  for (const LogPlan& plan : plans) {
    AllocatorDevice* device = devices.at(plan.device);
    if (device == nullptr || &plan == kept) continue;
    Column<T>& out = device->log.*column;
    out.reserve(out.size() + plan.rows.size());
    for (const std::uint32_t row : plan.rows) out.push_back(from[row]);
  }
  if (kept != nullptr) {
    if (kept->rows[0] > 0) std::memmove(from.data(), from.data() + kept->rows[0], kept->rows.size() * sizeof(T));
    from.resize(kept->rows.size());
    (devices.at(kept->device)->log.*column).swap(from);
  }
  from.clear();
}

bool is_one_run(const std::vector<std::uint32_t>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != rows[0] + i) return false;
  }
  return !rows.empty();
}

void Conversion::give_logs(Devices& devices) {
  AllocatorLog& rows = recorder_.rows();
  const LogPlan* kept = nullptr;
  std::map<std::int64_t, int> lists;
  for (const LogPlan& plan : plans_) ++lists[plan.device];
  for (const LogPlan& plan : plans_) {
    if (devices.at(plan.device) == nullptr) {
      recorder_.note("odd_device", offset_);
    } else if (lists[plan.device] == 1 && (kept == nullptr || plan.rows.size() > kept->rows.size()) &&
               is_one_run(plan.rows)) {
      kept = &plan;
    }
  }
  give_column(&AllocatorLog::action, rows, plans_, kept, devices);
  give_column(&AllocatorLog::time_ns, rows, plans_, kept, devices);
  give_column(&AllocatorLog::address, rows, plans_, kept, devices);
  give_column(&AllocatorLog::bytes, rows, plans_, kept, devices);
  give_column(&AllocatorLog::stream, rows, plans_, kept, devices);
  give_column(&AllocatorLog::stack, rows, plans_, kept, devices);
  give_column(&AllocatorLog::note, rows, plans_, kept, devices);
}

void Conversion::read_annotations(Value list) {
  for (const Value& item : store_.items(store_.resolve(list))) {
    const Value mark = store_.resolve(item);
    if (!store_.is_dict(mark)) {
      recorder_.note("wrong_type", offset_);
      continue;
    }
    const Items pairs = store_.items(mark);
    if (pairs.size == 0) continue;
    AllocatorAnnotation made;
    const std::int64_t time_us = recorder_.integer_of(Store::find(pairs, Key::time_us), offset_);
    if (time_us == kUnknown || __builtin_mul_overflow(time_us, std::int64_t{1000}, &made.time_ns)) {
      made.time_ns = kUnknown;
    }
    made.name = recorder_.text_of(Store::find(pairs, Key::name));
    const std::int64_t device = recorder_.integer_of(Store::find(pairs, Key::device), offset_);
    made.device = device >= 0 && device <= 0x7fffffff ? static_cast<std::int32_t>(device) : -1;
    made.is_begin = store_.text_of(Store::find(pairs, Key::stage)) == "START";
    state_.annotations.push_back(made);
  }
}

void Conversion::read_settings(Value value, const std::string& prefix, int depth) {
  constexpr int kMostDepth = 4;
  constexpr std::size_t kMost = 4096;
  const Items pairs = store_.items(value);
  for (std::uint32_t i = 0; i + 1 < pairs.size; i += 2) {
    if (++settings_seen_ > kMost) {
      recorder_.note("too_many_settings", offset_);
      return;
    }
    const std::string name =
        prefix + std::string(source_.trace.strings.view(recorder_.text_of(pairs.data[i]))).substr(0, 256);
    const Value held = store_.resolve(pairs.data[i + 1]);
    if (store_.is_dict(held) && depth < kMostDepth) {
      read_settings(held, name + ".", depth + 1);
    } else {
      state_.settings[name] =
          held == kNothing ? "None" : std::string(source_.trace.strings.view(recorder_.text_of(held)));
    }
  }
}

void Conversion::count_events() {
  std::map<std::string, std::int64_t, std::less<>> counts;
  const auto see = [&](std::int64_t time_ns) {
    if (time_ns == kUnknown) return;
    source_.start_ns = std::min(source_.start_ns.value_or(time_ns), time_ns);
    source_.end_ns = std::max(source_.end_ns.value_or(time_ns), time_ns);
  };
  constexpr std::size_t kActions = static_cast<std::size_t>(AllocatorAction::other) + 1;
  for (const AllocatorDevice& device : state_.devices) {
    std::int64_t known[kActions] = {};
    const AllocatorLog& log = device.log;
    for (std::size_t i = 0; i < log.size(); ++i) {
      see(log.time_ns[i]);
      if (log.action[i] != AllocatorAction::other) {
        ++known[static_cast<std::size_t>(log.action[i])];
        continue;
      }
      const StringId name = log.note[i] == kNone ? 0 : state_.notes[log.note[i]].action;
      ++counts[name == 0 ? "(none)" : std::string(source_.trace.strings.view(name))];
    }
    for (std::size_t action = 0; action + 1 < kActions; ++action) {
      if (known[action] == 0) continue;
      counts[std::string(cuda_snapshot::name_of(static_cast<AllocatorAction>(action)))] += known[action];
    }
    source_.events += static_cast<std::int64_t>(log.size());
  }
  for (const AllocatorAnnotation& mark : state_.annotations) see(mark.time_ns);
  for (const auto& [name, count] : counts) source_.events_by_category.push_back({name, count});
}

void Conversion::run(Value root) {
  Devices devices;
  SegmentReader segments(store_, recorder_, devices, offset_);
  if (store_.is_list(root)) {
    segments.read(root, false);
  } else {
    const Items pairs = store_.items(root);
    segments.read(Store::find(pairs, Key::segments), false);
    segments.read(Store::find(pairs, Key::host_segments), true);
    read_traces(Store::find(pairs, Key::device_traces), false);
    read_traces(Store::find(pairs, Key::host_traces), true);
    read_annotations(Store::find(pairs, Key::external_annotations));
    read_settings(store_.resolve(Store::find(pairs, Key::allocator_settings)), "", 0);
  }
  give_logs(devices);
  state_.devices = devices.take();
  state_.notes = std::move(recorder_.notes());
  for (const AllocatorDevice& device : state_.devices) {
    if (device.index < 0) continue;
    DeviceInfo info;
    info.id = device.index;
    source_.environment.devices.push_back(std::move(info));
  }
  count_events();
  source_.memory_state = std::move(state_);
}

bool looks_like_segment(const Store& store, Value value) {
  const Items pairs = store.items(store.resolve(value));
  return store.is_dict(store.resolve(value)) && !Store::find(pairs, Key::blocks).is_absent() &&
         !Store::find(pairs, Key::total_size).is_absent();
}

}  // namespace

bool is_snapshot(const Store& store, Value root) {
  root = store.resolve(root);
  const Items items = store.items(root);
  if (store.is_dict(root)) {
    for (const Key key : {Key::segments, Key::device_traces, Key::host_segments, Key::host_traces}) {
      if (store.is_list(store.resolve(Store::find(items, key)))) return true;
    }
    return false;
  }
  return store.is_list(root) && items.size > 0 && looks_like_segment(store, items.data[0]);
}

void convert(Store& store, Recorder& recorder, Value root, std::int64_t offset, Source& source) {
  Conversion(store, recorder, offset, source).run(root);
}

}  // namespace vramscope::pickle
