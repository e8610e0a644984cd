// Messages of alerts: what people and machines are told.
#include "report/alert_message.h"

#include <gtest/gtest.h>

#include "alert_sample.h"
#include "rapidjson/document.h"
#include "text/terminal.h"

namespace vramscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

AlertEvent memory_event() {
  AlertBench bench({"memory.used > 90% for 30s"});
  bench.hold(4242, 36 * kGiB, "python3 train.py --lr 1");
  for (int i = 0; i < 600; ++i) {
    bench.used(10 * kGiB + i * (29 * kGiB / 600));
    const auto events = bench.second();
    if (!events.empty()) return events[0];
  }
  ADD_FAILURE() << "did not fire";
  return {};
}

TEST(AlertMessage, TellsWhatSinceWhenWhoAndWhatNext) {
  const AlertMessage message = alert_message(memory_event());
  EXPECT_EQ(message.subject, "[vramscope] host: GPU 0: memory.used > 90% for 30s");
  EXPECT_TRUE(has(message.body, "GPU 0 (Test GPU): memory.used is 9")) << message.body;
  EXPECT_TRUE(has(message.body, "of 40.00 GiB")) << message.body;
  EXPECT_TRUE(has(message.body, "Since: 2023-11-14 22:")) << message.body;
  EXPECT_TRUE(has(message.body, "4242  ann")) << message.body;
  EXPECT_TRUE(has(message.body, "36.00 GiB  python3 train.py --lr 1")) << message.body;
  EXPECT_TRUE(has(message.body, "vramscope watch --pid 4242")) << message.body;
  EXPECT_TRUE(has(message.body, "vramscope status")) << message.body;
  EXPECT_TRUE(has(message.body, "kill 4242")) << message.body;
  EXPECT_FALSE(has(message.body, "\x1b")) << message.body;
}

TEST(AlertMessage, AsciiCurveAndNoColoursEvenOnATerminal) {
  const Terminal kept = terminal();
  terminal().colour = true;
  terminal().utf8 = true;
  AlertMessageOptions options;
  options.ascii = true;
  const AlertMessage plain = alert_message(memory_event(), options);
  EXPECT_TRUE(terminal().colour);
  EXPECT_TRUE(terminal().utf8);
  terminal() = kept;
  for (const char c : plain.body) EXPECT_LT(static_cast<unsigned char>(c), 128) << plain.body;
  EXPECT_FALSE(has(plain.body, "\x1b"));
  EXPECT_TRUE(has(plain.body, "memory used\n")) << plain.body;
}

TEST(AlertMessage, ResolvedAndRepeatedSayIt) {
  AlertEvent event = memory_event();
  event.kind = AlertKind::resolved;
  EXPECT_TRUE(has(alert_message(event).subject, "resolved: memory.used")) << alert_message(event).subject;
  EXPECT_FALSE(has(alert_message(event).body, "kill"));
  event.kind = AlertKind::repeated;
  EXPECT_TRUE(has(alert_message(event).subject, "still: memory.used"));
}

TEST(AlertMessage, HostileNamesAreMadeHarmless) {
  AlertEvent event = memory_event();
  event.holders[0].command = "evil\x1b]0;x\a\r\nSubject: y \xff";
  event.holders[0].user = "a\nb";
  event.subject.gpu_name = "GPU\x1b[31m";
  event.subject.host = "h\r\nBcc: me";
  const AlertMessage message = alert_message(event);
  EXPECT_EQ(message.subject.find_first_of("\r\n\x1b"), std::string::npos) << message.subject;
  EXPECT_EQ(message.body.find_first_of("\r\x1b\a\xff"), std::string::npos) << message.body;
}

TEST(AlertMessage, Json) {
  const AlertEvent event = memory_event();
  rapidjson::Document json;
  ASSERT_FALSE(json.Parse(alert_json(event).c_str()).HasParseError());
  EXPECT_STREQ(json["kind"].GetString(), "fired");
  EXPECT_STREQ(json["rule"].GetString(), "memory.used > 90% for 30s");
  EXPECT_EQ(json["gpu"]["index"].GetInt(), 0);
  EXPECT_STREQ(json["gpu"]["uuid"].GetString(), "GPU-0");
  EXPECT_STREQ(json["threshold"]["unit"].GetString(), "percent");
  EXPECT_EQ(json["threshold"]["number"].GetDouble(), 90);
  EXPECT_EQ(json["value_bytes"].GetInt64(), *event.value_bytes);
  EXPECT_EQ(json["since_ns"].GetInt64(), event.since_real_ns);
  EXPECT_EQ(json["holders"][0]["pid"].GetInt(), 4242);
  EXPECT_EQ(json["curve"]["points"].Size(), event.curve.size());
  EXPECT_FALSE(json["played_back"].GetBool());
}

TEST(AlertMessage, ValuesHaveUnits) {
  const auto shown = [](double value, AlertUnit unit) { return alert_value(value, unit, Wording::english); };
  EXPECT_EQ(shown(92.5, AlertUnit::percent), "92.5 %");
  EXPECT_EQ(shown(90, AlertUnit::percent), "90 %");
  EXPECT_EQ(shown(310'000, AlertUnit::milliwatts), "310.0 W");
  EXPECT_EQ(shown(2.0 * kGiB, AlertUnit::bytes), "2.00 GiB");
  EXPECT_EQ(shown(1200e9, AlertUnit::nanoseconds), "20 min 00 s");
  EXPECT_EQ(shown(79, AlertUnit::none), "79");
  EXPECT_EQ(shown(1e300, AlertUnit::bytes).empty(), false);
}

}  // namespace
}  // namespace vramscope
