#include "monitor/alert_state.h"

#include <algorithm>
#include <cmath>

#include "monitor/alert_event.h"
#include "monitor/verdict_rule.h"

namespace vramscope {

namespace {

// A gap of unknown values that breaks a wait for the rule's time.
constexpr std::int64_t kLongestGapNs = 10LL * 1'000'000'000;

bool is_moment(const AlertRule& rule) {
  return rule.condition == AlertCondition::process_gone || rule.condition == AlertCondition::xid;
}

// How far a value is from what the rule waits for: smaller is nearer.
double distance(const AlertRule& rule, double value) {
  switch (rule.condition) {
    case AlertCondition::full_within:
      return value;
    case AlertCondition::memory_growing:
      return -value;
    default:
      break;
  }
  switch (rule.comparison) {
    case AlertComparison::above:
    case AlertComparison::at_least:
      return -value;
    case AlertComparison::below:
    case AlertComparison::at_most:
      return value;
    case AlertComparison::equal:
    case AlertComparison::not_equal:
      break;
  }
  return std::abs(value - rule.threshold);
}

}  // namespace

AlertWatch::AlertWatch(std::vector<AlertRule> rules, std::string host)
    : rules_(std::move(rules)), host_(std::move(host)), states_(rules_.size()) {}

AlertNews AlertWatch::add(const LiveSample& sample, const Monitor& monitor) {
  AlertNews news;
  const AlertLook look{sample, monitor};
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    RuleState& state = states_[rule];
    ++state.samples;
    for (std::size_t place = 0; place < sample.devices().size() && !state.has_scope; ++place) {
      state.has_scope = is_in_scope(rules_[rule], sample, place);
    }
    if (rules_[rule].condition == AlertCondition::process_gone) {
      add_gone(rule, look, news);
    } else if (rules_[rule].condition == AlertCondition::xid) {
      add_xids(rule, look, news);
    } else {
      add_readings(rule, look, news);
    }
    settle(rule, look, news);
  }
  return news;
}

void AlertWatch::add_readings(std::size_t rule, const AlertLook& look, AlertNews& news) {
  for (const AlertReading& reading : read_alert(rules_[rule], look)) add_reading(rule, reading, look, news);
  if (rules_[rule].condition == AlertCondition::process_memory) drop_unseen(rule, look, news);
}

void AlertWatch::add_reading(std::size_t rule, const AlertReading& reading, const AlertLook& look, AlertNews& news) {
  RuleState& state = states_[rule];
  state.is_supported = state.is_supported || reading.is_supported;
  auto found = std::find_if(state.subjects.begin(), state.subjects.end(),
                            [&](const Subject& subject) { return subject.id == reading.id; });
  if (found == state.subjects.end()) {
    Subject subject;
    subject.id = reading.id;
    subject.state = AlertState::unknown;
    subject.device_key = device_key(look.sample, reading.device);
    if (reading.process != nullptr) subject.process = process_key(look.sample, reading.process->pid);
    subject.facts = alert_subject(host_, look.sample, reading.device, reading.process);
    state.subjects.push_back(std::move(subject));
    found = state.subjects.end() - 1;
  }
  if (rules_[rule].metric) {
    const auto number = look.sample.devices()[reading.device].number(*rules_[rule].metric);
    if (number && reading.truth != AlertTruth::unknown) found->values.add(look.sample.time_ns, *number);
  }
  found->seen_ns = look.sample.time_ns;
  note_nearest(rule, reading, look);
  step(rule, *found, reading, look, news);
}

void AlertWatch::note_nearest(std::size_t rule, const AlertReading& reading, const AlertLook& look) {
  if (!reading.value || reading.truth == AlertTruth::unknown) return;
  AlertReport& report = states_[rule].report;
  if (report.nearest && distance(rules_[rule], *reading.value) >= distance(rules_[rule], report.nearest->value)) return;
  const bool is_same = report.nearest &&
                       report.nearest->subject.gpu_uuid == look.sample.devices()[reading.device].text(Metric::uuid) &&
                       reading.process == nullptr;
  if (!report.nearest) report.nearest.emplace();
  report.nearest->value = *reading.value;
  report.nearest->time_ns = look.sample.time_ns;
  if (!is_same) report.nearest->subject = alert_subject(host_, look.sample, reading.device, reading.process);
}

