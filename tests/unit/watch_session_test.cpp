// The rhythm of a watch over devices that are played back without waiting.
#include <gtest/gtest.h>

#include "cli/commands/watch/session.h"

namespace vramscope {
namespace {

std::unique_ptr<WatchSession> session(const std::string& speed, std::vector<std::string> command) {
  WatchOptions options;
  options.live.device = "sim:leak";
  options.live.speed = speed;
  options.command = std::move(command);
  options.quiet = true;
  auto opened = WatchSession::open(options);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

TEST(WatchSession, WhatIsPlayedBackBesideAProgramLeavesItTheCore) {
  const auto watch = session("max", {"true"});
  ASSERT_NE(watch, nullptr);
  ASSERT_TRUE(watch->sample_if_due());
  const std::int64_t at_once = watch->monitor().sample_count();
  EXPECT_GE(at_once, 1);
  EXPECT_LE(at_once, 100);
  EXPECT_GE(watch->wait_ms(), 1);
  ASSERT_TRUE(watch->sample_if_due());
  EXPECT_GT(watch->monitor().sample_count(), at_once);
  EXPECT_GE(watch->wait_ms(), 1);
}

TEST(WatchSession, WithoutAProgramNothingIsWaitedFor) {
  const auto watch = session("max", {});
  ASSERT_NE(watch, nullptr);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(watch->sample_if_due());
    EXPECT_EQ(watch->monitor().sample_count(), i);
    EXPECT_EQ(watch->wait_ms(), 0);
  }
}

TEST(WatchSession, AtItsOwnSpeedEachSampleHasItsTime) {
  const auto watch = session("1", {"true"});
  ASSERT_NE(watch, nullptr);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(watch->sample_if_due());
  EXPECT_EQ(watch->monitor().sample_count(), 1);
  EXPECT_GT(watch->wait_ms(), 100);
}

}  // namespace
}  // namespace vramscope
