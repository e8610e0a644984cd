#pragma once
// Rules over a watch: which of them holds, for whom, since when, and what of that is worth a message. Pure: the time is
// that of the samples.
//
// A condition that holds is pending until it has held for the rule's time; then it fires. While it goes on there is one
// message an hour. It is resolved when the value has been back by 5 % of the threshold for as long as it had to hold, a
// minute at least; or back by less for ten times as long. One that comes back within an hour is given twice the time
// before it is called resolved again, and so on up to an hour: what comes and goes is one alert. A value that is not
// known changes nothing.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/alert.h"
#include "monitor/alert_reading.h"
#include "monitor/alert_rule.h"
#include "monitor/monitor.h"
#include "sampling/live_sample.h"

namespace vramscope {

enum class AlertState : std::uint8_t {
  unknown,  // nothing that it asks for has been known so far
  quiet,
  pending,
  firing
};

// Why a rule can never fire here.
enum class AlertObstacle : std::uint8_t { none, no_such_metric, no_such_gpu };

// The value that came nearest to the threshold.
struct NearestValue {
  double value = 0;  // in the rule's unit; full_within: nanoseconds left; memory_growing: bytes an hour
  std::int64_t time_ns = 0;
  AlertSubject subject;
};

struct AlertReport {
  AlertState state = AlertState::unknown;  // of its subjects, the most urgent
  AlertObstacle obstacle = AlertObstacle::none;
  std::int64_t fired = 0;  // how often
  std::optional<NearestValue> nearest;
  std::int64_t longest_held_ns = 0;  // without firing
};

struct AlertNews {
  std::vector<AlertEvent> events;
  std::vector<std::size_t> obstacles;  // rules that turned out to be unable to fire; each once
};

class AlertWatch {
 public:
  static constexpr std::int64_t kRepeatNs = 3600LL * 1'000'000'000;
  static constexpr std::int64_t kShortestQuietNs = 60LL * 1'000'000'000;
  static constexpr std::int64_t kLongQuiet = 10;  // times that, for a value that is back by less than the margin
  static constexpr std::int64_t kMostPatience = 64;
  static constexpr std::int64_t kSamplesToObstacle = 3;  // some values come with the second sample

  // `host`: the machine's name, for the messages.
  AlertWatch(std::vector<AlertRule> rules, std::string host);

  // Samples in the order of time, each after the monitor took it.
  AlertNews add(const LiveSample& sample, const Monitor& monitor);
  const std::vector<AlertRule>& rules() const { return rules_; }
  const AlertReport& report(std::size_t rule) const { return states_[rule].report; }

 private:
  struct Subject {
    std::string id;
    AlertState state = AlertState::quiet;
    std::int64_t since_ns = 0;  // since when it holds, of pending and firing
    std::optional<std::int64_t> unknown_since_ns, back_since_ns, clear_since_ns;
    std::int64_t told_ns = 0;
    std::optional<std::int64_t> resolved_ns;  // the last time
    std::int64_t patience = 1;                // times the quiet time
    std::int64_t seen_ns = 0;
    AlertSubject facts;      // when it was last told, or first seen
    std::string device_key;  // of the monitor
    ProcessKey process;
    SeriesHistory values;  // where the monitor keeps none
  };
  struct Present {  // a process that holds memory
    ProcessKey key;
    std::string device_key;
    AlertSubject facts;
    std::int64_t first_seen_ns = 0;
  };
  struct Xid {
    std::string device_key;
    std::int64_t last = 0;
  };
  struct RuleState {
    AlertReport report;
    std::vector<Subject> subjects;
    std::vector<Present> present;
    bool is_gone = false;  // what process_gone waits for by name was there and is not
    std::vector<Xid> xids;
    std::int64_t samples = 0;
    bool is_supported = false;
    bool has_scope = false;  // a device of the scope has been seen
  };

  void add_readings(std::size_t rule, const AlertLook& look, AlertNews& news);
  void add_reading(std::size_t rule, const AlertReading& reading, const AlertLook& look, AlertNews& news);
  void step(std::size_t rule, Subject& subject, const AlertReading& reading, const AlertLook& look, AlertNews& news);
  void note_nearest(std::size_t rule, const AlertReading& reading, const AlertLook& look);
  void drop_unseen(std::size_t rule, const AlertLook& look, AlertNews& news);
  void add_gone(std::size_t rule, const AlertLook& look, AlertNews& news);
  void add_xids(std::size_t rule, const AlertLook& look, AlertNews& news);
  void settle(std::size_t rule, const AlertLook& look, AlertNews& news);
  AlertEvent event_of(std::size_t rule, const Subject& subject, const AlertReading& reading, AlertKind kind,
                      const AlertLook& look) const;
  AlertEvent base_event(std::size_t rule, AlertKind kind, const AlertLook& look) const;

  std::vector<AlertRule> rules_;
  std::string host_;
  std::vector<RuleState> states_;
};

}  // namespace vramscope