void AlertWatch::step(std::size_t rule, Subject& subject, const AlertReading& reading, const AlertLook& look,
                      AlertNews& news) {
  const std::int64_t now = look.sample.time_ns;
  if (reading.truth == AlertTruth::unknown) {
    if (!subject.unknown_since_ns) subject.unknown_since_ns = now;
    return;
  }
  const bool had_gap = subject.unknown_since_ns && now - *subject.unknown_since_ns > kLongestGapNs;
  subject.unknown_since_ns.reset();
  if (subject.state == AlertState::unknown) subject.state = AlertState::quiet;
  const auto tell = [&](AlertKind kind) {
    subject.told_ns = now;
    if (reading.process != nullptr || kind != AlertKind::resolved) {
      subject.facts = alert_subject(host_, look.sample, reading.device, reading.process);
    }
    news.events.push_back(event_of(rule, subject, reading, kind, look));
  };
  if (reading.truth == AlertTruth::yes) {
    subject.back_since_ns.reset();
    subject.clear_since_ns.reset();
    if (subject.state == AlertState::quiet || (subject.state == AlertState::pending && had_gap)) {
      subject.state = AlertState::pending;
      subject.since_ns = now;
    }
    if (subject.state == AlertState::pending) {
      AlertReport& report = states_[rule].report;
      report.longest_held_ns = std::max(report.longest_held_ns, now - subject.since_ns);
      if (now - subject.since_ns < rules_[rule].for_ns) return;
      subject.state = AlertState::firing;
      const bool comes_and_goes = subject.resolved_ns && now - *subject.resolved_ns < kRepeatNs;
      subject.patience = comes_and_goes ? std::min(2 * subject.patience, kMostPatience) : 1;
      ++report.fired;
      tell(AlertKind::fired);
    } else if (now - subject.told_ns >= kRepeatNs) {
      tell(AlertKind::repeated);
    }
    return;
  }
  if (subject.state != AlertState::firing) {
    subject.state = AlertState::quiet;
    return;
  }
  if (!subject.back_since_ns) subject.back_since_ns = now;
  if (reading.truth == AlertTruth::no) subject.clear_since_ns.reset();
  if (reading.truth == AlertTruth::clear && !subject.clear_since_ns) subject.clear_since_ns = now;
  const std::int64_t least_ns = std::max(rules_[rule].for_ns, kShortestQuietNs);
  const std::int64_t quiet_ns = std::max(least_ns, std::min(subject.patience * least_ns, kRepeatNs));
  const bool is_over = (subject.clear_since_ns && now - *subject.clear_since_ns >= quiet_ns) ||
                       now - *subject.back_since_ns >= quiet_ns * kLongQuiet;
  if (!is_over) return;
  tell(AlertKind::resolved);
  subject.resolved_ns = now;
  subject.state = AlertState::quiet;
}

// Processes that hold nothing any more are at 0; one that had fired is told as resolved.
void AlertWatch::drop_unseen(std::size_t rule, const AlertLook& look, AlertNews& news) {
  std::vector<Subject>& subjects = states_[rule].subjects;
  const std::vector<DeviceSample>& devices = look.sample.devices();
  const auto is_over = [&](Subject& subject) {
    if (subject.seen_ns == look.sample.time_ns) return false;
    for (std::size_t place = 0; place < devices.size(); ++place) {
      if (device_key(look.sample, place) != subject.device_key) continue;
      if (devices[place].is_lost || devices[place].processes_state != ValueState::known) return false;
      if (subject.state != AlertState::firing) return true;
      AlertReading reading;
      reading.device = place;
      reading.value = 0;
      if (rules_[rule].is_share) {
        reading.value_bytes = 0;
        reading.total_bytes = usable_bytes(devices[place]);
      }
      if (subject.facts.process) subject.facts.process->used_bytes = 0;
      news.events.push_back(event_of(rule, subject, reading, AlertKind::resolved, look));
      return true;
    }
    return subject.state != AlertState::firing;  // the device itself is not there any more
  };
  subjects.erase(std::remove_if(subjects.begin(), subjects.end(), is_over), subjects.end());
}

