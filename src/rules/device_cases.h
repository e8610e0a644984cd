#pragma once
// Findings about devices of a log: one for all GPUs of which the same is to be told.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/rule.h"

namespace vramscope {

// What is wrong with one device.
struct DeviceCase {
  std::size_t device = 0;  // its place in the log
  Severity severity = Severity::info;
  double confidence = 0;
  double badness = 0;  // which of several is told in words: the highest
  // As in Finding; {gpu} and {name} are filled in.
  const char* title = "";
  const char* summary = "";
  const char* fix = "";
  Arguments arguments;
  std::vector<Message> details;
  std::vector<Evidence> evidence;                               // the place is filled in
  std::optional<std::pair<std::uint32_t, std::uint32_t>> seen;  // first and last moment
};

// Of cases that say the same, at the same severity, one finding is made: in words of the worst, with evidence of up to
// eight. `{gpu}` is "0" or "0,1,2".
void report_cases(const DeviceLog& log, std::vector<DeviceCase> cases, Verdicts& verdicts);

// "0", "0 MIG 1".
std::string gpu_number(const DeviceLog& log, std::size_t place);
// False for devices that the kernel's DRM drivers show: NVIDIA's tools do not know them.
bool is_nvidias(const DeviceLog& log, std::size_t place);
// A program whose name is that of a server of models: it waits for requests by design.
bool is_server(std::string_view process_name);
// Whether such a program ever uses the device.
bool serves_models(const DeviceLog& log, std::size_t place);
// Whether the log lists processes of the device and all of them only draw.
bool only_draws(const DeviceLog& log, std::size_t place);

// "looked for", or how many samples, where the log has no clock.
Evidence looked_for(const LogWeights& weights, std::int64_t weight);
// A number of thousandths, say, in whole ones, rounded.
std::int64_t whole_units(std::int64_t number, std::int64_t divisor);
double share_of_weight(std::int64_t part, std::int64_t whole);
// Skips the rule because the log is too short for windows of time.
void skip_too_short(Facts& facts, Verdicts& verdicts);

}  // namespace vramscope
