#include "cli/commands/watch/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/commands/watch/late_sampler.h"
#include "cli/driver_patience.h"
#include "cli/inputs.h"
#include "fmt/format.h"
#include "report/alert_message.h"
#include "report/end_reason.h"
#include "report/findings.h"
#include "report/phrases.h"
#include "report/watch_lines.h"
#include "system/host.h"
#include "text/catalogue.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {

namespace {

recording::EventKind event_kind(ChangeKind kind) {
  if (kind == ChangeKind::process_start) return recording::EventKind::process_start;
  if (kind == ChangeKind::process_end) return recording::EventKind::process_end;
  return recording::EventKind::line;
}

std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  return line;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return !b.empty() && stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

bool is_one_place(int a, int b) {
  struct stat one {
  }, other{};
  return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

WatchTeller::WatchTeller(bool to_stderr, bool json, bool quiet)
    : is_one_place_(is_one_place(STDOUT_FILENO, STDERR_FILENO)), to_stderr_(to_stderr), json_(json), quiet_(quiet) {}

void WatchTeller::write(const std::string& text) {
  if (!to_stderr_) {
    print(text);
    std::fflush(stdout);  // a pipe or file is read while the watch goes on
    return;
  }
  const bool is_behind_words = is_mid_line_.exchange(false);
  std::fputs(((is_behind_words ? "\n" : "") + text).c_str(), stderr);
}

void WatchTeller::note_output(int stream, std::string_view bytes) {
  const bool is_beside = stream == STDERR_FILENO || is_one_place_;
  if (is_beside && !bytes.empty()) is_mid_line_ = bytes.back() != '\n';
}

void WatchTeller::tell(const Change& change) {
  if (quiet_ && change.severity == Severity::info) return;
  write(json_ ? change_json(change) : change_line(change));
}

void WatchTeller::tell(const AlertEvent& event) {
  write(json_ ? alert_line_json(event) : alert_line(event));
}

void WatchTeller::say(const std::string& text, Severity severity) {
  if (json_ || (quiet_ && severity == Severity::info)) return;
  std::string line = to_stderr_ ? "vramscope: " : "";
  if (severity != Severity::info) line += severity_label(severity) + "  ";
  write(line + text + "\n");
}

void WatchTeller::tell_end(const EndReason& reason, std::int64_t lasted_ns) {
  const Severity severity = end_severity(reason);
  if (quiet_ && severity == Severity::info) return;
  if (json_) return write(end_json(recording::read_clocks().realtime_ns, reason, lasted_ns));
  if (const std::string curve = end_curve_text(reason); !curve.empty()) say(curve);
  const std::string why = why_text(reason, Wording::chosen_language);
  std::string text = printable(end_sentence(reason, lasted_ns, Wording::chosen_language));
  if (!why.empty()) text += (language() == "zh" ? "" : " ") + printable(why);
  std::string details = end_details_text(reason);
  if (!details.empty()) details.pop_back();  // say() ends the line
  say(details.empty() ? text : text + "\n" + details, severity);
}

WatchSession::WatchSession(const WatchOptions& options)
    : has_program_(!options.command.empty()), teller_(!options.command.empty(), options.json, options.quiet) {}

Result<std::unique_ptr<WatchSession>> WatchSession::open(const WatchOptions& options) {
  auto plan = alert_plan(options.alerts);
  if (!plan) return plan.error();
  auto sampler_options = options.live.sampler_options();
  if (!sampler_options) return sampler_options.error();
  if (options.live.interval.empty() && plan->config.interval_ns)
    sampler_options->interval_ns = *plan->config.interval_ns;
  sampler_options->wanted.metrics |= metrics_of(plan->rules);  // costly ones are asked for by name alone
  auto session = std::unique_ptr<WatchSession>(new WatchSession(options));
  if (auto error = session->open_devices(options, *sampler_options)) return std::move(*error);
  if (!options.record.empty() && is_same_file(options.record, sampler_options->replay)) {
    return Error{ExitCode::usage, filled(tr("{path} is what is played back; record into another file."),
                                         fmt::arg("path", options.record))};
  }
  if (!options.record.empty()) {
    const Recorder::Options recorder_options{"vramscope " VRAMSCOPE_VERSION, command_line(options.command),
                                             options.replace, session->sampler_->is_played_back()};
    auto recorder = Recorder::open(options.record, recorder_options, read_machine());
    if (!recorder) return recorder.error();
    session->recorder_ = std::move(*recorder);
    session->record_path_ = options.record;
  }
  if (const auto error = session->open_alerts(options.alerts, std::move(*plan))) return *error;
  session->begin(options, *sampler_options);
  return session;
}

std::optional<Error> WatchSession::open_devices(const WatchOptions& options, const SamplerOptions& sampler_options) {
  // A program is kept from running neither for want of a driver nor by one that does not answer.
  const bool is_chosen = !sampler_options.device.empty() || !sampler_options.replay.empty();
  if (!options.command.empty() && !is_chosen) {
    sampler_ = late_sampler(sampler_options, [this](const Error& error) {
      teller_.say(error.message + " " + tr("The program is watched without its devices."), Severity::warning);
    });
    return std::nullopt;
  }
  DriverPatience patience(pending_end_signal);
  const DriverPatience::Call call(patience);
  auto sampler = open_sampler(sampler_options);
  if (!sampler) return sampler.error();
  sampler_ = std::move(*sampler);
  return std::nullopt;
}

std::optional<Error> WatchSession::open_alerts(const AlertOptions& options, AlertPlan plan) {
  if (plan.rules.empty()) {
    if (options.channels.empty()) return std::nullopt;
    return Error{ExitCode::usage,
                 tr("There is nothing to notify of; add --alert 'memory.used > 90%' or another rule.")};
  }
  const std::string host = read_machine().host_name.value_or("");
  dispatcher_ =
      std::make_unique<Dispatcher>(notify_settings(plan, host), OutboxOptions(), [this](const ChannelReport& report) {
        const std::lock_guard lock(reports_lock_);
        reports_.push_back(report);
      });
  auto channels = open_channels(plan, *dispatcher_);
  if (!channels) return channels.error();
  channels_ = std::move(*channels);
  alerts_ = std::make_unique<AlertWatch>(std::move(plan.rules), host);
  return std::nullopt;
}

void WatchSession::alert(const LiveSample& sample) {
  if (alerts_ == nullptr) return;
  const AlertNews news = alerts_->add(sample, monitor_);
  for (const std::size_t rule : news.obstacles) {
    teller_.say(obstacle_sentence(alerts_->rules()[rule], alerts_->report(rule).obstacle), Severity::warning);
  }
  for (const AlertEvent& event : news.events) {
    teller_.tell(event);
    dispatcher_->post(event, channels_[event.rule_index]);
    if (recorder_ == nullptr) continue;
    const bool is_over = event.kind == AlertKind::resolved;
    recorder_->add_event(is_over ? recording::EventKind::alert_resolved : recording::EventKind::alert, sample.time_ns,
                         event.subject.process ? event.subject.process->pid : 0, static_cast<int>(event.severity),
                         alert_sentence(event, Wording::english));
  }
}

void WatchSession::tell_reports() {
  std::vector<ChannelReport> reports;
  {
    const std::lock_guard lock(reports_lock_);
    reports.swap(reports_);
  }
  for (const ChannelReport& report : reports) {
    const bool is_well = report.news == ChannelNews::working;
    teller_.say(report_sentence(report), is_well ? Severity::info : Severity::warning);
  }
}

void WatchSession::close_alerts() {
  constexpr std::chrono::seconds kLimit{5};
  if (dispatcher_ == nullptr) return;
  for (const Undelivered& notice : dispatcher_->close(kLimit)) {
    teller_.say(undelivered_sentence(notice), Severity::warning);
  }
  tell_reports();
}

void WatchSession::begin(const WatchOptions& options, const SamplerOptions& sampler_options) {
  interval_ns_ = sampler_options.interval_ns;
  const bool is_about_all = !options.pid && options.command.empty();
  if (is_about_all && !sampler_->is_played_back()) gone_ = std::make_unique<GoneProcesses>(sampler_options.roots);
  if (options.pid) {
    log_.follow({static_cast<std::int64_t>(*options.pid)});
  } else if (!options.command.empty()) {
    log_.follow({});
  }
  if (!options.command.empty()) return;  // its own output is what people want to see
  std::string text = filled(tr("Looking every {interval}; a line comes when something changes."),
                            fmt::arg("interval", format_duration(sampler_options.interval_ns)));
  if (recorder_ != nullptr) {
    text += " " + filled(tr("Recorded in {path}."), fmt::arg("path", printable(record_path_)));
  }
  if (isatty(STDIN_FILENO) != 0) text += std::string(" ") + tr("Ctrl-C ends.");
  teller_.say(text);
}

void WatchSession::follow(const std::set<std::int64_t>& pids) {
  std::set<std::int64_t> kept = pids;
  for (const HolderHistory& holder : monitor_.holders()) {
    if (followed_.count(holder.key.pid) != 0) kept.insert(holder.key.pid);
  }
  followed_ = std::move(kept);
  log_.follow(followed_);
}

int WatchSession::wait_ms() const {
  constexpr std::int64_t kMostMs = 1000;
  constexpr std::int64_t kLeastBesideProgramMs = 10;
  const std::int64_t left_ns = sampler_->due_ns() - monotonic_now_ns();
  const std::int64_t least_ms = has_program_ && is_played_back() ? kLeastBesideProgramMs : 0;
  return static_cast<int>(std::clamp<std::int64_t>((left_ns + 999'999) / 1'000'000, least_ms, kMostMs));
}

std::int64_t WatchSession::elapsed_ns() const {
  return monitor_.last_time_ns() - monitor_.first_time_ns();
}

bool WatchSession::sample_if_due() {
  // An hour at 1 Hz in a few seconds, and the program keeps the core.
  constexpr int kMostBesideProgram = 16;
  const int most = has_program_ && is_played_back() ? kMostBesideProgram : 1;
  for (int taken = 0; taken < most && sampler_->due_ns() <= monotonic_now_ns(); ++taken) {
    if (!take_sample()) return false;
  }
  return true;
}

void WatchSession::tell_silence() {
  const std::int64_t asked_ns = asked_ns_;
  const std::int64_t now_ns = monotonic_now_ns();
  const bool is_told = silence_told_ns_ != 0;
  if (is_told ? asked_ns == silence_told_ns_ : asked_ns == 0 || now_ns - asked_ns < kSilenceNs) return;
  Change change;
  change.time_ns = now_ns;
  change.real_time_ns = recording::read_clocks().realtime_ns;
  if (is_told) {
    change.kind = ChangeKind::driver_answers;
    change.message.id = N_("The driver answers again.");
    silence_told_ns_ = 0;
  } else {
    change.kind = ChangeKind::driver_silent;
    change.severity = Severity::warning;
    change.message.id = N_("The driver has not answered for {time}; nothing is known of the devices meanwhile.");
    change.message.arguments.emplace_back("time", time_value(kSilenceNs));
    silence_told_ns_ = asked_ns;
  }
  teller_.tell(change);
}

void WatchSession::take_over_or_leave(ExitCode code) {
  teller_.say(tr("The driver does not answer; what the devices did at last is not known. Look at the kernel's log "
                 "(sudo dmesg | grep -i -e nvrm -e xid)."),
              Severity::error);
  // Never unlocked.
  if (!state_lock_.try_lock_for(std::chrono::nanoseconds(kLetGoNs))) leave_at_once(code);
}

void leave_at_once(ExitCode code) {
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

bool WatchSession::take_sample() {
  asked_ns_ = monotonic_now_ns();
  const LiveSample* sample = sampler_->sample();
  const std::lock_guard lock(state_lock_);
  asked_ns_ = 0;
  if (sample == nullptr) return false;
  last_ = sample;
  monitor_.add(*sample);
  const std::vector<Change> changes = log_.update(*sample, monitor_);
  for (const Change& change : changes) teller_.tell(change);
  record(*sample, changes);
  alert(*sample);
  if (gone_ != nullptr) {
    for (const EndReason& reason : gone_->add(*sample, monitor_)) {
      teller_.tell_end(reason, -1);
      record_end(reason, -1);
    }
  }
  tell_reports();
  return true;
}

void WatchSession::record(const LiveSample& sample, const std::vector<Change>& changes) {
  if (recorder_ == nullptr) return;
  std::optional<Error> error = recorder_->add(sample);
  for (const Change& change : changes) {
    const std::string text = sentence(change.message.id, change.message.arguments, Wording::english);
    auto failed = recorder_->add_event(event_kind(change.kind), sample.time_ns, change.pid.value_or(0), 0, text);
    if (!error) error = std::move(failed);
  }
  if (error) teller_.say(error->message, Severity::warning);
}

void WatchSession::record_end(const EndReason& reason, std::int64_t lasted_ns) {
  if (recorder_ == nullptr) return;
  const std::string why = why_text(reason, Wording::english);
  const std::string how = end_sentence(reason, lasted_ns, Wording::english);
  const int code = reason.signal ? 128 + *reason.signal : reason.exit_code.value_or(0);
  recorder_->add_event(recording::EventKind::exit_reason, monitor_.last_time_ns(), reason.pid, code,
                       why.empty() ? how : how + " " + why);
}

void WatchSession::finish() {
  close_alerts();
  if (recorder_ != nullptr) {
    if (const auto error = recorder_->close()) teller_.say(error->message, Severity::warning);
    const recording::Totals& totals = recorder_->totals();
    std::string text =
        filled(tr("Recorded: {path}, {bytes}, {samples} values in {time}."), fmt::arg("path", printable(record_path_)),
               fmt::arg("bytes", format_bytes(totals.bytes)), fmt::arg("samples", format_count(totals.samples)),
               fmt::arg("time", format_duration(elapsed_ns() / 1'000'000'000 * 1'000'000'000)));
    if (totals.dropped > 0) {
      text += " " + counted(NN_("{count} value could not be written.", "{count} values could not be written."),
                            totals.dropped);
    }
    teller_.say(text, totals.dropped > 0 ? Severity::warning : Severity::info);
  }
  for (const DeviceHistory& device : monitor_.devices()) {
    const auto range = device.memory_used.range_since(monitor_.first_time_ns());
    if (!range || device.parent_index) continue;
    const std::string total = device.memory_total_bytes ? format_bytes(*device.memory_total_bytes) : tr("N/A");
    teller_.say(filled(tr("GPU {gpu}: memory in use was between {low} and {high} of {total}."),
                       fmt::arg("gpu", device.index), fmt::arg("low", format_bytes(range->first)),
                       fmt::arg("high", format_bytes(range->second)), fmt::arg("total", total)));
  }
}

}  // namespace vramscope