void AlertWatch::settle(std::size_t rule, const AlertLook& look, AlertNews& news) {
  RuleState& state = states_[rule];
  AlertReport& report = state.report;
  if (!is_moment(rules_[rule])) {
    report.state = AlertState::unknown;
    for (const Subject& subject : state.subjects) report.state = std::max(report.state, subject.state);
  }
  if (report.obstacle != AlertObstacle::none) {
    if (state.is_supported && state.has_scope) report.obstacle = AlertObstacle::none;
    return;
  }
  if (state.samples != kSamplesToObstacle || look.sample.devices().empty()) return;
  const bool has_value = rules_[rule].condition == AlertCondition::metric ||
                         rules_[rule].condition == AlertCondition::memory_growing ||
                         rules_[rule].condition == AlertCondition::full_within;
  if (!state.has_scope) {
    report.obstacle = AlertObstacle::no_such_gpu;
  } else if (has_value && !state.is_supported) {
    report.obstacle = AlertObstacle::no_such_metric;
  }
  if (report.obstacle != AlertObstacle::none) news.obstacles.push_back(rule);
}

AlertEvent AlertWatch::base_event(std::size_t rule, AlertKind kind, const AlertLook& look) const {
  AlertEvent event;
  event.rule = rules_[rule].text;
  event.rule_index = rule;
  event.kind = kind;
  event.condition = rules_[rule].condition;
  event.severity = rules_[rule].severity;
  event.time_ns = look.sample.time_ns;
  event.real_time_ns = look.sample.real_time_ns;
  event.since_real_ns = event.real_time_ns;
  event.is_played_back = look.sample.is_played_back;
  event.subject.host = host_;
  return event;
}

AlertEvent AlertWatch::event_of(std::size_t rule, const Subject& subject, const AlertReading& reading, AlertKind kind,
                                const AlertLook& look) const {
  const AlertRule& from = rules_[rule];
  AlertEvent event = base_event(rule, kind, look);
  event.key = from.text + '\n' + subject.id;
  event.since_real_ns = event.real_time_ns - (event.time_ns - subject.since_ns);
  event.subject = subject.facts;
  event.value = reading.value;
  event.value_bytes = reading.value_bytes;
  event.total_bytes = reading.total_bytes;
  add_device_facts(event, look.sample, reading.device);
  const DeviceHistory* device = look.monitor.find_device(subject.device_key);
  std::int64_t since_ns = subject.since_ns;
  switch (from.condition) {
    case AlertCondition::metric:
      event.metric = std::string(info_of(*from.metric).name);
      [[fallthrough]];
    case AlertCondition::process_memory:
      if (event.metric.empty()) event.metric = "process.memory";
      event.comparison = comparison_sign(from.comparison);
      event.unit = from.unit;
      event.threshold = from.threshold;
      break;
    case AlertCondition::memory_growing:
      event.unit = AlertUnit::bytes_per_hour;
      if (device != nullptr && device->growth.growth().state != GrowthState::none) {
        since_ns = device->growth.growth().since_ns;
      }
      break;
    case AlertCondition::full_within:
      event.unit = AlertUnit::nanoseconds;
      event.threshold = static_cast<double>(from.within_ns);
      if (device != nullptr && device->growth.growth().state != GrowthState::none) {
        since_ns = device->growth.growth().since_ns;
      }
      break;
    default:
      break;
  }
  if (from.metric && *from.metric != Metric::memory_used) {
    add_curve(event, subject.values, alert_unit(info_of(*from.metric).unit), since_ns, look.sample);
  } else if (from.condition == AlertCondition::process_memory) {
    const HolderHistory* holder = look.monitor.find_holder(subject.process, subject.device_key);
    if (holder != nullptr) add_curve(event, holder->memory_used, AlertUnit::bytes, since_ns, look.sample);
  } else if (device != nullptr) {
    add_curve(event, device->memory_used, AlertUnit::bytes, since_ns, look.sample);
  }
  return event;
}

}  // namespace vramscope
