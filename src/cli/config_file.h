#pragma once
// The configuration file, TOML (docs/configuration.md): mail server, alert rules, how to watch.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "monitor/alert_rule.h"
#include "notify/settings.h"

namespace vramscope {

struct ConfiguredAlert {
  AlertRule rule;
  std::vector<std::string> notify;  // channels as written; empty: Config::notify
};

struct Config {
  std::string path;  // empty: there is no file
  NotifySettings settings;
  std::vector<ConfiguredAlert> alerts;
  std::vector<std::string> notify;  // [watch] notify: for rules that name no channel
  std::optional<std::int64_t> interval_ns;
};

// Something wrong at a place of the file; line and column count from 1, 0: of the file as a whole.
struct ConfigProblem {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string sentence;
};

struct ConfigReading {
  Config config;  // what could be understood
  std::vector<ConfigProblem> problems;
  std::vector<ConfigProblem> advice;  // what is allowed and yet not wise
};

ConfigReading read_config(std::string_view text, const std::string& path);
// An Error when it cannot be opened or is larger than 1 MiB. Tells of a password that others may read.
Result<ConfigReading> read_config_file(const std::string& path);
// $XDG_CONFIG_HOME/vramscope/config.toml, else ~/.config/vramscope/config.toml, else /etc/vramscope/config.toml;
// the first that exists, empty for none.
std::string find_config_file();
// For verbs that use it: `given` or the one found; no file at all is an empty Config. The first problem is the Error.
Result<Config> load_config(const std::string& given);
// "FILE:12:3: …"
std::string problem_line(const std::string& path, const ConfigProblem& problem);

}  // namespace vramscope
