#include "cli/commands/top/setup_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "fmt/format.h"
#include "monitor/alert_units.h"
#include "system/files.h"
#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

using tui::Setup;
constexpr std::size_t kMostBytes = 1 << 20;

struct Flag {
  std::string_view name;
  bool Setup::*member;
};
constexpr Flag kFlags[] = {{"falling", &Setup::is_falling},      {"tree", &Setup::is_tree},
                           {"plots", &Setup::show_plots},        {"processes", &Setup::show_processes},
                           {"newest_left", &Setup::newest_left}, {"fahrenheit", &Setup::fahrenheit}};

std::string window_name(std::size_t zoom) {
  const std::int64_t seconds = tui::kWindows[zoom];
  return seconds < 3600 ? fmt::format("{}m", seconds / 60) : fmt::format("{}h", seconds / 3600);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  void read(const toml::table& table) {
    // In the order of the file, which the table does not keep.
    std::vector<std::pair<std::int64_t, std::string>> keys;
    for (const auto& [key, node] : table) keys.emplace_back(key.source().begin.line, std::string(key.str()));
    std::sort(keys.begin(), keys.end());
    for (const auto& [line, key] : keys) read_key(key, *table.get(key), line);
  }
  SetupReading take() { return std::move(reading_); }
  void add_problem(std::int64_t line, const std::string& sentence) {
    reading_.problems.push_back(fmt::format("{}:{}: {}", printable(path_), line, sentence));
  }

 private:
  void read_key(const std::string& key, const toml::node& node, std::int64_t line) {
    Setup& setup = reading_.setup;
    for (const Flag& flag : kFlags) {
      if (key != flag.name) continue;
      if (const auto value = node.value_exact<bool>()) {
        setup.*flag.member = *value;
      } else {
        wrong(key, line, "true, false");
      }
      return;
    }
    if (key == "columns") {
      read_names(key, node, line, setup.columns, tui::column_table());
    } else if (key == "curves") {
      read_names(key, node, line, setup.curves, tui::curve_table());
    } else if (key == "sort") {
      const auto column = tui::column_named(node.value_or<std::string>(""));
      if (column) {
        setup.sort = *column;
      } else {
        wrong(key, line, names_of(tui::column_table()));
      }
    } else if (key == "window") {
      read_window(key, node, line);
    } else {
      add_problem(line, fmt::format(fmt::runtime(tr("\"{key}\" is not known here; it is kept.")),
                                    fmt::arg("key", printable(key))));
    }
  }

  template <typename Table>
  static std::string names_of(const Table& table) {
    std::string names;
    for (const auto& info : table) names += (names.empty() ? "" : ", ") + std::string(info.name);
    return names;
  }

  template <std::size_t N, typename Table>
  void read_names(const std::string& key, const toml::node& node, std::int64_t line, std::array<bool, N>& shown,
                  const Table& table) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return wrong(key, line, names_of(table));
    shown.fill(false);
    for (const toml::node& entry : *list) {
      const auto name = entry.value<std::string>();
      const auto found = std::find_if(table.begin(), table.end(), [&](const auto& info) { return name == info.name; });
      if (found == table.end()) {
        wrong(key, entry.source().begin.line, names_of(table));
      } else {
        shown[static_cast<std::size_t>(found - table.begin())] = true;
      }
    }
  }

  void read_window(const std::string& key, const toml::node& node, std::int64_t line) {
    const auto wanted_ns = read_duration_ns(node.value_or<std::string>(""));
    std::string names;
    for (std::size_t i = 0; i < tui::kWindows.size(); ++i) {
      names += (names.empty() ? "" : ", ") + window_name(i);
      if (wanted_ns && *wanted_ns == tui::kWindows[i] * 1'000'000'000) {
        reading_.setup.zoom = i;
        return;
      }
    }
    wrong(key, line, names);
  }

  void wrong(const std::string& key, std::int64_t line, const std::string& choices) {
    add_problem(line, fmt::format(fmt::runtime(tr("\"{key}\" cannot be used as it is; choose from {choices}.")),
                                  fmt::arg("key", printable(key)), fmt::arg("choices", choices)));
  }

  const std::string& path_;
  SetupReading reading_;
};

template <std::size_t N, typename Table>
toml::array names_shown(const std::array<bool, N>& shown, const Table& table) {
  toml::array names;
  for (std::size_t i = 0; i < N; ++i) {
    if (shown[i]) names.push_back(std::string(table[i].name));
  }
  return names;
}

void put(toml::table& table, const Setup& setup) {
  table.insert_or_assign("columns", names_shown(setup.columns, tui::column_table()));
  table.insert_or_assign("curves", names_shown(setup.curves, tui::curve_table()));
  table.insert_or_assign("sort", std::string(tui::info_of(setup.sort).name));
  table.insert_or_assign("window", window_name(setup.zoom));
  for (const Flag& flag : kFlags) table.insert_or_assign(flag.name, setup.*flag.member);
}

Error cannot_write(const std::string& path, int code) {
  return {ExitCode::machine, fmt::format(fmt::runtime(tr("{path} cannot be written: {reason}.")),
                                         fmt::arg("path", printable(path)), fmt::arg("reason", error_reason(code)))};
}

}  // namespace

std::string usual_setup_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/') return std::string(config) + "/vramscope/top.toml";
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] != 0 ? std::string(home) + "/.config/vramscope/top.toml" : std::string();
}

SetupReading parse_setup(std::string_view text, const std::string& path) {
  Reader reader(path);
  const toml::parse_result parsed = toml::parse(text);
  if (parsed) {
    reader.read(parsed.table());
  } else {
    reader.add_problem(parsed.error().source().begin.line,
                       fmt::format(fmt::runtime(tr("this is not TOML ({reason}); nothing of the file is used")),
                                   fmt::arg("reason", printable(parsed.error().description()))));
  }
  return reader.take();
}

SetupReading read_setup(const std::string& path) {
  if (path.empty()) return {};
  const auto text = read_file(path, kMostBytes);
  if (text) return parse_setup(*text, path);
  SetupReading reading;
  if (const int code = errno; code != ENOENT && code != ENOTDIR) {
    reading.problems.push_back(fmt::format("{}: {}", printable(path), error_reason(code)));
  }
  return reading;
}

std::optional<Error> save_setup(const std::string& path, const tui::Setup& setup) {
  if (path.empty()) {
    return Error{ExitCode::machine, tr("There is no place for the setup: set HOME, or name a file with --setup.")};
  }
  toml::table table;
  if (const auto text = read_file(path, kMostBytes)) {
    toml::parse_result parsed = toml::parse(*text);
    if (!parsed) {
      return Error{ExitCode::machine,
                   fmt::format(fmt::runtime(tr("{path} is not TOML and would be lost; correct or remove it first.")),
                               fmt::arg("path", printable(path)))};
    }
    table = std::move(parsed).table();
  }
  put(table, setup);
  std::ostringstream text;
  text << table << "\n";
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  // Written beside it first: a full disk must not cost the old one.
  const std::string beside = path + ".new";
  std::FILE* file = std::fopen(beside.c_str(), "we");
  if (file == nullptr) return cannot_write(path, errno);
  const std::string bytes = text.str();
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int code = errno;
  if (std::fclose(file) != 0 || !is_written || std::rename(beside.c_str(), path.c_str()) != 0) {
    const Error error = cannot_write(path, is_written ? errno : code);
    std::remove(beside.c_str());
    return error;
  }
  return std::nullopt;
}

}  // namespace vramscope
