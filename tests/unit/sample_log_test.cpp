// What is seen of devices becomes the same log, whether it is looked at now or was recorded and read again.
#include "sampling/sample_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "import/reader.h"
#include "rules/rule.h"
#include "sampling/recorder.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

struct Said {
  std::string rule;
  Severity severity = Severity::info;
  std::vector<std::pair<std::string, double>> evidence;
  bool operator==(const Said& other) const {
    return std::tie(rule, severity, evidence) == std::tie(other.rule, other.severity, other.evidence);
  }
};

std::vector<Said> said_of(Source source) {
  Case input;
  input.sources.push_back(std::move(source));
  std::vector<Said> all;
  for (const Finding& finding : diagnose(input).findings) {
    Said& said = all.emplace_back();
    said.rule = finding.rule;
    said.severity = finding.severity;
    // A recording keeps no values that were never known, so their number differs.
    if (finding.rule == "gpu-lost") continue;
    for (const Evidence& evidence : finding.evidence) {
      double number = 0;
      if (const auto* whole = std::get_if<std::int64_t>(&evidence.value.data)) number = static_cast<double>(*whole);
      if (const auto* share = std::get_if<double>(&evidence.value.data)) number = *share;
      said.evidence.emplace_back(evidence.what, number);
    }
  }
  return all;
}

// Looks for so many samples of a scenario, and records them as well.
void look(const std::string& device, int samples, const std::string& path, SampleLog& log) {
  SamplerOptions options;
  options.device = device;
  options.speed = 0;
  auto sampler = open_sampler(options);
  ASSERT_TRUE(static_cast<bool>(sampler));
  auto recorder = Recorder::open(path, {"test", "", true, true}, MachineFacts{});
  ASSERT_TRUE(static_cast<bool>(recorder)) << recorder.error().message;
  for (int i = 0; i < samples; ++i) {
    const LiveSample& sample = *(*sampler)->sample();
    log.add(sample);
    ASSERT_FALSE((*recorder)->add(sample));
  }
  ASSERT_FALSE((*recorder)->close());
}

TEST(SampleLog, SaysWhatItsRecordingSays) {
  const std::string path = testing::TempDir() + "sample_log_test.vrs";
  for (const char* scenario : {"healthy", "leak", "fragmentation", "starving", "zombie", "hot", "lost-gpu", "node8"}) {
    SampleLog log;
    ASSERT_NO_FATAL_FAILURE(look(std::string("sim:") + scenario, 1200, path, log));
    Result<Source> recorded = load_source(path);
    ASSERT_TRUE(static_cast<bool>(recorded)) << recorded.error().message;
    const Source seen = log.take("look");
    ASSERT_TRUE(recorded->device_log.has_value());
    EXPECT_EQ(recorded->device_log->moments, seen.device_log->moments) << scenario;
    EXPECT_EQ(recorded->device_log->devices.size(), seen.device_log->devices.size()) << scenario;
    EXPECT_EQ(recorded->device_log->uses.size(), seen.device_log->uses.size()) << scenario;
    SampleLog again;
    ASSERT_NO_FATAL_FAILURE(look(std::string("sim:") + scenario, 1200, path, again));
    EXPECT_TRUE(said_of(again.take("look")) == said_of(std::move(*recorded))) << scenario;
  }
  std::remove(path.c_str());
}

TEST(SampleLog, TheDriversLastWordStaysWhenTheGpuIsGone) {
  const std::string path = testing::TempDir() + "sample_log_lost_test.vrs";
  SampleLog log;
  ASSERT_NO_FATAL_FAILURE(look("sim:lost-gpu", 60, path, log));
  std::vector<std::string> rules;
  for (const Said& said : said_of(log.take("look"))) rules.push_back(said.rule);
  EXPECT_EQ(rules, (std::vector<std::string>{"gpu-lost", "xid-errors"}));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace vramscope
