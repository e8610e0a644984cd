// vramscope status: one look. Every GPU, what holds its memory, what is wrong.
#include "report/status.h"

#include <algorithm>
#include <memory>

#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "cli/live.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "report/blind_spots.h"
#include "report/findings.h"
#include "text/catalogue.h"
#include "text/terminal.h"

namespace vramscope {

namespace {

struct Options {
  LiveOptions live;
  std::string look;
  bool all = false;
  bool json_flag = false;
  std::string format;
  std::string fail_on;
};

// A second sample a little later gives shares of time (CPU, SM), which a single one cannot.
constexpr std::int64_t kGlanceNs = 200'000'000;

// Samples for `look_ns` of the devices' own time; the last one. A recording is looked at whole, without waiting.
const LiveSample* look(Sampler& sampler, Monitor& monitor, std::int64_t look_ns, bool is_whole_recording) {
  const LiveSample* last = sampler.sample();
  if (last == nullptr) return nullptr;
  const std::int64_t first_ns = last->time_ns;
  monitor.add(*last);
  while (is_whole_recording || last->time_ns - first_ns < look_ns) {
    wait_until_due(sampler);
    const LiveSample* next = sampler.sample();
    if (next == nullptr) break;
    last = next;
    monitor.add(*last);
  }
  return last;
}

ExitCode exit_code(const Options& options, const std::vector<Verdict>& verdicts) {
  if (options.fail_on.empty()) return ExitCode::ok;
  const Severity severity = options.fail_on == severity_name(Severity::error) ? Severity::error : Severity::warning;
  const bool reaches = std::any_of(verdicts.begin(), verdicts.end(),
                                   [&](const Verdict& verdict) { return verdict.finding.severity >= severity; });
  return reaches ? ExitCode::findings : ExitCode::ok;
}

ExitCode run(const Options& options) {
  auto sampler_options = options.live.sampler_options();
  if (!sampler_options) return fail(sampler_options.error());
  std::int64_t look_ns = kGlanceNs;
  if (!options.look.empty()) {
    const auto wanted_ns = parse_duration_ns(options.look);
    if (!wanted_ns) return fail(duration_error("--look", options.look));
    look_ns = *wanted_ns;
  }
  if (options.live.interval.empty()) {
    sampler_options->interval_ns = std::min<std::int64_t>(sampler_options->interval_ns, look_ns);
  }
  const bool is_recording = !options.live.replay.empty();
  if (is_recording && options.live.speed.empty()) sampler_options->speed = 0;
  auto sampler = open_patient_sampler(*sampler_options);
  if (!sampler) return fail(sampler.error());
  Monitor monitor;
  const LiveSample* sample = look(**sampler, monitor, look_ns, is_recording && options.look.empty());
  if (sample == nullptr) return fail({ExitCode::bad_input, tr("The recording holds no samples of devices.")});
  const std::vector<Verdict> verdicts = judge({*sample, monitor});
  const bool is_json = options.json_flag || options.format == "json";
  print(is_json ? status_json(*sample, verdicts)
                : status_text(*sample, verdicts, {options.all ? std::size_t{0} : StatusOptions().most_processes}));
  if (!sample->is_played_back && !sample->devices().empty() && !tells_anything(*sample)) {
    return fail({ExitCode::machine, tr("No GPU tells anything to this user; look as root, or ask whoever runs this "
                                       "machine or container for access to the devices.")});
  }
  return exit_code(options, verdicts);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_live_options(app, options->live);
  app.add_option("--look", options->look, tr("How long to look, for what one moment does not tell: 30s, 5m"));
  app.add_flag("--all", options->all, tr("Show every process, not the ten largest of each GPU"));
  app.add_flag("--json", options->json_flag, tr("Print JSON for machines"));
  add_choice(app, "--format", options->format, {"text", "json"},
             tr("text or json; --json is the same as --format json"))
      ->type_name("");
  add_choice(app, "--fail-on", options->fail_on, {severity_name(Severity::warning), severity_name(Severity::error)},
             tr("Exit with 1 when a finding is at least that severe: warning, error"))
      ->type_name("");
  return [options] { return run(*options); };
}

}  // namespace

Command command_status() {
  return {"status", N_("One look at every GPU: what holds its memory, and what is wrong"), 1, declare};
}

}  // namespace vramscope
