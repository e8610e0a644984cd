// vramscope check-config: what a configuration file means, or what is wrong with it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "cli/alert_options.h"
#include "cli/config_file.h"
#include "cli/inputs.h"
#include "command_table.h"
#include "fmt/format.h"
#include "report/findings.h"
#include "report/json.h"
#include "report/phrases.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/format.h"
#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

struct Options {
  std::string path;
  bool json = false;
};

std::string channel_list(const std::vector<std::string>& channels) {
  std::string list;
  for (const std::string& each : channels) list += (list.empty() ? "" : ", ") + shown_channel(each);
  return list;
}

const char* tls_words(SmtpTls tls) {
  switch (tls) {
    case SmtpTls::starttls:
      return tr("encrypted by STARTTLS");
    case SmtpTls::tls:
      return tr("encrypted by TLS");
    case SmtpTls::none:
      break;
  }
  return tr("not encrypted");
}

std::string smtp_line(const SmtpSettings& smtp) {
  if (smtp.host.empty()) return tr("none: mail cannot be sent");
  std::string line = smtp.port ? fmt::format("{}:{}", smtp.host, *smtp.port) : smtp.host;
  line += fmt::format(", {}", tls_words(smtp.tls));
  if (!smtp.user.empty()) {
    line += ", " + filled(tr("login as {user}"), fmt::arg("user", printable(smtp.user)));
  }
  return line;
}

// Channels that cannot be opened: their addresses are wrong, or the machine lacks something.
void add_channel_problems(ConfigReading& reading) {
  std::vector<std::string> all = reading.config.notify;
  for (const ConfiguredAlert& alert : reading.config.alerts) {
    all.insert(all.end(), alert.notify.begin(), alert.notify.end());
  }
  std::vector<std::string> told;
  for (const std::string& written : all) {
    const auto channel = open_channel(written, reading.config.settings);
    if (channel) continue;
    std::string sentence = channel.error().message;
    if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
    if (std::find(told.begin(), told.end(), sentence) != told.end()) continue;
    told.push_back(sentence);
    reading.problems.push_back({0, 0, sentence});
  }
}

// A file that is named and cannot be read: the notice would not go out when it is wanted.
void add_file_problems(ConfigReading& reading) {
  const NotifySettings& settings = reading.config.settings;
  const struct {
    const char* key;
    const std::string& path;
  } files[] = {{"[smtp] password_file", settings.smtp.password_file},
               {"[smtp] ca_file", settings.smtp.ca_file},
               {"[webhook] ca_file", settings.webhook_ca_file}};
  for (const auto& [key, path] : files) {
    if (path.empty()) continue;
    std::string reason;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
      reason = error_reason(errno);
    } else if (!S_ISREG(facts.st_mode)) {
      reason = S_ISDIR(facts.st_mode) ? error_reason(EISDIR) : tr("it is a pipe or a device, no file");
    } else if (::access(path.c_str(), R_OK) != 0) {
      reason = error_reason(errno);
    } else if (facts.st_size == 0) {
      reason = tr("it is empty");
    }
    if (reason.empty()) continue;
    reading.problems.push_back(
        {0, 0,
         filled(tr("{key}: {path} cannot be read ({reason}); name a file that whoever watches "
                   "may read"),
                fmt::arg("key", key), fmt::arg("path", printable(path)), fmt::arg("reason", reason))});
  }
}

std::string text_of(const ConfigReading& reading) {
  const Config& config = reading.config;
  std::string text = printable(config.path) + "\n";
  const auto add = [&](const char* what, const std::string& value) { text += fmt::format("  {} {}\n", what, value); };
  add(tr("Mail server:"), smtp_line(config.settings.smtp));
  if (config.interval_ns) add(tr("Interval:"), format_duration(*config.interval_ns));
  if (!config.notify.empty()) add(tr("Notices go to:"), channel_list(config.notify));
  if (config.alerts.empty()) {
    text += fmt::format("  {}\n", tr("No alert rules."));
    return text;
  }
  TextTable table;
  table.columns = {
      {tr("alert rule"), Align::left, Shrink::end}, {tr("severity")}, {tr("notices to"), Align::left, Shrink::end}};
  for (const ConfiguredAlert& alert : config.alerts) {
    const std::string channels = channel_list(alert.notify.empty() ? config.notify : alert.notify);
    table.rows.push_back({alert.rule.text, severity_name(alert.rule.severity), channels.empty() ? "-" : channels});
  }
  return text + "\n" + render(table, table_columns(), 2);
}

void write_problems(JsonWriter& json, const char* name, const std::vector<ConfigProblem>& problems) {
  json.key(name).begin_array();
  for (const ConfigProblem& problem : problems) {
    json.begin_object();
    if (problem.line > 0) json.member("line", problem.line).member("column", problem.column);
    json.member("message", std::string_view(problem.sentence));
    json.end_object();
  }
  json.end_array();
}

std::string json_of(const ConfigReading& reading) {
  JsonWriter json;
  json.begin_object();
  json.member("path", std::string_view(reading.config.path));
  write_problems(json, "problems", reading.problems);
  write_problems(json, "advice", reading.advice);
  json.key("alerts").begin_array();
  for (const ConfiguredAlert& alert : reading.config.alerts) {
    json.begin_object();
    json.member("rule", std::string_view(alert.rule.text));
    json.member("severity", severity_name(alert.rule.severity));
    json.key("notify").begin_array();
    for (const std::string& each : alert.notify.empty() ? reading.config.notify : alert.notify) {
      json.value(std::string_view(shown_channel(each)));
    }
    json.end_array().end_object();
  }
  json.end_array();
  json.member("interval_ns", reading.config.interval_ns);
  json.end_object();
  return json.text();
}

ExitCode run(const Options& options) {
  const std::string path = options.path.empty() ? find_config_file() : options.path;
  if (path.empty()) {
    return fail({ExitCode::usage, tr("There is no configuration file: neither ~/.config/vramscope/config.toml nor "
                                     "/etc/vramscope/config.toml; name one, or write one (docs/configuration.md).")});
  }
  auto reading = read_config_file(path);
  if (!reading) return fail(reading.error());
  if (reading->problems.empty()) {
    add_channel_problems(*reading);
    add_file_problems(*reading);
  }
  if (options.json) {
    print(json_of(*reading));
  } else if (reading->problems.empty()) {
    print(text_of(*reading));
  }
  if (!options.json) {
    for (const ConfigProblem& advice : reading->advice) print(problem_line(path, advice) + "\n");
    for (const ConfigProblem& problem : reading->problems) fail({ExitCode::usage, problem_line(path, problem)});
  }
  return reading->problems.empty() ? ExitCode::ok : ExitCode::usage;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->path, tr("Configuration file; without it, the one that would be used"))
      ->type_name("");
  app.add_flag("--json", options->json, tr("Print exact figures as JSON (docs/schemas/)"));
  return [options] { return run(*options); };
}

}  // namespace

Command command_check_config() {
  return {"check-config", N_("Checks the configuration file and says what it means"), 81, declare};
}

}  // namespace vramscope
