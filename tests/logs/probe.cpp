// Prints what the readers made of logs of devices, one JSON object a file and line, for tests/logs/check_logs.py:
// log_probe FILE…
#include <cstdio>
#include <map>
#include <set>

#include "import/reader.h"
#include "report/json.h"

namespace vramscope {
namespace {

// Over all moments that tell it: how many, and their sum.
std::pair<std::int64_t, std::int64_t> used_of(const DeviceLog& log, const LogDevice& device) {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  for (const LogSeries& series : device.series) {
    if (series.metric != Metric::memory_used) continue;
    for (std::uint32_t moment = 0; moment < log.moments; ++moment) {
      const auto run = series.run_at(moment);
      if (!run || series.state[*run] != ValueState::known) continue;
      ++count;
      sum += series.value[*run];
    }
  }
  return {count, sum};
}

void write(JsonWriter& json, const Source& source) {
  const DeviceLog& log = *source.device_log;
  std::int64_t gpus = 0, migs = 0, used_count = 0, used_sum = 0, mig_sum = 0;
  for (const LogDevice& device : log.devices) {
    const auto [count, sum] = used_of(log, device);
    device.parent ? ++migs : ++gpus;
    if (device.parent) {
      mig_sum += sum;
    } else {
      used_count += count;
      used_sum += sum;
    }
  }
  std::int64_t uses_known = 0, uses_sum = 0, pids = 0;
  for (const LogUse& use : log.uses) {
    pids += log.processes[use.process].pid;
    if (use.used_bytes == kNoLogValue) continue;
    ++uses_known;
    uses_sum += use.used_bytes;
  }
  std::int64_t lists = 0;
  for (const std::uint8_t tells : log.tells_processes) lists += tells;
  json.member("format", source.format).member("gpus", gpus).member("migs", migs);
  json.member("moments", std::int64_t{log.moments}).member("used_count", used_count).member("used_sum", used_sum);
  json.member("mig_used_sum", mig_sum).member("uses", static_cast<std::int64_t>(log.uses.size()));
  json.member("uses_known", uses_known).member("uses_sum", uses_sum).member("pid_sum", pids).member("lists", lists);
  json.member("first_ns", source.start_ns).member("last_ns", source.end_ns).member("driver", log.driver_version);
  std::map<std::string, std::int64_t> values;
  for (const CategoryCount& category : source.events_by_category) values[category.name] = category.events;
  json.key("values").begin_object();
  for (const auto& [name, count] : values) json.member(name, count);
  json.end_object().key("trouble").begin_object();
  for (const Trouble& trouble : source.trouble) json.member(trouble.name, trouble.count);
  json.end_object();
}

}  // namespace
}  // namespace vramscope

int main(int argc, char** argv) {
  using namespace vramscope;
  for (int i = 1; i < argc; ++i) {
    JsonWriter json;
    json.begin_object().member("path", std::string(argv[i]));
    const Result<Source> source = load_source(argv[i]);
    if (!source) json.member("error", source.error().message);
    if (source && source->device_log) write(json, *source);
    json.end_object();
    std::fputs(json.text().c_str(), stdout);
  }
  return 0;
}
