#include "analysis/allocator_live.h"

#include <gtest/gtest.h>

#include "allocator_log.h"

namespace vramscope {
namespace {

class AllocatorLiveTest : public ::testing::Test {
 protected:
  std::string text(StringId id) const { return std::string(source_.trace.strings.view(id)); }
  std::vector<std::string> readable(StackId stack) const {
    std::vector<std::string> frames;
    for (const StringId frame : readable_frames(source_, stack)) frames.push_back(text(frame));
    return frames;
  }
  std::vector<HeldGroup> groups(const AllocatorDevice& device, HeldBy by) const {
    const Replay replay = replay_log(device);
    return group_allocations(source_, device, replay, live_allocations(replay, device.log.size()), by);
  }

  Source source_;
};

TEST_F(AllocatorLiveTest, FramesOfTheProfilerAndTheInterpreterAreLeftOut) {
  const StackId stack = add_stack(
      source_,
      {"_start", "__libc_start_main", "Py_BytesMain", "/home/me/train.py(9): <module>", "_PyEval_EvalFrameDefault",
       "/home/me/model.py(41): forward", "_PyEval_EvalFrameDefault", "eval_frame.c(0): dynamo_custom_eval_frame_shim",
       "method_vectorcall.llvm.12275804309777372242",
       "/usr/lib/python3/site-packages/torch/nn/functional.py(2000): linear",
       "at::_ops::linear::call(at::Tensor const&)", "CUDACachingAllocator.cpp(0): c10::cuda::Native::malloc(int)",
       "memory_snapshot.cpp(0): torch::cuda::(anonymous namespace)::gather_with_cpp()",
       "torch::CapturedTraceback::gather(bool, bool, bool)", "torch::unwind::unwind()"});
  EXPECT_EQ(readable(stack),
            (std::vector<std::string>{"CUDACachingAllocator.cpp(0): c10::cuda::Native::malloc(int)",
                                      "at::_ops::linear::call(at::Tensor const&)",
                                      "/usr/lib/python3/site-packages/torch/nn/functional.py(2000): linear",
                                      "/home/me/model.py(41): forward", "/home/me/train.py(9): <module>"}));
  EXPECT_EQ(text(user_frame(source_, stack)), "/home/me/model.py(41): forward");
}

TEST_F(AllocatorLiveTest, AStackOfNothingElseIsShownWhole) {
  const StackId stack = add_stack(source_, {"_start", "torch::unwind::unwind()"});
  EXPECT_EQ(readable(stack), (std::vector<std::string>{"torch::unwind::unwind()", "_start"}));
  EXPECT_EQ(user_frame(source_, stack), 0u);
  EXPECT_TRUE(readable_frames(source_, 0).empty());
}

TEST_F(AllocatorLiveTest, OwnFramesAreThoseOfTheUsersPython) {
  EXPECT_TRUE(is_own_frame("/home/me/train.py(9): <module>"));
  EXPECT_TRUE(is_own_frame("C:\\work (new)\\train.py(9): step"));
  EXPECT_TRUE(is_own_frame("<ipython-input-3-0f1>(2): <module>"));
  EXPECT_TRUE(is_own_frame("/tmp/ipykernel_77/123.py(2): <module>"));
  EXPECT_FALSE(is_own_frame("/x/site-packages/torch/nn/modules/module.py(1784): _call_impl"));
  EXPECT_FALSE(is_own_frame("C:\\Python310\\Lib\\copy.py(128): deepcopy"));
  EXPECT_FALSE(is_own_frame("<frozen runpy>(88): _run_code"));
  EXPECT_FALSE(is_own_frame("at::native::empty_cuda(c10::ArrayRef<long>)"));
  EXPECT_FALSE(is_own_frame("RegisterCUDA.cpp(0): at::wrapper()"));
  EXPECT_FALSE(is_own_frame("/build/pytorch/c10/cuda/Allocator.cpp(120): malloc"));
  EXPECT_FALSE(is_own_frame("??"));
}

TEST_F(AllocatorLiveTest, GroupsByFrameJoinTheStacksOfOneLine) {
  const StackId first = add_stack(source_, {"/me/a.py(1): main", "/me/a.py(5): run", "/x/site-packages/t.py(1): f"});
  const StackId second = add_stack(source_, {"/me/a.py(1): main", "/me/a.py(5): run", "/x/site-packages/t.py(2): g"});
  const StackId third = add_stack(source_, {"/me/a.py(1): main", "/x/site-packages/t.py(1): f"});
  LogMaker made;
  made.alloc(0x10, 100, first).alloc(0x20, 300, second).alloc(0x30, 350, third).alloc(0x40, 7);
  const auto by_frame = groups(made.device, HeldBy::frame);
  ASSERT_EQ(by_frame.size(), 3u);
  EXPECT_EQ(text(by_frame[0].frame), "/me/a.py(5): run");
  EXPECT_EQ(by_frame[0].bytes, 400);
  EXPECT_EQ(by_frame[0].count, 2);
  EXPECT_EQ(by_frame[0].stack, second);  // holds most of it
  EXPECT_EQ(text(by_frame[1].frame), "/me/a.py(1): main");
  EXPECT_EQ(by_frame[2].frame, 0u);
  const auto by_stack = groups(made.device, HeldBy::stack);
  ASSERT_EQ(by_stack.size(), 4u);
  EXPECT_EQ(by_stack[0].stack, third);
}

TEST_F(AllocatorLiveTest, GroupsByWhatTheEntriesTell) {
  auto& strings = source_.trace.strings;
  source_.memory_state.emplace();
  auto& notes = source_.memory_state->notes;
  notes.resize(2);
  notes[0].category = strings.intern("gradient");
  notes[0].compile_context = strings.intern("0/1");
  notes[1].pool = strings.intern("(0, 3)");
  const StringId segment_pool = strings.intern("(0, 9)");
  LogMaker made;
  made.segment(0x1000, SegmentPool::small, 4, segment_pool).block(BlockState::allocated, 512, 300);
  made.alloc(0x10, 100, 0, 0).alloc(0x20, 100, 0, 1).alloc(0x30, 50, 0, 0);
  const auto category = groups(made.device, HeldBy::category);
  ASSERT_EQ(category.size(), 2u);
  EXPECT_EQ(category[0].key, "");
  EXPECT_EQ(category[0].bytes, 400);
  EXPECT_EQ(category[1].key, "gradient");
  EXPECT_EQ(category[1].bytes, 150);
  EXPECT_EQ(groups(made.device, HeldBy::context)[1].key, "0/1");
  const auto pool = groups(made.device, HeldBy::pool);
  ASSERT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool[0].key, "(0, 9)");  // by its segment
  EXPECT_EQ(pool[1].key, "");        // of equals the first allocated
  EXPECT_EQ(pool[2].key, "(0, 3)");
  const auto stream = groups(made.device, HeldBy::stream);
  EXPECT_EQ(stream[0].key, "4");
  EXPECT_EQ(stream[1].key, "0");
  const auto size = groups(made.device, HeldBy::size);
  ASSERT_EQ(size.size(), 3u);
  EXPECT_EQ(size[1].key, "100");
  EXPECT_EQ(size[1].count, 2);
}

TEST_F(AllocatorLiveTest, GrowthIsComparedByTheTextOfTheFrames) {
  LogMaker before;
  before.segment(0x1000);
  before.block(BlockState::allocated, 512, 400, add_stack(source_, {"a.py(1): main", "a.py(2): cache"}));
  before.block(BlockState::allocated, 512, 500, add_stack(source_, {"a.py(1): main", "a.py(3): weights"}));
  before.block(BlockState::allocated, 512, 90, add_stack(source_, {"a.py(1): main", "a.py(9): gone"}));
  Source later;
  const StackId fresh = add_stack(later, {"b.py(1): other"});
  const StackId weights = add_stack(later, {"a.py(1): main", "a.py(3): weights"});
  const StackId cache = add_stack(later, {"a.py(1): main", "a.py(2): cache"});
  LogMaker after;
  after.segment(0x1000).block(BlockState::allocated, 512, 500, weights).block(BlockState::allocated, 512, 300, fresh);
  after.block(BlockState::allocated, 512, 400, cache).block(BlockState::pending_free, 512, 450, cache);
  after.block(BlockState::free, 512, 450, cache);
  const auto grown = growth_between(source_, before.device, later, after.device);
  ASSERT_EQ(grown.size(), 2u);
  EXPECT_EQ(grown[0].stack, cache);
  EXPECT_EQ(grown[0].before_bytes, 400);
  EXPECT_EQ(grown[0].after_bytes, 850);
  EXPECT_EQ(grown[0].before_count, 1);
  EXPECT_EQ(grown[0].after_count, 2);
  EXPECT_EQ(grown[1].stack, fresh);
  EXPECT_EQ(grown[1].before_bytes, 0);
}

}  // namespace
}  // namespace vramscope
