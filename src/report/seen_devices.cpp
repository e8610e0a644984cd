#include "report/seen_devices.h"

#include <algorithm>

#include "analysis/memory_sums.h"
#include "report/info_device_log.h"
#include "report/paths.h"
#include "report/phrases.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

std::int64_t gpus_of(const DeviceLog& log) {
  return std::count_if(log.devices.begin(), log.devices.end(), [](const LogDevice& device) { return !device.parent; });
}

}  // namespace

std::string seen_devices_text(const Case& input) {
  std::string text;
  for (const Source& source : input.sources) {
    if (!source.device_log) continue;
    const DeviceLog& log = *source.device_log;
    const std::string gpus = counted(NN_("{count} GPU", "{count} GPUs"), gpus_of(log));
    text += wrap(filled(tr("Seen in {path}: {gpus}, {moments}. Clock: {clock}."),
                        fmt::arg("path", shown_path(source.path)), fmt::arg("gpus", gpus),
                        fmt::arg("moments", log_moments_text(log)), fmt::arg("clock", log_clock_text(log))),
                 line_columns(), 0, 2);
  }
  return text.empty() ? text : text + "\n";
}

void write_seen_devices(JsonWriter& json, const Case& input) {
  const bool has_any = std::any_of(input.sources.begin(), input.sources.end(),
                                   [](const Source& source) { return source.device_log.has_value(); });
  if (!has_any) return;
  json.key("device_logs").begin_array();
  for (const Source& source : input.sources) {
    if (!source.device_log) continue;
    const DeviceLog& log = *source.device_log;
    std::optional<std::int64_t> span_ns;
    if (!log.time_ns.empty()) span_ns = subtract_bytes(log.time_ns.back(), log.time_ns[0]);
    json.begin_object().member("path", std::string_view(source.path)).member("gpus", gpus_of(log));
    json.member("moments", std::int64_t{log.moments}).member("clock", log_clock_word(log.clock));
    json.member("span_ns", span_ns).end_object();
  }
  json.end_array();
}

}  // namespace vramscope
