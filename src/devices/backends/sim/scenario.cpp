#include "devices/backends/sim/scenario.h"

#include <charconv>

#include "fmt/format.h"
#include "text/catalogue.h"

namespace vramscope::sim {

namespace {

constexpr int kMostGpus = 64;
constexpr std::size_t kMostProcesses = 4096;  // of one block
constexpr std::int64_t kPidsApart = 1000;     // of the same process on the next GPU of a block
constexpr std::int64_t kMostPid = 4'000'000;

struct Range {
  std::int64_t first = 0, last = 0;
};

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "3" or "0..7".
std::optional<Range> parse_range(std::string_view text, std::int64_t most) {
  const std::size_t dots = text.find("..");
  const auto first = parse_int(text.substr(0, dots));
  const auto last = dots == text.npos ? first : parse_int(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last > most) return std::nullopt;
  return Range{*first, *last};
}

bool set_time(std::int64_t& out, std::string_view text) {
  const auto time = parse_time(text);
  if (time) out = *time;
  return time.has_value();
}

bool set_curve(std::optional<Curve>& out, std::string_view text) {
  out = Curve::parse(text);
  return out.has_value();
}

bool set_int(std::optional<std::int64_t>& out, std::string_view text) {
  out = parse_int(text);
  return out.has_value();
}

// As nvidia-smi writes them.
bool set_type(SimProcess& process, std::string_view text) {
  process.is_mps = text == "M+C";
  process.type = ProcessType::compute;
  if (text == "G") process.type = ProcessType::graphics;
  if (text == "C+G") process.type = ProcessType::compute_and_graphics;
  return text == "C" || text == "G" || text == "C+G" || text == "M+C";
}

class Parser {
 public:
  bool line(std::string_view text);
  Scenario finish();

 private:
  enum class Section { none, gpu, mig, process };
  bool begin(std::string_view word, std::string_view rest);
  bool set(std::string_view key, std::string_view value);
  bool set_gpu(std::string_view key, std::string_view value);
  bool set_mig(std::string_view key, std::string_view value);
  bool set_process(std::string_view key, std::string_view value);
  void end_processes();
  void end_block();

