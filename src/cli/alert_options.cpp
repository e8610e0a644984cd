#include "cli/alert_options.h"

#include "cli/options.h"
#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope {

void add_alert_options(CLI::App& app, AlertOptions& options) {
  app.add_option("--alert", options.rules,
                 tr("Warn when a rule holds, as 'memory.used > 90% for 30s' (docs/alerts.md); may be given again"))
      ->type_name(tr("RULE"))
      ->allow_extra_args(false);
  suggest(
      app.add_option("--notify", options.channels,
                     tr("Send notices there: mail:ADDRESS, webhook:URL, command:SHELL, desktop; may be given again")),
      {"mail:", "webhook:", "command:", "desktop"})
      ->type_name(tr("CHANNEL"))
      ->allow_extra_args(false);
  app.add_option("--config", options.config, tr("Configuration file in place of ~/.config/vramscope/config.toml"))
      ->type_name(tr("FILE"));
}

Result<AlertPlan> alert_plan(const AlertOptions& options) {
  AlertPlan plan;
  auto config = load_config(options.config);
  if (!config) return config.error();
  plan.config = std::move(*config);
  if (options.rules.empty()) {
    for (const ConfiguredAlert& alert : plan.config.alerts) {
      plan.rules.push_back(alert.rule);
      plan.channels.push_back(alert.notify.empty() ? plan.config.notify : alert.notify);
    }
  }
  for (const std::string& text : options.rules) {
    auto rule = parse_alert_rule(text);
    if (!rule) return rule.error();
    plan.rules.push_back(std::move(*rule));
    plan.channels.push_back(plan.config.notify);
  }
  if (!options.channels.empty()) plan.channels.assign(plan.rules.size(), options.channels);
  return plan;
}

Result<std::vector<std::vector<std::size_t>>> open_channels(const AlertPlan& plan, Dispatcher& dispatcher) {
  std::vector<std::vector<std::size_t>> numbers(plan.rules.size());
  for (std::size_t rule = 0; rule < plan.rules.size(); ++rule) {
    for (const std::string& written : plan.channels[rule]) {
      const auto number = dispatcher.open(written);
      if (!number) return number.error();
      numbers[rule].push_back(*number);
    }
  }
  return numbers;
}

NotifySettings notify_settings(const AlertPlan& plan, const std::string& host) {
  NotifySettings settings = plan.config.settings;
  settings.host = host;
  return settings;
}

std::string obstacle_sentence(const AlertRule& rule, AlertObstacle obstacle) {
  const char* text = obstacle == AlertObstacle::no_such_gpu
                         ? tr("The alert rule \"{rule}\" can never fire here: there is no such GPU.")
                         : tr("The alert rule \"{rule}\" can never fire here: none of its devices tells this value.");
  return fmt::format(fmt::runtime(text), fmt::arg("rule", rule.text));
}

}  // namespace vramscope
