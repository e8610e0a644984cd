// vramscope diagnose [FILE…]: what is wrong, by which numbers, and what to do. Without a file it looks at the devices.
#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands/diagnose/look.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "report/findings.h"
#include "report/seen_devices.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

struct Options {
  InputOptions input;
  LiveOptions live;
  std::string look;
  std::string fail_on;
};

bool reaches(const Verdicts& verdicts, Severity severity) {
  return std::any_of(verdicts.findings.begin(), verdicts.findings.end(),
                     [&](const Finding& finding) { return finding.severity >= severity; });
}

// What contradicts itself; empty when nothing does.
std::string contradiction(const Options& options) {
  const bool is_live = !options.live.device.empty() || !options.look.empty() || !options.live.interval.empty();
  if (options.input.files.empty() || !is_live) return {};
  return tr("A file is read whole; --device, --for and --interval go without a file.");
}

Result<Loaded> look(const Options& options) {
  const bool is_scenario = options.live.device.substr(0, 3) == "sim";
  std::int64_t look_ns = is_scenario ? kScenarioLookNs : kLookNs;
  if (!options.look.empty()) {
    const auto wanted_ns = parse_duration_ns(options.look);
    if (!wanted_ns) return duration_error("--for", options.look);
    look_ns = *wanted_ns;
  }
  Result<Source> source = look_at_devices(options.live, look_ns);
  if (!source) return source.error();
  Loaded loaded;
  loaded.input.sources.push_back(std::move(*source));
  return loaded;
}

ExitCode run(const Options& options) {
  if (const std::string problem = contradiction(options); !problem.empty()) return fail({ExitCode::usage, problem});
  const Result<Loaded> loaded = options.input.files.empty() ? look(options) : load_case(options.input);
  if (!loaded) return fail(loaded.error());
  const Case& input = loaded->input;
  const Verdicts verdicts = diagnose(input);
  print(options.input.json() ? findings_json(input, verdicts)
                             : trouble_header(input) + seen_devices_text(input) + findings_text(input, verdicts));
  if (options.fail_on.empty()) return loaded->end(ExitCode::ok);
  const Severity severity = options.fail_on == severity_name(Severity::error) ? Severity::error : Severity::warning;
  return loaded->end(reaches(verdicts, severity) ? ExitCode::findings : ExitCode::ok);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_input_options(app, options->input, Files::optional);
  add_device_option(app, options->live);
  app.add_option("--for", options->look,
                 tr("Without a file: how long to look at the devices, 60s unless told; of a scenario the first 30m, "
                    "without waiting"));
  app.add_option("--interval", options->live.interval, tr("Without a file: time between samples: 500ms, 1s"));
  add_choice(app, "--fail-on", options->fail_on, {severity_name(Severity::warning), severity_name(Severity::error)},
             tr("Exit with 1 when a finding is at least that severe: warning, error"))
      ->type_name("");
  return [options] { return run(*options); };
}

}  // namespace

Command command_diagnose() {
  return {"diagnose", N_("What is wrong, by which numbers, and what to do"), 40, declare};
}

}  // namespace vramscope
