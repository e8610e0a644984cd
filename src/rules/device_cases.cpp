#include "rules/device_cases.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/log_reading.h"
#include "analysis/memory_sums.h"
#include "rules/arguments.h"
#include "text/catalogue.h"
#include "text/date.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::size_t kDevicesShown = 8;

// "2024-05-01 12:34:56 UTC", of a log without a time zone without "UTC", of times of day without a date.
std::string time_text(const DeviceLog& log, std::uint32_t moment) {
  std::string text = format_utc(log.time_ns[moment]);
  if (log.clock == LogClock::zoned) return text;
  text.resize(text.size() - std::min(text.size(), std::string_view(" UTC").size()));
  if (log.clock == LogClock::time_of_day) text = text.substr(text.find(' ') + 1);
  return text;
}

// What is the same in both is told once: "2024-05-01 12:34:56", "12:40:00 UTC".
void shorten(std::string& first, std::string& last) {
  const std::size_t day = first.find(' ');
  const bool is_same_day = day != first.npos && last.compare(0, day + 1, first, 0, day + 1) == 0;
  if (!is_same_day || last.find(':') == last.npos) return;
  const std::size_t zone = first.find(' ', day + 1);
  if (zone != first.npos) first.resize(zone);
  last.erase(0, day + 1);
}

Message where_seen(const DeviceLog& log, const DeviceCase& one) {
  const Value gpu = text_value(gpu_number(log, one.device));
  if (!one.seen) return {N_("GPU {gpu}"), {{"gpu", gpu}}};
  const auto [first, last] = *one.seen;
  if (log.time_ns.empty()) {
    // From 1, as people count.
    const Arguments samples = {
        {"gpu", gpu}, {"first", {std::int64_t{first} + 1, Unit::none}}, {"last", {std::int64_t{last} + 1, Unit::none}}};
    return {first == last ? N_("GPU {gpu}, sample {first}") : N_("GPU {gpu}, samples {first} to {last}"), samples};
  }
  std::string begin = time_text(log, first);
  std::string end = time_text(log, last);
  if (first != last) shorten(begin, end);
  const Arguments times = {{"gpu", gpu}, {"first", text_value(std::move(begin))}, {"last", text_value(std::move(end))}};
  return {first == last ? N_("GPU {gpu}, {first}") : N_("GPU {gpu}, {first} to {last}"), times};
}

std::string list_of_gpus(const DeviceLog& log, const std::vector<const DeviceCase*>& cases) {
  std::vector<std::size_t> places;
  for (const DeviceCase* one : cases) places.push_back(one->device);
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return shown_index(log, a) < shown_index(log, b); });
  std::string list;
  for (const std::size_t place : places) list += (list.empty() ? "" : ",") + gpu_number(log, place);
  return list;
}

Finding finding_of(const DeviceLog& log, std::vector<const DeviceCase*> cases) {
  std::stable_sort(cases.begin(), cases.end(),
                   [](const DeviceCase* a, const DeviceCase* b) { return a->badness > b->badness; });
  const DeviceCase& worst = *cases.front();
  Finding finding;
  finding.severity = worst.severity;
  finding.confidence = bounded_confidence(worst.confidence);
  finding.title = worst.title;
  finding.summary = worst.summary;
  finding.fix = worst.fix;
  finding.arguments = worst.arguments;
  finding.details = worst.details;
  finding.arguments.emplace_back("gpu", text_value(list_of_gpus(log, cases)));
  std::string name = printable(last_text(log, log.devices[worst.device], Metric::name));
  if (name.empty()) name = "GPU " + gpu_number(log, worst.device);
  finding.arguments.emplace_back("name", text_value(std::move(name)));
  if (cases.size() > 1) {
    finding.details.push_back({N_("The figures in this text are those of GPU {worst}; the evidence has the others."),
                               {{"worst", text_value(gpu_number(log, worst.device))}}});
  }
  for (std::size_t i = 0; i < std::min(cases.size(), kDevicesShown); ++i) {
    for (Evidence evidence : cases[i]->evidence) {
      evidence.where = where_seen(log, *cases[i]);
      finding.evidence.push_back(std::move(evidence));
    }
  }
  return finding;
}