  Scenario scenario_;
  Section section_ = Section::none;
  std::optional<Range> gpus_, pids_;
  SimGpu gpu_;
  SimProcess process_;
};

bool Parser::line(std::string_view text) {
  text = trimmed(text.substr(0, text.find('#')));
  if (text.empty()) return true;
  const std::size_t equals = text.find('=');
  if (equals != text.npos) return set(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
  std::string_view rest = text;
  const std::string_view word = next_word(rest);
  return begin(word, trimmed(rest));
}

bool Parser::begin(std::string_view word, std::string_view rest) {
  if (word == "scenario") {
    scenario_.title = rest;
    return !rest.empty();
  }
  if (word == "gpu") {
    end_block();
    gpus_ = parse_range(rest, kMostGpus - 1);
    section_ = Section::gpu;
    return gpus_.has_value();
  }
  if (!gpus_) return false;
  end_processes();
  if (word == "mig") {
    gpu_.migs.emplace_back();
    section_ = Section::mig;
    return rest.empty();
  }
  if (word != "process") return false;
  pids_ = parse_range(rest, kMostPid);
  section_ = Section::process;
  return pids_ && static_cast<std::size_t>(pids_->last - pids_->first) < kMostProcesses;
}

bool Parser::set(std::string_view key, std::string_view value) {
  if (value.empty()) return false;
  switch (section_) {
    case Section::gpu:
      return set_gpu(key, value);
    case Section::mig:
      return set_mig(key, value);
    case Section::process:
      return set_process(key, value);
    default:
      return false;
  }
}

bool Parser::set_gpu(std::string_view key, std::string_view value) {
  if (key == "memory.other") return set_curve(gpu_.other_used, value);
  if (key == "lost") {
    gpu_.lost_ns = parse_time(value);
    return gpu_.lost_ns.has_value();
  }
  const std::optional<Metric> metric = metric_named(key);
  if (!metric || *metric == Metric::index || *metric == Metric::count) return false;
  if (info_of(*metric).unit == MetricUnit::text) {
    gpu_.texts.emplace_back(*metric, value);
    return true;
  }
  std::optional<Curve> curve = Curve::parse(value);
  if (curve) gpu_.curves.emplace_back(*metric, std::move(*curve));
  return curve.has_value();
}

bool Parser::set_mig(std::string_view key, std::string_view value) {
  SimMig& mig = gpu_.migs.back();
  if (key == "name") {
    mig.name = value;
    return true;
  }
  const auto amount = parse_amount(value);
  if (!amount) return false;
  if (key == "gpu_instance") mig.gpu_instance = *amount;
  if (key == "compute_instance") mig.compute_instance = *amount;
  if (key == "memory.total") mig.total_bytes = *amount;
  return key == "gpu_instance" || key == "compute_instance" || key == "memory.total";
}

bool Parser::set_process(std::string_view key, std::string_view value) {
  SimProcess& p = process_;
  if (key == "used") return set_curve(p.used, value);
  if (key == "sm") return set_curve(p.sm, value);
  if (key == "mem") return set_curve(p.memory, value);
  if (key == "enc") return set_curve(p.encoder, value);
  if (key == "dec") return set_curve(p.decoder, value);
  if (key == "allocator_reserved_bytes") return set_curve(p.allocator_reserved, value);
  if (key == "allocator_allocated_bytes") return set_curve(p.allocator_allocated, value);
  if (key == "allocator_active_bytes") return set_curve(p.allocator_active, value);
  if (key == "gpu_instance") return set_int(p.gpu_instance, value);
  if (key == "compute_instance") return set_int(p.compute_instance, value);
  if (key == "from") return set_time(p.from_ns, value);
  if (key == "until") {
    p.until_ns = parse_time(value);
    return p.until_ns.has_value();
  }
  if (key == "type") return set_type(p, value);
  if (key == "name") p.host.name = value;
  if (key == "user") p.host.user = value;
  if (key == "state") p.host.state = value.front();
  if (key == "parent") {
    const auto parent = parse_int(value);
    p.host.parent_pid = parent.value_or(0);
    return parent.has_value();
  }
  return key == "name" || key == "user" || (key == "state" && value.size() == 1);
}

void Parser::end_processes() {
  if (pids_ && gpu_.processes.size() < kMostProcesses) {
    for (std::int64_t pid = pids_->first; pid <= pids_->last; ++pid) {
      process_.pid = pid;
      process_.host.start_ns = process_.from_ns;
      gpu_.processes.push_back(process_);
    }
  }
  pids_.reset();
  process_ = {};
}

void Parser::end_block() {
  end_processes();
  if (gpus_) {
    for (std::int64_t index = gpus_->first; index <= gpus_->last; ++index) {
      SimGpu gpu = gpu_;
      gpu.index = static_cast<int>(index);
      for (SimProcess& process : gpu.processes) process.pid += (index - gpus_->first) * kPidsApart;
      scenario_.gpus.push_back(std::move(gpu));
    }
  }
  gpus_.reset();
  gpu_ = {};
}

Scenario Parser::finish() {
  end_block();
  return std::move(scenario_);
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view origin) {
  Parser parser;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!parser.line(line)) {
      return Error{ExitCode::bad_input,
                   fmt::format(fmt::runtime(tr("Line {line} of the scenario {scenario} is not understood: {text}")),
                               fmt::arg("line", number), fmt::arg("scenario", origin),
                               fmt::arg("text", trimmed(line).substr(0, 200)))};
    }
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  Scenario scenario = parser.finish();
  if (scenario.gpus.empty()) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("The scenario {scenario} has no GPU; begin a block with `gpu 0`.")),
                             fmt::arg("scenario", origin))};
  }
  return scenario;
}

}  // namespace vramscope::sim
