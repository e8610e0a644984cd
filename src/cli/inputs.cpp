#include "cli/inputs.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "fmt/format.h"
#include "import/reader.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("FILE", options.files, tr("Files to read; - is standard input"))->required()->type_name("");
  app.add_flag("--json", options.json, tr("Print JSON for machines"));
  app.add_option_function<std::string>(
         "--format", [&options](const std::string& format) { options.json = format == "json"; },
         tr("text or json; --json is the same as --format json"))
      ->check(CLI::IsMember({"text", "json"}));
}

Result<Case> load_case(const InputOptions& options) {
  Case input;
  for (const std::string& path : options.files) {
    ProgressLine line(fmt::format(fmt::runtime(tr("reading {path}")), fmt::arg("path", printable(path))));
    Result<Source> source = load_source(path, [&](std::int64_t done, std::int64_t total) { line.update(done, total); });
    if (!source) return source.error();
    input.sources.push_back(std::move(*source));
  }
  return input;
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

namespace {

// Trouble that means a part of the recording is missing, unlike oddities that are read in full.
bool is_damage(const std::string& name) {
  for (const char* const damage : {"cut_file", "cut_event", "cut_behind_events", "malformed_event", "gzip_cut",
                                   "gzip_corrupt", "zstd_cut", "zstd_corrupt", "read_failed"}) {
    if (name == damage) return true;
  }
  return false;
}

}  // namespace

std::string trouble_header(const Case& input) {
  std::string text;
  for (const Source& source : input.sources) {
    for (const Trouble& trouble : source.trouble) {
      if (!is_damage(trouble.name)) continue;
      text +=
          paint(fmt::format(fmt::runtime(tr("{path} is damaged: {name} ({count}, first at byte {offset}); what "
                                            "could be read is shown.")),
                            fmt::arg("path", printable(source.path)), fmt::arg("name", trouble.name),
                            fmt::arg("count", format_count(trouble.count)), fmt::arg("offset", trouble.first_offset)),
                Colour::yellow);
      text += "\n";
    }
  }
  return text;
}

}  // namespace vramscope
