// Conditions of one moment: a process that holds no memory any more, a new Xid.
#include <algorithm>

#include "monitor/alert_event.h"
#include "monitor/alert_state.h"

namespace vramscope {

namespace {

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// The process's own name, or one of the words of its command with or without its folder: "train.py".
bool is_named(const AlertRule& rule, const AlertProcess& process) {
  if (rule.process_pid) return process.pid == *rule.process_pid;
  if (rule.process_name.empty() || process.name == rule.process_name) return true;
  std::string_view rest = process.command.empty() ? process.name : process.command;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    const std::string_view word = rest.substr(0, blank);
    if (word == rule.process_name || base_name(word) == rule.process_name) return true;
    rest = blank == rest.npos ? std::string_view() : rest.substr(blank + 1);
  }
  return false;
}

// Whether the list of the device's processes can be trusted now.
bool is_list_known(const LiveSample& sample, const std::string& key) {
  for (std::size_t place = 0; place < sample.devices().size(); ++place) {
    const DeviceSample& device = sample.devices()[place];
    if (device_key(sample, place) == key) return !device.is_lost && device.processes_state == ValueState::known;
  }
  return false;
}

}  // namespace

void AlertWatch::add_gone(std::size_t rule, const AlertLook& look, AlertNews& news) {
  RuleState& state = states_[rule];
  const AlertRule& from = rules_[rule];
  const LiveSample& sample = look.sample;
  std::vector<Present> now;
  for (std::size_t place = 0; place < sample.devices().size(); ++place) {
    if (!is_in_scope(from, sample, place)) continue;
    for (const DeviceProcess& process : sample.devices()[place].processes) {
      Present present;
      present.facts = alert_subject(host_, sample, place, &process);
      if (!is_named(from, *present.facts.process)) continue;
      present.key = process_key(sample, process.pid);
      present.device_key = device_key(sample, place);
      present.first_seen_ns = sample.time_ns;
      for (const Present& before : state.present) {
        if (before.key == present.key) present.first_seen_ns = std::min(present.first_seen_ns, before.first_seen_ns);
      }
      now.push_back(std::move(present));
    }
  }
  std::vector<Present> gone;
  for (Present& before : state.present) {
    const auto is_it = [&](const Present& other) { return other.key == before.key; };
    if (std::any_of(now.begin(), now.end(), is_it) || std::any_of(gone.begin(), gone.end(), is_it)) continue;
    (is_list_known(sample, before.device_key) ? gone : now).push_back(std::move(before));
  }
  state.present = std::move(now);
  const bool has_name = from.process_pid || !from.process_name.empty();
  if (!state.present.empty()) state.report.state = AlertState::quiet;
  const auto event_about = [&](const Present& about, AlertKind kind) {
    AlertEvent event = base_event(rule, kind, look);
    event.key = from.text + (has_name ? "" : '\n' + std::to_string(sample.time_ns));
    event.subject = about.facts;
    event.since_real_ns = event.real_time_ns - (event.time_ns - about.first_seen_ns);
    if (const HolderHistory* holder = look.monitor.find_holder(about.key, about.device_key)) {
      add_curve(event, holder->memory_used, AlertUnit::bytes, sample.time_ns, sample);
    }
    return event;
  };
  if (has_name && state.is_gone && !state.present.empty()) {
    state.is_gone = false;
    news.events.push_back(event_about(state.present.front(), AlertKind::resolved));
  }
  if (gone.empty() || (has_name && !state.present.empty())) return;
  std::stable_sort(gone.begin(), gone.end(), [](const Present& a, const Present& b) {
    return a.facts.process->used_bytes.value_or(0) > b.facts.process->used_bytes.value_or(0);
  });
  state.is_gone = has_name;
  if (has_name) state.report.state = AlertState::firing;
  ++state.report.fired;
  AlertEvent event = event_about(gone.front(), AlertKind::fired);
  for (const Present& each : gone) event.holders.push_back(*each.facts.process);
  news.events.push_back(std::move(event));
}

void AlertWatch::add_xids(std::size_t rule, const AlertLook& look, AlertNews& news) {
  RuleState& state = states_[rule];
  for (std::size_t place = 0; place < look.sample.devices().size(); ++place) {
    const DeviceSample& device = look.sample.devices()[place];
    if (device.parent || !is_in_scope(rules_[rule], look.sample, place)) continue;
    const std::string key = device_key(look.sample, place);
    const auto number = device.number(Metric::xid_last);
    const bool is_first =
        std::none_of(state.xids.begin(), state.xids.end(), [&](const Xid& xid) { return xid.device_key == key; });
    if (is_first) state.xids.push_back({key, number.value_or(0)});
    if (!number) continue;
    state.report.state = AlertState::quiet;
    const auto known =
        std::find_if(state.xids.begin(), state.xids.end(), [&](const Xid& xid) { return xid.device_key == key; });
    if (*number == known->last) continue;
    known->last = *number;
    if (*number <= 0) continue;
    ++state.report.fired;
    AlertEvent event = base_event(rule, AlertKind::fired, look);
    event.key = rules_[rule].text + '\n' + key + '\n' + std::to_string(look.sample.time_ns);
    event.subject = alert_subject(host_, look.sample, place, nullptr);
    event.value = static_cast<double>(*number);
    add_device_facts(event, look.sample, place);
    if (const DeviceHistory* history = look.monitor.find_device(key)) {
      add_curve(event, history->memory_used, AlertUnit::bytes, look.sample.time_ns, look.sample);
    }
    news.events.push_back(std::move(event));
  }
}

}  // namespace vramscope
