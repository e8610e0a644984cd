#pragma once
// One watch: samples at a rhythm, what is told of them, and what is kept.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/alert_options.h"
#include "cli/live.h"
#include "model/end_reason.h"
#include "monitor/changes.h"
#include "monitor/gone_processes.h"
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
  WatchTeller(bool to_stderr, bool json, bool quiet);
  void tell(const Change& change);
  void tell(const AlertEvent& event);
  // A sentence of the watch itself; not for machines.
  void say(const std::string& text, Severity severity = Severity::info);
  // How and why the watched program ended. Told even when quiet, unless it ended well.
  // `lasted_ns` below 0: it was not started by us.
  void tell_end(const EndReason& reason, std::int64_t lasted_ns);
  void write(const std::string& text);
  // What the program wrote, to begin our own on a line of its own. From any thread.
  void note_output(int stream, std::string_view bytes);

 private:
  const bool is_one_place_;  // stdout and stderr: a terminal, or a file or pipe that has both
  std::atomic<bool> is_mid_line_ = false;
  bool to_stderr_;
  bool json_;
  bool quiet_;
};

// Samples, history, lines and the recording; what drives it decides when.
class WatchSession {
 public:
  static Result<std::unique_ptr<WatchSession>> open(const WatchOptions& options);

  // Takes a sample when it is due. False at the end of a recording. Beside a program, what is played back without
  // waiting gives several at once.
  bool sample_if_due();
  // Milliseconds until the next sample, for poll(2); at most a second. 0 when it is due, but not beside a program: what
  // is played back without waiting would take a core from it.
  int wait_ms() const;
  // These processes are what concerns the watch, with those of earlier calls that have used a device.
  void follow(const std::set<std::int64_t>& pids);
  // Tells once when the look at hand has lasted for seconds, and when it came back after all. From a thread that waits
  // for another one, which looks.
  void tell_silence();
  // Where the driver holds the thread that looks: says so, and all but the sampler is the caller's from now on; should
  // that thread come back, it does nothing more. leave_at_once() must end the program. Where the thread is in the
  // middle of something else, the program ends here.
  void take_over_or_leave(ExitCode code);
  std::int64_t interval_ns() const { return interval_ns_; }
  bool is_played_back() const { return sampler_->is_played_back(); }
  void record_end(const EndReason& reason, std::int64_t lasted_ns);
  // Lines at the end: what was highest, what the recording holds.
  void finish();

  const Monitor& monitor() const { return monitor_; }
  const LiveSample* last_sample() const { return last_; }
  WatchTeller& teller() { return teller_; }
  Recorder* recorder() { return recorder_.get(); }
  // Time of the devices that has passed since the first sample.
  std::int64_t elapsed_ns() const;

 private:
  explicit WatchSession(const WatchOptions& options);
  std::optional<Error> open_devices(const WatchOptions& options, const SamplerOptions& sampler_options);
  std::optional<Error> open_alerts(const AlertOptions& options, AlertPlan plan);
  bool take_sample();
  void begin(const WatchOptions& options, const SamplerOptions& sampler_options);
  void alert(const LiveSample& sample);
  void tell_reports();
  void close_alerts();
  void record(const LiveSample& sample, const std::vector<Change>& changes);

  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Recorder> recorder_;
  std::string record_path_;
  bool has_program_;  // that is watched beside the devices
  Monitor monitor_;
  ChangeLog log_;
  std::unique_ptr<AlertWatch> alerts_;              // null without rules
  std::vector<std::vector<std::size_t>> channels_;  // of each rule
  std::mutex reports_lock_;
  std::vector<ChannelReport> reports_;      // from the channels' threads, not told yet
  std::unique_ptr<Dispatcher> dispatcher_;  // ends before what its reports go to
  WatchTeller teller_;
  std::set<std::int64_t> followed_;
  std::unique_ptr<GoneProcesses> gone_;  // null where the watch is about one program, and for what is played back
  std::int64_t interval_ns_ = 0;
  const LiveSample* last_ = nullptr;
  std::timed_mutex state_lock_;            // of all but the sampler, from the end of a look to what has been made of it
  std::atomic<std::int64_t> asked_ns_{0};  // since when the driver is at work; 0: it is not
  std::int64_t silence_told_ns_ = 0;       // the look that was told of
};

// Ends the program while the driver holds a thread of it: what the call holds can be neither used nor given back.
[[noreturn]] void leave_at_once(ExitCode code);

}  // namespace vramscope
