// The threads of a watch as they run together, for the thread sanitizer: samples and alerts on one thread, a thread for
// each channel, reports that come back. What each part does is tested in tests/unit.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "monitor/alert_state.h"
#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "notify/dispatcher.h"
#include "sampling/recorder.h"
#include "sampling/sampler.h"

namespace vramscope {
namespace {

// Answers every request on a port of this machine with 200, until it is destroyed.
class Receiver {
 public:
  Receiver() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool is_open = bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(socket_, 16) == 0 &&
                         getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (is_open) port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { answer(); });
  }
  ~Receiver() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  int requests() const { return requests_; }

 private:
  void answer() {
    for (int peer = accept(socket_, nullptr, nullptr); peer >= 0; peer = accept(socket_, nullptr, nullptr)) {
      std::string text;
      char buffer[4096];
      // The notice is one object of JSON: its end is the end of the request.
      while (text.find("}\n") == text.npos) {
        const ssize_t count = recv(peer, buffer, sizeof buffer, 0);
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
      }
      const std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      if (send(peer, reply.data(), reply.size(), MSG_NOSIGNAL) > 0) ++requests_;
      close(peer);
    }
  }

  int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

std::unique_ptr<Sampler> simulated(const std::string& scenario) {
  SamplerOptions options;
  options.device = "sim:" + scenario;
  options.speed = 0;
  auto sampler = open_sampler(options);
  EXPECT_TRUE(static_cast<bool>(sampler));
  return sampler ? std::move(*sampler) : nullptr;
}

TEST(WatchThreads, AlertsGoToEveryChannelWhileSamplesGoOn) {
  Receiver receiver;
  std::mutex lock;
  std::vector<ChannelReport> reports;
  NotifySettings settings;
  settings.host = "host.example.org";
  OutboxOptions options;
  options.back_off = {std::chrono::milliseconds(20)};
  Dispatcher dispatcher(settings, options, [&](const ChannelReport& report) {
    const std::lock_guard guard(lock);
    reports.push_back(report);
  });
  std::vector<std::size_t> channels;
  std::vector<std::string> wanted = {"command:cat > /dev/null", "command:exit 3", "command:sleep 100"};
  if (const auto webhook = open_channel("webhook:" + receiver.url(), settings); webhook) {
    wanted.push_back(webhook->written);
  }
  for (const std::string& written : wanted) channels.push_back(*dispatcher.open(written));
  AlertWatch alerts({*parse_alert_rule("process.memory > 1 GiB"), *parse_alert_rule("gpu lost")}, "host");
  auto sampler = simulated("node8");
  Monitor monitor;
  std::size_t events = 0, told = 0;
  for (int i = 0; i < 200; ++i) {
    const LiveSample& sample = *sampler->sample();
    monitor.add(sample);
    for (const AlertEvent& event : alerts.add(sample, monitor).events) {
      dispatcher.post(event, channels);
      ++events;
    }
    judge({sample, monitor});
    dispatcher.delivered();
    const std::lock_guard guard(lock);
    told += reports.size();
    reports.clear();
  }
  // The quick channels have something to do before all end.
  const std::int64_t limit_ns = steady_now_ns() + 20'000'000'000;
  while (dispatcher.delivered() < (wanted.size() == 4 ? 4U : 2U) && steady_now_ns() < limit_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::size_t left = dispatcher.close(std::chrono::milliseconds(300)).size();
  EXPECT_GE(dispatcher.delivered(), 2u);
  EXPECT_GT(events, 0u);
  EXPECT_GT(left, 0u);  // of those that fail and hang
  EXPECT_GT(told + reports.size(), 0u);
  if (wanted.size() == 4) EXPECT_GT(receiver.requests(), 0);
}

TEST(WatchThreads, ADispatcherThatEndsAtOnceLeavesNothingRunning) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> told{0};
    AlertEvent event;
    event.key = event.rule = "gpu lost";
    event.condition = AlertCondition::gpu_lost;
    {
      Dispatcher dispatcher({}, {}, [&](const ChannelReport&) { ++told; });
      const std::size_t hangs = *dispatcher.open("command:sleep 100");
      const std::size_t fails = *dispatcher.open("command:exit 1");
      dispatcher.post(event, {hangs, fails});
    }
    const int at_its_end = told;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(told, at_its_end);
  }
}

// Samplers share tables and caches that are made at the first use.
TEST(SamplingThreads, SamplersOfTheirOwnDoNotDisturbEachOther) {
  const std::string scenarios[] = {"node8", "leak", "zombie", "lost-gpu"};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (const std::string& scenario : scenarios) {
    threads.emplace_back([&, scenario] {
      const auto path = std::filesystem::temp_directory_path() /
                        ("vramscope-threads-" + std::to_string(getpid()) + "-" + scenario + ".vrs");
      auto sampler = simulated(scenario);
      auto recorder = Recorder::open(path.string(), {"test", "", true, true}, MachineFacts{});
      Monitor monitor;
      for (int i = 0; i < 120; ++i) {
        const LiveSample& sample = *sampler->sample();
        monitor.add(sample);
        judge({sample, monitor});
        if ((*recorder)->add(sample)) ++wrong;
      }
      if ((*recorder)->close()) ++wrong;
      SamplerOptions options;
      options.replay = path.string();
      options.speed = 0;
      auto replay = open_sampler(options);
      int count = 0;
      while (replay && (*replay)->sample() != nullptr) ++count;
      if (count != 120) ++wrong;
      std::filesystem::remove(path);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace vramscope
