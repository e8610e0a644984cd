// vramscope diagnose FILE…: what is wrong, by which numbers, and what to do.
#include <algorithm>
#include <memory>
#include <string>

#include "cli/inputs.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "report/findings.h"
#include "report/source_kind.h"
#include "text/catalogue.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

struct Options {
  InputOptions input;
  std::string fail_on;
};

bool reaches(const Verdicts& verdicts, Severity severity) {
  return std::any_of(verdicts.findings.begin(), verdicts.findings.end(),
                     [&](const Finding& finding) { return finding.severity >= severity; });
}

ExitCode run(const Options& options) {
  const Result<Loaded> loaded = load_case(options.input);
  if (!loaded) return fail(loaded.error());
  const Case& input = loaded->input;
  const Verdicts verdicts = diagnose(input);
  print(options.input.json() ? findings_json(input, verdicts) : trouble_header(input) + findings_text(input, verdicts));
  for (const Source& source : input.sources) {
    if (options.input.json() || !(is_recording_of_devices(source) || source.device_log)) continue;
    print(
        fmt::format(fmt::runtime(tr("{path} is a recording of devices: `vramscope status --replay {path}` judges it.")),
                    fmt::arg("path", printable(source.path))) +
        "\n");
  }
  if (options.fail_on.empty()) return loaded->end(ExitCode::ok);
  const Severity severity = options.fail_on == severity_name(Severity::error) ? Severity::error : Severity::warning;
  return loaded->end(reaches(verdicts, severity) ? ExitCode::findings : ExitCode::ok);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_input_options(app, options->input);
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
