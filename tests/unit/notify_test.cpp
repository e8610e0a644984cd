// Channels, mails and the queue before them. Real servers: tests/notify/.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <mutex>
#include <sstream>

#include "alert_sample.h"
#include "notify/dispatcher.h"
#include "notify/mail_text.h"
#include "notify/outbox.h"
#include "notify/run_program.h"

namespace vramscope {
namespace {

using std::chrono::milliseconds;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

Notice notice(const std::string& key, const std::string& subject) {
  Notice made;
  made.key = key;
  made.subject = subject;
  return made;
}

// What a channel of a test does, and what it saw. Shared with the outbox's thread.
struct Script {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::string> tried, delivered;
  std::vector<ChannelReport> reports;
  std::optional<DeliveryProblem> problem;
  bool blocks = false;

  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock<std::mutex> guard(lock);
    return changed.wait_for(guard, std::chrono::seconds(20), condition);
  }
  void set(std::optional<DeliveryProblem> next) {
    const std::lock_guard<std::mutex> guard(lock);
    problem = std::move(next);
  }
};

class ScriptedChannel : public Channel {
 public:
  explicit ScriptedChannel(Script& script) : script_(script) {}
  std::optional<DeliveryProblem> deliver(const Notice& given, const Deadline& deadline_ns) override {
    std::unique_lock<std::mutex> guard(script_.lock);
    script_.tried.push_back(given.subject);
    script_.changed.notify_all();
    while (script_.blocks) {
      if (steady_now_ns() > deadline_ns.load()) return DeliveryProblem{"no time left", false};
      script_.changed.wait_for(guard, milliseconds(10));
    }
    if (!script_.problem) script_.delivered.push_back(given.subject);
    script_.changed.notify_all();
    return script_.problem;
  }

