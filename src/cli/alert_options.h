#pragma once
// What every verb that watches for alerts shares: --alert, --notify, --config.
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/result.h"
#include "cli/config_file.h"
#include "monitor/alert_rule.h"
#include "monitor/alert_state.h"
#include "notify/dispatcher.h"

namespace vramscope {

// Bound to the parser; must outlive parsing.
struct AlertOptions {
  std::vector<std::string> rules;
  std::vector<std::string> channels;
  std::string config;
};

void add_alert_options(CLI::App& app, AlertOptions& options);

// Rules of the command line, else those of the configuration file; --notify stands in place of all its channels.
struct AlertPlan {
  std::vector<AlertRule> rules;
  std::vector<std::vector<std::string>> channels;  // of each rule, as written
  Config config;
};
Result<AlertPlan> alert_plan(const AlertOptions& options);

// Opens every channel of the plan; the numbers that belong to each rule. An Error when one cannot be opened.
Result<std::vector<std::vector<std::size_t>>> open_channels(const AlertPlan& plan, Dispatcher& dispatcher);
// For the Dispatcher: the file's settings and this machine's name.
NotifySettings notify_settings(const AlertPlan& plan, const std::string& host);
// "alert rule …: no device has this metric, so it can never fire"
std::string obstacle_sentence(const AlertRule& rule, AlertObstacle obstacle);

}  // namespace vramscope
