#include "cli/inputs.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "cli/options.h"
#include "fmt/format.h"
#include "import/reader.h"
#include "report/paths.h"
#include "report/sum_limits.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {

void add_input_options(CLI::App& app, InputOptions& options, Files files) {
  app.add_option("FILE", options.files, tr("Files to read; - is standard input"))
      ->required(files == Files::required)
      ->type_name("");
  app.add_flag("--json", options.json_flag, tr("Print JSON for machines"));
  add_choice(app, "--format", options.format, {"text", "json"}, tr("text or json; --json is the same as --format json"))
      ->type_name("text|json");
}

namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::error_code error;
  return a != "-" && b != "-" && std::filesystem::is_regular_file(a, error) &&
         std::filesystem::equivalent(a, b, error) && !error;
}

// What is wrong with the options before any file is read; an empty text when nothing is.
std::string contradiction(const InputOptions& options) {
  if (options.json_flag && options.format == "text") {
    return tr("--json and --format text contradict each other; give one of them.");
  }
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!is_same_file(options.files[k], options.files[i])) continue;
      return fmt::format(fmt::runtime(tr("{path} is given twice; name each file once.")),
                         fmt::arg("path", shown_path(options.files[i])));
    }
  }
  return {};
}

Result<Source> load(const std::string& path) {
  ProgressLine line(fmt::format(fmt::runtime(tr("reading {path}")), fmt::arg("path", shown_path(path))));
  const Progress progress = [&](std::int64_t done, std::int64_t total) { line.update(done, total); };
  if (path != "-") return load_source(path, progress);
  // Sentences say "standard input"; the source itself keeps the name that was given.
  Result<std::unique_ptr<ByteStream>> stream = open_stream(path);
  if (!stream) return stream.error();
  Result<Source> source = read_source(**stream, tr("standard input"), progress);
  if (source) source->path = path;
  return source;
}

}  // namespace

Result<Loaded> load_case(const InputOptions& options) {
  if (const std::string problem = contradiction(options); !problem.empty()) return Error{ExitCode::usage, problem};
  Loaded loaded;
  std::vector<Error> refused;
  for (const std::string& path : options.files) {
    Result<Source> source = load(path);
    if (source) {
      loaded.input.sources.push_back(std::move(*source));
    } else {
      refused.push_back(source.error());
    }
  }
  // The last sentence is the Error itself when there is nothing to report on.
  const bool is_nothing = loaded.input.sources.empty();
  for (std::size_t i = 0; i + (is_nothing ? 1 : 0) < refused.size(); ++i) loaded.code = fail(refused[i]);
  if (is_nothing) return refused.back();
  return loaded;
}

ExitCode fail(const Error& error) {
  const std::string line = "vramscope: " + printable(error.message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return error.code;
}

namespace {
bool output_failed = false;
}

bool could_print() {
  return !output_failed;
}

void print(const std::string& text) {
  std::signal(SIGPIPE, SIG_IGN);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EPIPE) {
      return;  // `… | head` has seen enough
    } else if (errno != EINTR && errno != EAGAIN) {
      output_failed = true;
      fail({ExitCode::machine, tr("The output could not be written; check the disk or the pipe that it goes to.")});
      return;
    }
  }
}

bool is_damage(std::string_view name) {
  for (const char* const damage :
       {"cut_file", "cut_event", "cut_behind_events", "malformed_event", "gzip_cut", "gzip_corrupt", "zstd_cut",
        "zstd_corrupt", "read_failed", "event_too_large", "second_document", "text_behind_trace",
        "too_many_memory_devices",
        // of a recording
        "header_damaged", "chunk_header_damaged", "payload_damaged", "cut_short", "sequence_gap", "columns_damaged",
        "base_missing", "unknown_string", "unknown_subject", "unknown_series", "dropped_rows", "must_understand",
        "too_many_names", "no_end"}) {
    if (name == damage) return true;
  }
  return false;
}

namespace {

std::string out_of_range_line(const Source& source, std::int64_t count) {
  const std::string line =
      fmt::format(fmt::runtime(tr_n("{path}: {count} sum is too large for 64 bits and is shown as the largest number "
                                    "there is; the sizes or times in the file cannot be right.",
                                    "{path}: {count} sums are too large for 64 bits and are shown as the largest "
                                    "number there is; the sizes or times in the file cannot be right.",
                                    static_cast<long>(count))),
                  fmt::arg("path", shown_path(source.path)), fmt::arg("count", format_count(count)));
  return wrap(paint(line, Colour::yellow), line_columns());
}

}  // namespace

std::string trouble_header(const Case& input) {
  std::string text;
  for (const Source& source : input.sources) {
    for (const Trouble& trouble : source.trouble) {
      if (trouble.name == kSumOutOfRange) text += out_of_range_line(source, trouble.count);
      if (!is_damage(trouble.name)) continue;
      const std::string line =
          fmt::format(fmt::runtime(tr("{path} is damaged: {name} ({count}, first at byte {offset}); what could be read "
                                      "is shown.")),
                      fmt::arg("path", shown_path(source.path)), fmt::arg("name", trouble.name),
                      fmt::arg("count", format_count(trouble.count)), fmt::arg("offset", trouble.first_offset));
      text += wrap(paint(line, Colour::yellow), line_columns());
    }
  }
  return text;
}

}  // namespace vramscope
