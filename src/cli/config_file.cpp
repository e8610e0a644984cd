#include "cli/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "fmt/format.h"
#include "monitor/alert_units.h"
#include "notify/channel.h"
#include "notify/mail_text.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

std::string quoted_list(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

ConfigProblem problem_at(const toml::source_position& at, std::string sentence) {
  return {static_cast<std::int64_t>(at.line), static_cast<std::int64_t>(at.column), std::move(sentence)};
}

// Reads the values of one table and tells of what is wrong with them.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, ConfigReading& reading)
      : table_(table), name_(std::move(name)), reading_(reading) {}
  // What has not been asked for by then is unknown.
  ~TableReader() {
    for (const auto& [key, node] : table_) {
      const std::string_view word = key.str();
      if (std::find(asked_.begin(), asked_.end(), word) != asked_.end()) continue;
      std::string sentence = fmt::format(fmt::runtime(tr("there is no \"{key}\" in {table}; it has {known}")),
                                         fmt::arg("key", printable(word)), fmt::arg("table", name_),
                                         fmt::arg("known", quoted_list(asked_)));
      const std::string near = closest_name(word, asked_);
      if (!near.empty()) {
        sentence = fmt::format(fmt::runtime(tr("there is no \"{key}\" in {table}; \"{near}\" is the nearest name")),
                               fmt::arg("key", printable(word)), fmt::arg("table", name_), fmt::arg("near", near));
      }
      refuse(key.source().begin, std::move(sentence));
    }
  }
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  void refuse(const toml::source_position& at, std::string sentence) {
    reading_.problems.push_back(problem_at(at, std::move(sentence)));
  }
  const toml::node* get(std::string_view key) {
    asked_.push_back(key);
    return table_.get(key);
  }
  // Nothing when it is not there, or refused.
  const toml::node* text(std::string_view key, std::string& target) {
    const toml::node* node = get(key);
    if (node == nullptr) return nullptr;
    const auto value = node->value_exact<std::string>();
    if (!value) {
      refuse_type(*node, key, tr("a text in quotes"));
      return nullptr;
    }
    if (value->find('\0') != value->npos || valid_utf8(*value) != *value) {
      refuse(node->source().begin, tr("this text holds bytes that cannot be used"));
      return nullptr;
    }
    target = *value;
    return node;
  }
  void refuse_type(const toml::node& node, std::string_view key, const std::string& wanted) {
    refuse(node.source().begin, fmt::format(fmt::runtime(tr("\"{key}\" must be {wanted}")), fmt::arg("key", key),
                                            fmt::arg("wanted", wanted)));
  }
  // One text, or a list of texts.
  void texts(std::string_view key, std::vector<std::string>& target) {
    const toml::node* node = get(key);
    if (node == nullptr) return;
    const auto add = [&](const toml::node& each) {
      const auto value = each.value_exact<std::string>();
      if (!value) return refuse_type(each, key, tr("a text in quotes, or a list of them"));
      const auto kind = std::string_view(*value).substr(0, value->find(':'));
      const auto& kinds = channel_kinds();
      const bool is_known =
          std::any_of(kinds.begin(), kinds.end(), [&](const ChannelKind& known) { return kind == known.name; });
      if (is_known && value->find('\0') == value->npos) return target.push_back(*value);
      std::vector<std::string_view> forms;
      for (const ChannelKind& known : kinds) forms.emplace_back(known.form);
      refuse(each.source().begin,
             fmt::format(fmt::runtime(tr("\"{word}\" is no channel; write one of {forms}")),
                         fmt::arg("word", printable(kind)), fmt::arg("forms", quoted_list(forms))));
    };
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& each : *list) add(each);
    } else {
      add(*node);
    }
  }
  const toml::table& table() const { return table_; }

 private:
  const toml::table& table_;
  std::string name_;
  ConfigReading& reading_;
  std::vector<std::string_view> asked_;
};

void read_tls(TableReader& reader, SmtpSettings& smtp) {
  std::string word;
  const toml::node* node = reader.text("tls", word);
  if (node == nullptr) return;
  if (word == "starttls") {
    smtp.tls = SmtpTls::starttls;
  } else if (word == "tls") {
    smtp.tls = SmtpTls::tls;
  } else if (word == "none") {
    smtp.tls = SmtpTls::none;
  } else {
    reader.refuse(node->source().begin, tr("\"tls\" must be \"starttls\", \"tls\" or \"none\""));
  }
}

