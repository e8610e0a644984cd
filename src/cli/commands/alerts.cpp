// vramscope alerts test: alert rules tried on a scenario or a recording, in no time.
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "cli/alert_options.h"
#include "cli/commands/alerts/rehearsal.h"
#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "cli/live.h"
#include "cli/options.h"
#include "command_table.h"
#include "fmt/format.h"
#include "system/host.h"
#include "text/catalogue.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

struct Options {
  std::string action;
  LiveOptions live;
  AlertOptions alerts;
  std::string length;
  bool send = false;
  bool json_flag = false;
  std::string format;
};

constexpr std::int64_t kHour = 3600LL * 1'000'000'000;
constexpr std::int64_t kScenarioNs = 4 * kHour;  // the longest built-in scenario is over by then
constexpr std::int64_t kLiveNs = 10LL * 1'000'000'000;
constexpr std::chrono::seconds kSendLimit{60};
constexpr std::size_t kMostNotices = 1000;

// For as long as it takes; a recording to its end.
Result<std::int64_t> length_of(const Options& options, const Sampler& sampler) {
  if (!options.length.empty()) {
    const auto length_ns = parse_duration_ns(options.length);
    if (!length_ns) return duration_error("--duration", options.length);
    return *length_ns;
  }
  if (!options.live.replay.empty()) return std::numeric_limits<std::int64_t>::max();
  return sampler.is_played_back() ? kScenarioNs : kLiveNs;
}

// Nothing is sent, and yet a rehearsal shows what would happen: what is no channel is refused. What the machine or the
// configuration lacks for one is told, and the rules are tried all the same.
std::optional<Error> check_channels(const AlertPlan& plan) {
  NotifySettings complete = plan.config.settings;
  if (complete.smtp.host.empty()) complete.smtp.host = "localhost";
  std::set<std::string> seen;
  for (const std::vector<std::string>& channels : plan.channels) {
    for (const std::string& written : channels) {
      if (!seen.insert(written).second) continue;
      const auto opened = open_channel(written, plan.config.settings);
      if (opened) continue;
      const auto form = open_channel(written, complete);
      if (!form && form.error().code == ExitCode::usage) return form.error();
      fail(opened.error());
    }
  }
  return std::nullopt;
}

// What the channels did, told on stderr. 3 when a notice did not get there.
ExitCode finish(Dispatcher& dispatcher) {
  const std::vector<Undelivered> undelivered = dispatcher.close(kSendLimit);
  ExitCode code = ExitCode::ok;
  for (const Undelivered& notice : undelivered) code = fail({ExitCode::machine, undelivered_sentence(notice)});
  return code;
}

ExitCode run(const Options& options) {
  const auto plan = alert_plan(options.alerts);
  if (!plan) return fail(plan.error());
  if (plan->rules.empty()) {
    return fail({ExitCode::usage, tr("There is no rule to test; write --alert 'memory.used > 90% for 30s', or "
                                     "[[alert]] into the configuration file.")});
  }
  auto sampler_options = options.live.sampler_options();
  if (!sampler_options) return fail(sampler_options.error());
  if (options.live.speed.empty()) sampler_options->speed = 0;
  sampler_options->wanted.metrics |= metrics_of(plan->rules);
  auto sampler = open_patient_sampler(*sampler_options);
  if (!sampler) return fail(sampler.error());
  const auto length_ns = length_of(options, **sampler);
  if (!length_ns) return fail(length_ns.error());
  const std::string host = read_machine().host_name.value_or("localhost");
  std::atomic<bool> has_refusal{false};
  const auto report = [&](const ChannelReport& each) {
    if (each.news != ChannelNews::working) has_refusal = true;
    fail({ExitCode::machine, report_sentence(each)});
  };
  OutboxOptions outbox;
  outbox.most_waiting = kMostNotices;
  Dispatcher dispatcher(notify_settings(*plan, host), outbox, report);
  std::vector<std::vector<std::size_t>> channels(plan->rules.size());
  if (options.send) {
    auto opened = open_channels(*plan, dispatcher);
    if (!opened) return fail(opened.error());
    channels = std::move(*opened);
  } else if (const auto wrong = check_channels(*plan)) {
    return fail(*wrong);
  }
  const auto post = [&](AlertEvent event) {
    if (!options.send) return;
    event.key += '\n' + std::to_string(event.time_ns);  // hours pass at once here: no notice replaces another
    dispatcher.post(event, channels[event.rule_index]);
  };
  const Rehearsal rehearsal = rehearse(**sampler, *plan, *length_ns, host, post);
  const bool is_json = options.json_flag || options.format == "json";
  print(is_json ? rehearsal_json(rehearsal, *plan) : rehearsal_text(rehearsal, *plan));
  if (!options.send) return ExitCode::ok;
  const ExitCode code = finish(dispatcher);
  return code == ExitCode::ok && has_refusal ? ExitCode::machine : code;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_choice(app, "ACTION", options->action, {"test"}, tr("test: try the rules and print what would have been sent"))
      ->required()
      ->type_name("");
  add_live_options(app, options->live);
  add_alert_options(app, options->alerts);
  app.add_option("--interval", options->live.interval, tr("Time between two samples: 500ms, 1s, 1m"));
  app.add_option("--duration,--for", options->length,
                 tr("How much of the devices' time to play: 30m, 4h, 1d; a recording is played to its end"));
  app.add_flag("--send", options->send, tr("Really send the notices"));
  app.add_flag("--json", options->json_flag, tr("Print exact figures as JSON (docs/schemas/)"));
  add_choice(app, "--format", options->format, {"text", "json"}, tr("Format of the output: text or json"))
      ->type_name("");
  return [options] { return run(*options); };
}

}  // namespace

Command command_alerts() {
  return {"alerts", N_("Tries alert rules on a scenario or a recording: what would be sent, and when"), 80, declare};
}

}  // namespace vramscope