 private:
  Script& script_;
};

std::unique_ptr<Outbox> outbox_for(Script& script, OutboxOptions options) {
  OpenChannel channel;
  channel.shown = "test";
  channel.channel = std::make_unique<ScriptedChannel>(script);
  return std::make_unique<Outbox>(std::move(channel), options, [&script](const ChannelReport& report) {
    const std::lock_guard<std::mutex> guard(script.lock);
    script.reports.push_back(report);
    script.changed.notify_all();
  });
}

OutboxOptions quick() {
  OutboxOptions options;
  options.back_off = {milliseconds(5), milliseconds(10)};
  return options;
}

TEST(Outbox, TriesAgainUntilTheChannelIsBackAndTellsEachChangeOnce) {
  Script script;
  script.problem = DeliveryProblem{"down", false};
  const auto outbox = outbox_for(script, quick());
  outbox->post(notice("a", "A"));
  outbox->post(notice("b", "B"));
  ASSERT_TRUE(script.wait([&] { return script.tried.size() >= 10; }));
  script.set(std::nullopt);
  ASSERT_TRUE(script.wait([&] { return script.delivered.size() == 2 && script.reports.size() == 2; }));
  EXPECT_EQ(script.reports[0].news, ChannelNews::failing);
  EXPECT_EQ(script.reports[0].reason, "down");
  EXPECT_EQ(script.reports[1].news, ChannelNews::working);
  EXPECT_TRUE(outbox->close(milliseconds(1000)).empty());
  EXPECT_EQ(outbox->delivered(), 2u);
}

TEST(Outbox, ANewerNoticeOfTheSameAlertReplacesTheOlder) {
  Script script;
  script.problem = DeliveryProblem{"down", false};
  OutboxOptions options;
  options.back_off = {milliseconds(100'000)};
  const auto outbox = outbox_for(script, options);
  outbox->post(notice("a", "fired"));
  ASSERT_TRUE(script.wait([&] { return script.reports.size() == 1; }));
  script.set(std::nullopt);
  outbox->post(notice("a", "resolved"));
  ASSERT_TRUE(script.wait([&] { return !script.delivered.empty(); }));
  EXPECT_TRUE(outbox->close(milliseconds(1000)).empty());
  EXPECT_EQ(script.delivered, std::vector<std::string>{"resolved"});
}

TEST(Outbox, WhatIsRefusedIsNotTriedAgain) {
  Script script;
  script.problem = DeliveryProblem{"wrong password", true};
  const auto outbox = outbox_for(script, quick());
  outbox->post(notice("a", "A"));
  ASSERT_TRUE(script.wait([&] { return script.reports.size() == 1; }));
  EXPECT_EQ(script.reports[0].news, ChannelNews::refused);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_TRUE(outbox->close(milliseconds(100)).empty());
  EXPECT_EQ(script.tried.size(), 1u);
}

TEST(Outbox, GivesUpAfterTheTime) {
  Script script;
  script.problem = DeliveryProblem{"down", false};
  OutboxOptions options = quick();
  options.give_up_after = milliseconds(60);
  const auto outbox = outbox_for(script, options);
  outbox->post(notice("a", "A"));
  ASSERT_TRUE(script.wait([&] { return script.reports.size() == 2; }));
  EXPECT_EQ(script.reports[1].news, ChannelNews::given_up);
  EXPECT_TRUE(outbox->close(milliseconds(100)).empty());
}

TEST(Outbox, TheQueueIsBounded) {
  Script script;
  script.problem = DeliveryProblem{"down", false};
  OutboxOptions options;
  options.back_off = {milliseconds(100'000)};
  options.most_waiting = 3;
  const auto outbox = outbox_for(script, options);
  for (int i = 0; i < 10; ++i) {
    outbox->post(notice(std::to_string(i), std::to_string(i)));
    ASSERT_TRUE(script.wait([&] { return script.tried.size() == static_cast<std::size_t>(i) + 1; }));
  }
  ASSERT_TRUE(script.wait([&] { return script.reports.size() >= 7; }));
  const auto left = outbox->close(milliseconds(2000));
  std::size_t dropped = 0;
  for (const ChannelReport& report : script.reports) dropped += report.news == ChannelNews::dropped ? 1 : 0;
  EXPECT_EQ(dropped + left.size(), 10u);
  EXPECT_LE(left.size(), 4u);
}

TEST(Outbox, PostingNeverWaitsAndClosingIsBounded) {
  Script script;
  script.blocks = true;
  const auto outbox = outbox_for(script, quick());
  const std::int64_t begin_ns = steady_now_ns();
  for (int i = 0; i < 50; ++i) outbox->post(notice(std::to_string(i), std::to_string(i)));
  EXPECT_LT(steady_now_ns() - begin_ns, kSecond / 2);
  ASSERT_TRUE(script.wait([&] { return !script.tried.empty(); }));
  const auto left = outbox->close(milliseconds(200));
  EXPECT_LT(steady_now_ns() - begin_ns, 5 * kSecond);
  EXPECT_EQ(left.size(), 50u);
}

TEST(Outbox, ClosingTriesWhatWaits) {
  Script script;
  script.problem = DeliveryProblem{"down", false};
  OutboxOptions options;
  options.back_off = {milliseconds(100'000)};
  const auto outbox = outbox_for(script, options);
  outbox->post(notice("a", "A"));
  ASSERT_TRUE(script.wait([&] { return script.reports.size() == 1; }));
  script.set(std::nullopt);
  EXPECT_TRUE(outbox->close(milliseconds(2000)).empty());
  EXPECT_EQ(script.delivered, std::vector<std::string>{"A"});
}

TEST(Mail, HeadersAndBody) {
  Notice made;
  made.id = "vramscope.1.2";
  made.incident = "vramscope.1";
  made.subject = "GPU 0: 内存 > 90%\r\nBcc: evil@example.org";
  made.mail_body = "a=b\nline with end blank \n.\n" + std::string(200, 'x') + "\né\n";
  made.real_time_ns = 1'136'214'245LL * kSecond;
  const std::string mail = mail_text(made, {"from@example.org", "to@example.org", "host"});
  EXPECT_TRUE(has(mail, "Date: Mon, 02 Jan 2006 15:04:05 +0000\r\n")) << mail;
  EXPECT_TRUE(has(mail, "Message-ID: <vramscope.1.2@host>\r\n"));
  EXPECT_TRUE(has(mail, "References: <vramscope.1@host>\r\n"));
  EXPECT_TRUE(has(mail, "Auto-Submitted: auto-generated\r\n"));
  EXPECT_TRUE(has(mail, "Subject: =?utf-8?B?"));
  EXPECT_FALSE(has(mail, "\nBcc"));
  EXPECT_TRUE(has(mail, "a=3Db\r\nline with end blank=20\r\n.\r\n"));
  EXPECT_TRUE(has(mail, "=C3=A9\r\n"));
  std::istringstream lines(mail);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 77u) << line;
    EXPECT_EQ(line.back(), '\r') << line;
  }
}

TEST(Mail, EncodedWordsEndBetweenCharacters) {
  EXPECT_EQ(encoded_header("plain"), "plain");
  EXPECT_EQ(encoded_header("é"), "=?utf-8?B?w6k=?=");
  EXPECT_EQ(encoded_header("ab=?c"), "=?utf-8?B?YWI9P2M=?=");
  std::string chinese;
  for (int i = 0; i < 40; ++i) chinese += "显";
  std::istringstream words(encoded_header(chinese));
  for (std::string word; std::getline(words, word);) EXPECT_LE(word.size(), 77u);
}

TEST(Mail, Addresses) {
  EXPECT_TRUE(is_mail_address("me@example.org"));
  EXPECT_TRUE(is_mail_address("root@localhost"));
  for (const char* wrong : {"", "@", "me", "me@", "@x", "a@b@c", "a@b c", "a@b>\r\nRCPT", "a@b,c@d", "<a@b>"}) {
    EXPECT_FALSE(is_mail_address(wrong)) << wrong;
  }
}

TEST(Channels, WrongOnesAreRefusedInASentence) {
  NotifySettings settings;
  for (const char* wrong : {"", "pigeon:x", "mail:me", "mail:me@example.org", "webhook:ftp://x",
                            "webhook:", "command:", "command:  ", "desktop:x"}) {
    const auto channel = open_channel(wrong, settings);
    ASSERT_FALSE(channel) << wrong;
    EXPECT_EQ(channel.error().message.back(), '.') << channel.error().message;
  }
}

TEST(Channels, SecretsOfAddressesAreNotShown) {
  EXPECT_EQ(shown_channel("webhook:https://user:secret@hooks.example.org/T1/B2/secret?x"),
            "webhook:https://hooks.example.org/…");
  EXPECT_EQ(shown_channel("webhook:http://localhost:8080"), "webhook:http://localhost:8080");
  EXPECT_EQ(shown_channel("command:curl -H 'token: secret' x"), "command:curl …");
  EXPECT_EQ(shown_channel("mail:me@example.org"), "mail:me@example.org");
  EXPECT_EQ(shown_channel("desktop"), "desktop");
}

class CommandChannelTest : public ::testing::Test {
 protected:
  std::optional<DeliveryProblem> run(const std::string& command, milliseconds timeout = milliseconds(20'000)) {
    NotifySettings settings;
    settings.total_timeout = timeout;
    auto channel = open_channel("command:" + command, settings);
    if (!channel) return DeliveryProblem{channel.error().message, true};
    Notice made = notice("a", "A");
    made.json = "{\"kind\": \"fired\"}\n";
    made.environment = {{"VRAMSCOPE_ALERT_SUBJECT", "it's $HOME `x`"}};
    const Deadline deadline_ns{std::numeric_limits<std::int64_t>::max()};
    return channel->channel->deliver(made, deadline_ns);
  }
};

TEST_F(CommandChannelTest, GetsTheEnvironmentAndJson) {
  const std::string path = ::testing::TempDir() + "vramscope_command_test";
  EXPECT_FALSE(run("printf '%s|' \"$VRAMSCOPE_ALERT_SUBJECT\" > " + path + "; cat /dev/stdin >> " + path));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "it's $HOME `x`|{\"kind\": \"fired\"}\n");
  std::remove(path.c_str());
}

TEST_F(CommandChannelTest, FailuresAreToldWithTheirReason) {
  const auto failed = run("echo first >&2; printf 'no such\\033[31m room\\n' >&2; exit 3");
  ASSERT_TRUE(failed);
  EXPECT_TRUE(has(failed->sentence, "exit status 3: no such\\x1b[31m room")) << failed->sentence;
  const auto killed = run("kill -9 $$");
  ASSERT_TRUE(killed);
  EXPECT_TRUE(has(killed->sentence, "signal 9")) << killed->sentence;
}

TEST_F(CommandChannelTest, TheWholeGroupIsKilledWhenItTakesTooLong) {
  const std::string path = ::testing::TempDir() + "vramscope_command_pid";
  const std::int64_t begin_ns = steady_now_ns();
  const auto late = run("sleep 1000 & echo $! > " + path + "; wait", milliseconds(300));
  ASSERT_TRUE(late);
  EXPECT_TRUE(has(late->sentence, "in time")) << late->sentence;
  EXPECT_LT(steady_now_ns() - begin_ns, 10 * kSecond);
  std::string pid;
  std::ifstream(path) >> pid;
  ASSERT_FALSE(pid.empty());
  for (int i = 0; i < 500; ++i) {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string word, state;
    if (!(stat >> word >> word >> state) || state == "Z") break;
    ASSERT_LT(i, 499) << "the child of the command still runs";
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::remove(path.c_str());
}

TEST_F(CommandChannelTest, MuchOutputAndUnreadInputDoNotHoldItUp) {
  EXPECT_FALSE(run("head -c 10000000 /dev/zero >&2; head -c 10000000 /dev/zero"));
}

TEST(Dispatcher, ADeadChannelDoesNotHoldUpAnother) {
  NotifySettings settings;
  const std::string path = ::testing::TempDir() + "vramscope_dispatch_test";
  std::remove(path.c_str());
  std::vector<ChannelReport> reports;
  Dispatcher dispatcher(settings, OutboxOptions(), [&](const ChannelReport& report) { reports.push_back(report); });
  const auto dead = dispatcher.open("command:sleep 1000");
  const auto good = dispatcher.open("command:cat > " + path);
  ASSERT_TRUE(dead && good);
  EXPECT_EQ(*dispatcher.open("command:sleep 1000"), *dead);
  AlertBench bench({"memory.used > 50%"});
  bench.used(30 * kGiB);
  const auto events = bench.seconds(1);
  ASSERT_EQ(events.size(), 1u);
  dispatcher.post(events[0], {*dead, *good});
  const std::int64_t begin_ns = steady_now_ns();
  const auto left = dispatcher.close(milliseconds(500));
  EXPECT_LT(steady_now_ns() - begin_ns, 5 * kSecond);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].channel, "command:sleep …");
  EXPECT_TRUE(has(undelivered_sentence(left[0]), "did not get the notice"));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_TRUE(has(text.str(), "\"kind\"")) << text.str();
  std::remove(path.c_str());
}

TEST(Dispatcher, IdsAreTheSameForOneFiring) {
  AlertBench bench({"memory.used > 50%"});
  bench.used(30 * kGiB);
  AlertEvent fired = bench.seconds(1)[0];
  const Notice first = notice_of(fired);
  EXPECT_EQ(first.id, first.incident);
  EXPECT_EQ(first.id, notice_of(fired).id);
  fired.kind = AlertKind::resolved;
  fired.real_time_ns += 60 * kSecond;
  EXPECT_EQ(notice_of(fired).incident, first.incident);
  EXPECT_NE(notice_of(fired).id, first.id);
}

}  // namespace
}  // namespace vramscope