void read_port(TableReader& reader, SmtpSettings& smtp) {
  constexpr std::int64_t kLastPort = 65535;
  const toml::node* node = reader.get("port");
  if (node == nullptr) return;
  const auto port = node->value_exact<std::int64_t>();
  if (!port || *port < 1 || *port > kLastPort) {
    reader.refuse_type(*node, "port", tr("a whole number from 1 to 65535"));
    return;
  }
  smtp.port = static_cast<int>(*port);
}

void read_smtp(const toml::table& table, ConfigReading& reading) {
  SmtpSettings& smtp = reading.config.settings.smtp;
  TableReader reader(table, "[smtp]", reading);
  const toml::node* host = reader.text("host", smtp.host);
  read_port(reader, smtp);
  read_tls(reader, smtp);
  const toml::node* from = reader.text("from", smtp.from);
  const toml::node* user = reader.text("user", smtp.user);
  const toml::node* passwords[] = {reader.text("password", smtp.password),
                                   reader.text("password_file", smtp.password_file),
                                   reader.text("password_command", smtp.password_command)};
  reader.text("ca_file", smtp.ca_file);
  if (smtp.host.empty()) reader.refuse(table.source().begin, tr("[smtp] needs host = \"…\", the mail server's name"));
  if (host != nullptr && smtp.host.find_first_of("/@ \t\r\n?#") != std::string::npos) {
    reader.refuse(host->source().begin, tr("\"host\" is a name or an address alone, without a port or a path"));
  }
  if (from != nullptr && !is_mail_address(smtp.from)) {
    reader.refuse(from->source().begin, tr("\"from\" must be one mail address, as gpu@example.org"));
  }
  const toml::node* first = nullptr;
  for (const toml::node* password : passwords) {
    if (password == nullptr) continue;
    if (first != nullptr) {
      reader.refuse(password->source().begin,
                    tr("there is one password only: password, password_file or password_command"));
    }
    first = password;
  }
  if (first == nullptr && user != nullptr) {
    reader.refuse(user->source().begin,
                  tr("a user needs a password: password_file = \"…\", password_command = \"…\" or password = \"…\""));
  }
  if (first != nullptr && smtp.user.empty()) {
    reader.refuse(first->source().begin, tr("a password needs user = \"…\""));
  }
  if (first != nullptr && smtp.tls == SmtpTls::none) {
    reading.advice.push_back(problem_at(
        first->source().begin, tr("with tls = \"none\" the password goes over the network for everybody to read")));
  }
}

void read_watch(const toml::table& table, ConfigReading& reading) {
  TableReader reader(table, "[watch]", reading);
  std::string interval;
  if (const toml::node* node = reader.text("interval", interval)) {
    reading.config.interval_ns = read_duration_ns(interval);
    if (!reading.config.interval_ns) {
      reader.refuse(node->source().begin,
                    fmt::format(fmt::runtime(tr("\"{word}\" is no length of time; write 500ms, 30s, 5m, 2h or 1d")),
                                fmt::arg("word", printable(interval))));
    }
  }
  reader.texts("notify", reading.config.notify);
}

void read_alert(const toml::table& table, ConfigReading& reading) {
  TableReader reader(table, "[[alert]]", reading);
  ConfiguredAlert alert;
  std::string text, severity;
  const toml::node* rule = reader.text("rule", text);
  reader.texts("notify", alert.notify);
  const toml::node* severity_node = reader.text("severity", severity);
  if (rule == nullptr) {
    if (!table.contains("rule")) reader.refuse(table.source().begin, tr("[[alert]] needs rule = \"…\""));
    return;
  }
  auto parsed = parse_alert_rule(text);
  if (!parsed) {
    std::string sentence = parsed.error().message;
    if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
    reader.refuse(rule->source().begin, std::move(sentence));
    return;
  }
  alert.rule = std::move(*parsed);
  if (severity_node != nullptr) {
    const auto named = severity_named(severity);
    if (named) {
      alert.rule.severity = *named;
    } else {
      reader.refuse(severity_node->source().begin, tr("\"severity\" must be \"info\", \"warning\" or \"error\""));
    }
  }
  reading.config.alerts.push_back(std::move(alert));
}