bool says_the_same(const DeviceCase& a, const DeviceCase& b) {
  return std::string_view(a.title) == b.title && std::string_view(a.summary) == b.summary && a.severity == b.severity;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

void report_cases(const DeviceLog& log, std::vector<DeviceCase> cases, Verdicts& verdicts) {
  std::vector<bool> is_told(cases.size(), false);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (is_told[i]) continue;
    std::vector<const DeviceCase*> same;
    for (std::size_t k = i; k < cases.size(); ++k) {
      if (is_told[k] || !says_the_same(cases[i], cases[k])) continue;
      is_told[k] = true;
      same.push_back(&cases[k]);
    }
    verdicts.findings.push_back(finding_of(log, std::move(same)));
  }
}

std::string gpu_number(const DeviceLog& log, std::size_t place) {
  const auto& parent = log.devices[place].parent;
  if (!parent) return std::to_string(shown_index(log, place));
  return std::to_string(shown_index(log, *parent)) + " MIG " + std::to_string(shown_index(log, place));
}

bool is_nvidias(const DeviceLog& log, std::size_t place) {
  const std::string driver = last_text(log, log.devices[place], Metric::kernel_driver);
  return driver.empty() || driver == "nvidia";
}

bool is_server(std::string_view process_name) {
  constexpr std::string_view kServers[] = {"vllm",         "sglang",          "triton",   "ollama",  "llama-server",
                                           "llama_server", "text-generation", "lmdeploy", "comfyui", "koboldcpp",
                                           "localai",      "tensorrt_llm",    "uvicorn",  "gunicorn"};
  std::string name;
  for (const char c : process_name) name += lower(c);
  return std::any_of(std::begin(kServers), std::end(kServers),
                     [&](std::string_view server) { return name.find(server) != name.npos; });
}

bool serves_models(const DeviceLog& log, std::size_t place) {
  std::vector<bool> is_one(log.processes.size());
  for (std::size_t i = 0; i < log.processes.size(); ++i) is_one[i] = is_server(log.processes[i].name);
  return std::any_of(log.uses.begin(), log.uses.end(),
                     [&](const LogUse& use) { return use.device == place && is_one[use.process]; });
}

bool only_draws(const DeviceLog& log, std::size_t place) {
  bool draws = false;
  for (const LogUse& use : log.uses) {
    if (use.device != place) continue;
    if (use.type != LogProcessType::graphics) return false;
    draws = true;
  }
  return draws;
}

Evidence looked_for(const LogWeights& weights, std::int64_t weight) {
  if (weights.has_time) return {N_("looked for"), time_value(weight), {}};
  return {N_("samples looked at"), count_value(weight), {}};
}

std::int64_t whole_units(std::int64_t number, std::int64_t divisor) {
  return number / divisor + (number % divisor * 2 >= divisor ? 1 : 0);
}

double share_of_weight(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void skip_too_short(Facts& facts, Verdicts& verdicts) {
  const LogWeights& weights = facts.log_weights();
  if (!weights.has_time) {
    return skip(verdicts,
                NN_("The log holds {count} sample without a time; this is judged from {needed} on.",
                    "The log holds {count} samples without times; this is judged from {needed} on."),
                {{"count", count_value(static_cast<std::int64_t>(weights.weight.size()))},
                 {"needed", {kWindowMomentsOnly, Unit::none}}});
  }
  skip(verdicts,
       N_("The log covers {time} without a gap at most; this is judged from {needed} and {moments} samples on."),
       {{"time", time_value(weights.seen)},
        {"needed", time_value(kWindowNs)},
        {"moments", {kWindowMoments, Unit::none}}});
}

}  // namespace vramscope
