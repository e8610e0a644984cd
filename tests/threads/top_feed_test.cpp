// The feed of `top` for the thread sanitizer: one thread samples and fills the scene, another reads it, turns the zoom
// and asks for details. What the feed does is tested in tests/unit.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tui/feed.h"

namespace vramscope::tui {
namespace {

TEST(TopFeed, SceneIsReadWhileItIsFilled) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::atomic<int> news{0};
  FeedOptions options;
  options.sampler.device = "sim:node8";
  options.sampler.speed = 0;
  options.source = "sim:node8";
  options.on_news = [&news] { ++news; };
  auto rule = parse_alert_rule("memory.used > 10%");
  ASSERT_TRUE(rule);
  options.rules.push_back(*rule);
  Feed feed(std::move(options));
  feed.start();
  EXPECT_FALSE(feed.wait_for_opening(20 * kSecond));
  std::size_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    feed.set_zoom(static_cast<std::size_t>(i) % kWindows.size());
    feed.set_details(i % 3 == 0 ? std::optional(DetailsRequest{{20000, 0}, "GPU-x", i % 2 == 0}) : std::nullopt);
    feed.read([&](const Scene& scene) {
      std::vector<LevelRange> pieces(100);
      for (const SceneDevice& device : scene.devices) device.curves[0].pieces(1, scene.time_ns, pieces);
      for (const SceneProcess& process : scene.processes) seen += process.command.size();
      seen += scene.verdicts.size() + scene.alerts.size();
    });
    feed.silent_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GT(seen, 0U);
  EXPECT_GT(news, 3);
  EXPECT_TRUE(feed.stop(20 * kSecond));
}

}  // namespace
}  // namespace vramscope::tui
