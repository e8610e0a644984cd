#pragma once
// One watch: samples at a rhythm, what is told of them, and what is kept.
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/alert_options.h"
#include "cli/live.h"
#include "monitor/changes.h"
#include "monitor/monitor.h"
#include "sampling/recorder.h"
#include "sampling/sampler.h"

namespace vramscope {

struct WatchOptions {
  LiveOptions live;
  std::vector<std::string> command;  // empty: no program is started
  std::optional<std::size_t> pid;    // a running process to follow
  AlertOptions alerts;
  std::string record;  // path; empty: none
  bool replace = false;
  std::string duration;  // empty: until it is ended
  bool json = false;
  bool quiet = false;  // problems alone are told
};

// Tells lines: on stdout, or on stderr where stdout belongs to the program that is watched.
class WatchTeller {
 public:
  WatchTeller(bool to_stderr, bool json, bool quiet) : to_stderr_(to_stderr), json_(json), quiet_(quiet) {}
  void tell(const Change& change);
  void tell(const AlertEvent& event);
  // A sentence of the watch itself; not for machines.
  void say(const std::string& text, Severity severity = Severity::info);
  // How and why the watched program ended. Told even when quiet, unless it ended well.
  void tell_end(int exit_code, int signal, const std::string& how, const std::string& why, Severity severity);
  void write(const std::string& text);

 private:
  bool to_stderr_;
  bool json_;
  bool quiet_;
};

// Samples, history, lines and the recording; what drives it decides when.
class WatchSession {
 public:
  static Result<std::unique_ptr<WatchSession>> open(const WatchOptions& options);

  // Takes a sample when it is due. False at the end of a recording.
  bool sample_if_due();
  // Milliseconds until the next sample, for poll(2); at most a second.
  int wait_ms() const;
  // The process, and all that it has started so far, are what concerns the watch: those that ended meanwhile too.
  void follow_tree(std::int32_t pid);
  const std::set<std::int64_t>& followed() const { return followed_; }
  bool is_played_back() const { return sampler_->is_played_back(); }
  // Lines at the end: what was highest, what the recording holds.
  void finish();

  const Monitor& monitor() const { return monitor_; }
  const LiveSample* last_sample() const { return last_; }
  WatchTeller& teller() { return teller_; }
  Recorder* recorder() { return recorder_.get(); }
  // Time of the devices that has passed since the first sample.
  std::int64_t elapsed_ns() const;

 private:
  WatchSession(const WatchOptions& options, std::unique_ptr<Sampler> sampler);
  std::optional<Error> open_alerts(const AlertOptions& options, AlertPlan plan);
  void begin(const WatchOptions& options, const SamplerOptions& sampler_options);
  void alert(const LiveSample& sample);
  void tell_reports();
  void close_alerts();
  void record(const LiveSample& sample, const std::vector<Change>& changes);

  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Recorder> recorder_;
  std::string record_path_;
  Monitor monitor_;
  ChangeLog log_;
  std::unique_ptr<AlertWatch> alerts_;              // null without rules
  std::vector<std::vector<std::size_t>> channels_;  // of each rule
  std::mutex reports_lock_;
  std::vector<ChannelReport> reports_;      // from the channels' threads, not told yet
  std::unique_ptr<Dispatcher> dispatcher_;  // ends before what its reports go to
  WatchTeller teller_;
  std::set<std::int64_t> followed_;
  const LiveSample* last_ = nullptr;
};

}  // namespace vramscope