void read_root(const toml::table& root, ConfigReading& reading) {
  TableReader reader(root, tr("the file"), reading);
  const auto table = [&](std::string_view key, void (*read)(const toml::table&, ConfigReading&)) {
    const toml::node* node = reader.get(key);
    if (node == nullptr) return;
    if (const toml::table* found = node->as_table()) return read(*found, reading);
    reader.refuse_type(*node, key, fmt::format(fmt::runtime(tr("a table: [{key}]")), fmt::arg("key", key)));
  };
  table("smtp", read_smtp);
  table("webhook", [](const toml::table& found, ConfigReading& to) {
    TableReader(found, "[webhook]", to).text("ca_file", to.config.settings.webhook_ca_file);
  });
  table("watch", read_watch);
  const toml::node* alerts = reader.get("alert");
  if (alerts == nullptr) return;
  const toml::array* list = alerts->as_array();
  const bool is_list = list != nullptr &&
                       std::all_of(list->begin(), list->end(), [](const toml::node& each) { return each.is_table(); });
  if (!is_list) return reader.refuse_type(*alerts, "alert", tr("one table for each rule: [[alert]]"));
  for (const toml::node& each : *list) read_alert(*each.as_table(), reading);
}

}  // namespace

ConfigReading read_config(std::string_view text, const std::string& path) {
  ConfigReading reading;
  reading.config.path = path;
  const toml::parse_result parsed = toml::parse(text, std::string_view(path));
  if (!parsed) {
    reading.problems.push_back(problem_at(parsed.error().source().begin,
                                          fmt::format(fmt::runtime(tr("this is no TOML ({reason})")),
                                                      fmt::arg("reason", printable(parsed.error().description())))));
    return reading;
  }
  read_root(parsed.table(), reading);
  std::stable_sort(reading.problems.begin(), reading.problems.end(), [](const auto& a, const auto& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  return reading;
}

Result<ConfigReading> read_config_file(const std::string& path) {
  constexpr std::size_t kLargest = 1024 * 1024;
  const auto refuse = [&](const std::string& reason) {
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(tr("The configuration file {path} cannot be read ({reason}).")),
                             fmt::arg("path", printable(path)), fmt::arg("reason", reason))};
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return refuse(error_reason(errno));
  struct stat facts {};
  fstat(file, &facts);
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    close(file);
    return refuse(tr("it is a pipe or a device, no file"));
  }
  std::string text;
  char buffer[16384];
  ssize_t count = 0;
  while (text.size() <= kLargest && (count = read(file, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  const int failed = errno;
  close(file);
  if (count < 0) return refuse(error_reason(failed));
  if (text.size() > kLargest) return refuse(tr("it is larger than 1 MiB"));
  ConfigReading reading = read_config(text, path);
  constexpr unsigned kOthers = 077;
  if (!reading.config.settings.smtp.password.empty() && (facts.st_mode & kOthers) != 0) {
    reading.advice.push_back({0, 0,
                              tr("the file holds a password and others may read it; `chmod 600` it, or use "
                                 "password_file or password_command")});
  }
  return reading;
}

std::string find_config_file() {
  std::vector<std::string> paths;
  const char* xdg = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (xdg != nullptr && xdg[0] == '/') {
    paths.push_back(std::string(xdg) + "/vramscope/config.toml");
  } else if (home != nullptr && home[0] == '/') {
    paths.push_back(std::string(home) + "/.config/vramscope/config.toml");
  }
  paths.push_back("/etc/vramscope/config.toml");
  for (const std::string& path : paths) {
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return {};
}

Result<Config> load_config(const std::string& given) {
  const std::string path = given.empty() ? find_config_file() : given;
  if (path.empty()) return Config{};
  auto reading = read_config_file(path);
  if (!reading) return reading.error();
  if (reading->problems.empty()) return std::move(reading->config);
  return Error{ExitCode::usage, problem_line(path, reading->problems.front())};
}

std::string problem_line(const std::string& path, const ConfigProblem& problem) {
  std::string place = printable(path);
  if (problem.line > 0) place += fmt::format(":{}:{}", problem.line, problem.column);
  return fmt::format("{}: {}.", place, problem.sentence);
}

}  // namespace vramscope
