#include "analysis/ops.h"

#include <algorithm>

#include "analysis/enclosing_ops.h"
#include "analysis/launches.h"
#include "analysis/ops_rows.h"
#include "base/parallel.h"
#include "base/saturate.h"

namespace vramscope {

namespace {

using Field = std::int64_t OpTotals::*;

constexpr Field kFields[] = {&OpTotals::count,           &OpTotals::self_cpu_ns,       &OpTotals::total_cpu_ns,
                             &OpTotals::self_device_ns,  &OpTotals::total_device_ns,   &OpTotals::self_cpu_bytes,
                             &OpTotals::total_cpu_bytes, &OpTotals::self_device_bytes, &OpTotals::total_device_bytes};

void add_to(std::int64_t& sum, std::int64_t what) {
  sum = saturating_add(sum, what);
}

class TableBuilder {
 public:
  TableBuilder(const Trace& trace, const OpQuery& query)
      : trace_(trace), query_(query), enclosing_(enclosing_ops(trace)), index_(trace, query, enclosing_) {}

  OpTable build() {
    add_times();
    add_flops();
    add_device_time();
    add_memory();
    std::vector<OpRow>& rows = index_.rows();
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const OpRow& row) { return row.totals.count == 0; }),
               rows.end());
    for (OpRow& row : rows) {
      row.totals.self_cpu_ns = std::max<std::int64_t>(row.totals.self_cpu_ns, 0);  // after a sum that hit the end
      add_to(table_.self_cpu_ns, row.totals.self_cpu_ns);
    }
    table_.rows = std::move(rows);
    return std::move(table_);
  }

 private:
  OpTotals& totals(std::uint32_t row) { return index_.rows()[row].totals; }

  // Adds to the totals of rows: to the rows themselves, or to sums of one part's own.
  class Sums {
   public:
    explicit Sums(std::vector<OpRow>& rows) : rows_(&rows) {}
    explicit Sums(std::vector<OpTotals>& totals) : totals_(&totals) {}
    OpTotals& operator[](std::uint32_t row) const {
      return totals_ != nullptr ? (*totals_)[row] : (*rows_)[row].totals;
    }

   private:
    std::vector<OpRow>* rows_ = nullptr;
    std::vector<OpTotals>* totals_ = nullptr;
  };

  // How many parts are worth their own sums: with a row for nearly every span they would cost more than they save.
  std::size_t part_count() const {
    const std::size_t spans = trace_.spans.size();
    return index_.rows().size() > spans / 16 ? 1 : worker_count_for(spans);
  }

  // Calls work(part, sums) for every part.
  template <typename Work>
  void in_parts(std::size_t parts, const Work& work) {
    if (parts == 1) {
      work(0, Sums(index_.rows()));
      return;
    }
    std::vector<std::vector<OpTotals>> sums(parts, std::vector<OpTotals>(index_.rows().size()));
    parallel_for(parts, [&](std::size_t part) { work(part, Sums(sums[part])); });
    for (const std::vector<OpTotals>& part : sums) {
      for (std::uint32_t row = 0; row < part.size(); ++row) {
        for (const Field field : kFields) add_to(totals(row).*field, part[row].*field);
      }
    }
  }

  void add_times() {
    const std::size_t parts = part_count();
    in_parts(parts, [&](std::size_t part, const Sums& sums) {
      const std::size_t count = trace_.spans.size();
      const auto begin = static_cast<SpanIndex>(count * part / parts);
      const auto end = static_cast<SpanIndex>(count * (part + 1) / parts);
      for (SpanIndex span = begin; span < end; ++span) add_time(span, sums);
    });
  }

  void add_time(SpanIndex span, const Sums& sums) const {
    const std::uint32_t row = index_.row_of(span);
    if (row == kNone) return;
    const std::int64_t duration = trace_.spans.duration_ns[span];
    OpTotals& own = sums[row];
    if (is_device_work(trace_.kind(span))) {
      if (!query_.device.wants_work(trace_.device_of(span))) return;
      ++own.count;
      add_to(own.self_device_ns, duration);
      add_to(own.total_device_ns, duration);
      return;
    }
    ++own.count;
    add_to(own.self_cpu_ns, duration);
    add_to(own.total_cpu_ns, duration);
    const SpanIndex parent = query_.all_rows ? trace_.spans.parent[span] : enclosing_[span];
    if (parent == kNone) return;
    const std::int64_t start = trace_.spans.start_ns[span];
    const std::int64_t end = std::min(trace_.end_ns(span), trace_.end_ns(parent));
    std::int64_t& parent_self = sums[index_.row_of(parent)].self_cpu_ns;
    if (end > start) parent_self = saturating_sub(parent_self, end - start);
  }

  // In one thread: the order of additions decides the last digits of a sum of fractions.
  void add_flops() {
    const auto has_flops = [](const OpArgs& args) { return args.gigaflops >= 0; };
    if (std::none_of(trace_.op_args.begin(), trace_.op_args.end(), has_flops)) return;
    for (SpanIndex span = 0; span < trace_.spans.size(); ++span) {
      const OpArgs* const args = trace_.op_args_of(span);
      const std::uint32_t row = args == nullptr || !has_flops(*args) ? kNone : index_.row_of(span);
      if (row == kNone) continue;
      std::optional<double>& sum = index_.rows()[row].gigaflops;
      sum = sum.value_or(0) + static_cast<double>(args->gigaflops);
      table_.has_flops = true;
    }
  }

  void add_device_time() {
    const Launches launches = find_launches(trace_, enclosing_);
    for (std::size_t i = 0; i < launches.work.size(); ++i) {
      const SpanIndex work = launches.work[i];
      if (!query_.device.wants_work(trace_.device_of(work))) continue;
      table_.has_device_work = true;
      const std::int64_t duration = trace_.spans.duration_ns[work];
      add_to(table_.device_ns, duration);
      if (launches.launcher[i] != kNone) {
        add_value(launches.launcher[i], &OpTotals::self_device_ns, duration);
        continue;
      }
      add_to(table_.unattributed.device_ns, duration);
      ++table_.unattributed.count;
    }
    spread(&OpTotals::total_device_ns);
  }

  void add_memory() {
    add_memory_of(true, &OpTotals::self_cpu_bytes, &table_.unattributed.cpu_bytes);
    spread(&OpTotals::total_cpu_bytes);
    add_memory_of(false, &OpTotals::self_device_bytes, &table_.unattributed.device_bytes);
    spread(&OpTotals::total_device_bytes);
  }

  void add_memory_of(bool cpu, Field self, std::int64_t* outside) {
    const MemoryEvents& memory = trace_.memory;
    for (std::size_t event = 0; event < memory.size(); ++event) {
      const MemoryDevice& device = trace_.memory_devices[memory.device[event]];
      // CPU memory belongs to every table; the filter chooses among the devices.
      if (device.is_cpu() != cpu || (!cpu && !query_.device.wants_memory(device))) continue;
      table_.has_memory = true;
      if (!cpu) table_.has_device_memory = true;
      const SpanIndex op = op_of(trace_, enclosing_, memory.span[event]);
      if (op != kNone) {
        add_value(op, self, memory.bytes[event]);
        continue;
      }
      OpTotals& row = totals(index_.row_of_memory(event));
      ++row.count;
      add_to(row.*self, memory.bytes[event]);
      add_to(row.*(self == &OpTotals::self_cpu_bytes ? &OpTotals::total_cpu_bytes : &OpTotals::total_device_bytes),
             memory.bytes[event]);
      ++table_.unattributed.memory_events;
      add_to(*outside, memory.bytes[event]);
    }
  }

  // `op` itself gets `value`; those around it get it from spread().
  void add_value(SpanIndex op, Field self, std::int64_t value) {
    if (values_.empty()) values_.resize(trace_.spans.size(), 0);
    add_to(values_[op], value);
    add_to(totals(index_.row_of(op)).*self, value);
    has_values_ = true;
  }

  // From the inside out, every range adds what it holds to its own row and to the range around it. Linear however
  // deep they nest. Leaves all values 0.
  void spread(Field total) {
    if (!has_values_) return;
    has_values_ = false;
    const std::vector<std::vector<TrackId>> parts = tracks_in_parts();
    in_parts(parts.size(), [&](std::size_t part, const Sums& sums) {
      for (const TrackId id : parts[part]) {
        for (std::uint32_t at = trace_.tracks[id].end; at > trace_.tracks[id].begin; --at) {
          const SpanIndex span = trace_.spans_by_time[at - 1];
          const std::int64_t value = values_[span];
          if (value == 0) continue;
          values_[span] = 0;
          if (const std::uint32_t row = index_.row_of(span); row != kNone) add_to(sums[row].*total, value);
          if (const SpanIndex parent = trace_.spans.parent[span]; parent != kNone) add_to(values_[parent], value);
        }
      }
    });
  }

  // Tracks dealt out so that the parts are about equally large.
  std::vector<std::vector<TrackId>> tracks_in_parts() const {
    const std::size_t workers = part_count();
    std::vector<std::vector<TrackId>> parts(workers);
    std::vector<std::size_t> load(workers, 0);
    std::vector<TrackId> order(trace_.tracks.size());
    for (TrackId id = 0; id < order.size(); ++id) order[id] = id;
    const auto size = [&](TrackId id) { return trace_.tracks[id].end - trace_.tracks[id].begin; };
    std::stable_sort(order.begin(), order.end(), [&](TrackId a, TrackId b) { return size(a) > size(b); });
    for (const TrackId id : order) {
      const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      parts[least].push_back(id);
      load[least] += size(id);
    }
    return parts;
  }

  const Trace& trace_;
  const OpQuery& query_;
  Column<SpanIndex> enclosing_;
  RowIndex index_;
  Column<std::int64_t> values_;  // per span; only while one kind of value is spread
  bool has_values_ = false;
  OpTable table_;
};

}  // namespace

OpTable build_op_table(const Trace& trace, const OpQuery& query) {
  return TableBuilder(trace, query).build();
}

const char* row_kind_name(std::optional<SpanKind> kind) {
  if (!kind) return "memory";
  switch (*kind) {
    case SpanKind::cpu_op:
      return "cpu_op";
    case SpanKind::annotation:
      return "annotation";
    case SpanKind::python_call:
      return "python_call";
    case SpanKind::runtime_api:
      return "runtime_api";
    case SpanKind::driver_api:
      return "driver_api";
    case SpanKind::kernel:
      return "kernel";
    case SpanKind::memcpy:
      return "memcpy";
    case SpanKind::memset:
      return "memset";
    case SpanKind::sync:
      return "sync";
    case SpanKind::os_call:
      return "os_call";
    case SpanKind::nvtx:
      return "nvtx";
    case SpanKind::opencl_api:
      return "opencl_api";
    case SpanKind::overhead:
      return "overhead";
    case SpanKind::device_annotation:
      return "device_annotation";
    case SpanKind::other:
      return "other";
  }
  return "other";
}

}  // namespace vramscope
