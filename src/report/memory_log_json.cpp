#include "fmt/format.h"
#include "report/memory_log.h"
#include "report/oom_text.h"

namespace vramscope {

void write_log(JsonWriter& json, const Source& source, const Case& input, const MemoryOptions& options) {
  json.member("kind", "log").key("devices").begin_array();
  for (const StatsSeries& series : stats_series(source, options.device)) {
    json.begin_object().member("device", std::string_view(fmt::format("cuda:{}", series.device)));
    json.key("samples").begin_array();
    for (const AllocatorStats* sample : series.samples) {
      json.begin_object().member("line", sample->line).member("offset", sample->offset);
      json.member("step", sample->step).member("time_ns", sample->time_ns);
      json.member("resolution_bytes", sample->resolution_bytes).key("values").begin_object();
      for (const auto& [name, value] : sample->values) json.member(name, value);
      json.end_object().end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().key("oom").begin_array();
  const std::map<std::string, std::string> settings = settings_of(input);
  for (const OutOfMemory& event : source.out_of_memory) {
    if (event.device && !wants_device(options.device, *event.device)) continue;
    json.begin_object().member("line", event.line).member("offset", event.offset).member("count", event.count);
    json.member("framework", std::string_view(event.framework)).member("text", std::string_view(event.text));
    write_oom(json, event, explain_oom(event, settings));
    json.end_object();
  }
  json.end_array();
}

}  // namespace vramscope
