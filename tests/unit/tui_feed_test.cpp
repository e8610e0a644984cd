// The feed of `top`: devices on a thread of its own, the scene that others read meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "sampling/host_processes.h"
#include "tui/feed.h"
#include "tui/process_facts.h"
#include "tui/view.h"

namespace vramscope::tui {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

FeedOptions options_of(const std::string& device, double speed, std::atomic<int>& news) {
  FeedOptions options;
  options.sampler.device = device;
  options.sampler.speed = speed;
  options.source = device;
  options.on_news = [&news] { ++news; };
  return options;
}

// Waits until it holds for the scene; false after ten seconds.
bool wait_for(Feed& feed, const std::function<bool(const Scene&)>& holds) {
  for (int i = 0; i < 1000; ++i) {
    bool is_so = false;
    feed.read([&](const Scene& scene) { is_so = holds(scene); });
    if (is_so) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(TuiFeed, FillsTheSceneWhileOthersDrawIt) {
  std::atomic<int> news{0};
  Feed feed(options_of("sim:node8", 0, news));
  feed.start();
  EXPECT_FALSE(feed.wait_for_opening(10 * kSecond));
  UiState ui;
  View view;
  Frame frame(200, 60);
  for (int i = 0; i < 200; ++i) {
    feed.set_zoom(static_cast<std::size_t>(i) % kWindows.size());
    if (i % 3 == 0) feed.set_details(DetailsRequest{{20000, 0}, "GPU-x", i % 2 == 0});
    frame.reset(200, 60);
    feed.read([&](const Scene& scene) { draw(frame, scene, ui, std::nullopt, {kSecond, true, false, true}, view); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(wait_for(feed, [](const Scene& scene) { return scene.processes.size() == 160 && scene.time_ns > 0; }));
  EXPECT_GT(news, 10);
  EXPECT_TRUE(feed.stop(10 * kSecond));
}

TEST(TuiFeed, TellsWhyNothingOpensAndTriesAgain) {
  std::atomic<int> news{0};
  Feed feed(options_of("sim:no-such-scenario", 1, news));
  feed.start();
  const auto error = feed.wait_for_opening(10 * kSecond);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ExitCode::usage);
  EXPECT_TRUE(wait_for(feed, [&](const Scene& scene) { return scene.problem == error->message; }));
  EXPECT_TRUE(feed.stop(10 * kSecond));  // also while it waits to try again
}

TEST(TuiFeed, AlertsFireAndAreResolved) {
  std::atomic<int> news{0};
  FeedOptions options = options_of("sim:lost-gpu", 0, news);
  auto rule = parse_alert_rule("gpu lost");
  ASSERT_TRUE(rule);
  options.rules.push_back(*rule);
  Feed feed(std::move(options));
  feed.start();
  EXPECT_TRUE(wait_for(feed, [](const Scene& scene) { return scene.alerts.size() == 1; }));
  EXPECT_TRUE(wait_for(feed, [](const Scene& scene) { return !scene.verdicts.empty(); }));
  EXPECT_TRUE(feed.stop(10 * kSecond));
}

TEST(TuiFeed, DetailsAreOfTheProcessWithThatStartTime) {
  const auto start = start_ticks_of(getpid(), {});
  ASSERT_TRUE(start);
  const SceneDetails own = read_details({getpid(), *start}, nullptr, true, {});
  EXPECT_TRUE(own.folder);
  EXPECT_TRUE(own.has_environment);
  EXPECT_FALSE(own.environment.empty());
  EXPECT_TRUE(own.problem.empty());
  EXPECT_TRUE(read_details({getpid(), *start}, nullptr, false, {}).environment.empty());
  const SceneDetails other = read_details({getpid(), *start + 1}, nullptr, true, {});
  EXPECT_FALSE(other.folder);
  EXPECT_TRUE(other.environment.empty());
  EXPECT_FALSE(other.problem.empty());
}

// A sample of one GPU with one process, made by hand.
class OneGpu {
 public:
  OneGpu() : devices_(1) {
    devices_[0].values.set_text(Metric::uuid, "GPU-1");
    devices_[0].values.set_text(Metric::name, "A\x1b[31mB");
    devices_[0].values.set(Metric::memory_total, 100);
    devices_[0].processes.emplace_back();
    devices_[0].processes[0].pid = 42;
    sample_.device_list = &devices_;
  }
  const Scene& at(std::int64_t time_ns, std::int64_t used, bool is_lost) {
    sample_.time_ns = time_ns;
    devices_[0].is_lost = is_lost;
    devices_[0].values.set(Metric::memory_used, used);
    devices_[0].processes[0].used_bytes = used;
    monitor_.add(sample_);
    builder_.add(sample_, monitor_, {});
    return builder_.scene();
  }
  Monitor& monitor() { return monitor_; }
  SceneBuilder& builder() { return builder_; }

 private:
  std::vector<DeviceSample> devices_;
  LiveSample sample_;
  Monitor monitor_;
  SceneBuilder builder_{"", {}};
};

TEST(TuiScene, GpuIsLostAndComesBack) {
  OneGpu gpu;
  for (int i = 0; i < 20; ++i) gpu.at(i * kSecond, 40, false);
  for (int i = 20; i < 40; ++i) EXPECT_TRUE(gpu.at(i * kSecond, 40, true).devices[0].is_lost);
  for (int i = 40; i < 60; ++i) EXPECT_FALSE(gpu.at(i * kSecond, 80, false).devices[0].is_lost);
  const SceneDevice& device = gpu.builder().scene().devices[0];
  EXPECT_EQ(device.name, "A\\x1b[31mB");  // harmless
  std::vector<LevelRange> pieces(60);
  device.curves[static_cast<std::size_t>(Curve::memory)].pieces(0, 59 * kSecond, pieces);
  EXPECT_EQ(pieces[10].high, 100);
  EXPECT_FALSE(pieces[30].is_known());
  EXPECT_EQ(pieces[50].high, 200);
}

TEST(TuiScene, HistoryOfAProcessIsThatOfTheMonitorAtEveryZoom) {
  OneGpu gpu;
  for (int i = 0; i < 600; ++i) gpu.at(i * kSecond, i < 300 ? 10 : 90, false);
  const Scene& scene = gpu.builder().scene();
  const Trend five_minutes = scene.processes[0].trend;  // kept as samples came
  EXPECT_EQ(five_minutes.back(), 90);
  gpu.builder().set_zoom(2, gpu.monitor());
  EXPECT_EQ(scene.processes[0].trend.front(), -1);  // 15 minutes: before it began
  EXPECT_EQ(scene.processes[0].trend[10], 10);
  EXPECT_EQ(scene.processes[0].trend.back(), 90);
  gpu.builder().set_zoom(1, gpu.monitor());
  EXPECT_EQ(scene.processes[0].trend, five_minutes);
}

TEST(HostProcessesAtRest, AreNotLookedAtAgainBeforeTheirTime) {
  HostProcesses processes({}, kSecond);
  std::vector<DeviceSample> devices(1);
  devices[0].processes.emplace_back();
  devices[0].processes[0].pid = getpid();
  LiveSample sample;
  sample.device_list = &devices;
  const auto has_cpu_at = [&](std::int64_t time_ns) {
    sample.time_ns = time_ns;
    processes.join(sample);
    const HostProcess* own = sample.find(getpid());
    EXPECT_TRUE(own != nullptr && own->presence == Presence::seen);  // at every sample, asked or not
    return own != nullptr && own->process.cpu_percent.has_value();
  };
  EXPECT_FALSE(has_cpu_at(1));
  EXPECT_FALSE(has_cpu_at(kSecond / 10));  // a second look would give a share
  EXPECT_FALSE(has_cpu_at(kSecond * 9 / 10));
  EXPECT_TRUE(has_cpu_at(kSecond + 2));
}

}  // namespace
}  // namespace vramscope::tui
