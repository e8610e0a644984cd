#include <gtest/gtest.h>

#include "analysis/frames.h"

namespace vramscope {
namespace {

TEST(FramesTest, TellsTheUsersOwnCodeFromLibraries) {
  for (const std::string_view frame :
       {"train.py(42): step", "/home/me/project/model.py(7): forward", "./run.py(1): <module>",
        "/home/me/torch_models/net.py(3): f", "vllm/v1/worker.py(9): execute"}) {
    EXPECT_TRUE(is_user_frame(frame)) << frame;
  }
  for (const std::string_view frame :
       {"", "torch/nn/modules/module.py(1051): _call_impl",
        "/usr/lib/python3/dist-packages/torch/nn/functional.py(1): relu",
        "/opt/env/lib/python3.7/site-packages/torchvision/models/resnet.py(249): forward",
        "<built-in method linear of type object at 0x7f>", "nn.Module: Linear_0",
        "/tmp/torchinductor_me/ab/cab.py(232): call", "/usr/lib/python3.11/threading.py(890): _bootstrap",
        "threading.py(890): _bootstrap", "concurrent/futures/thread.py(52): run", "<frozen importlib._bootstrap>(1): f",
        "/src/pytorch/torch/_ops.py(502): __call__"}) {
    EXPECT_FALSE(is_user_frame(frame)) << frame;
  }
}

TEST(FramesTest, FindsTheInnermostOwnFrame) {
  StringPool strings;
  const StringId library = strings.intern("torch/nn/modules/module.py(1051): _call_impl");
  const StringId inner = strings.intern("model.py(7): forward");
  const StringId outer = strings.intern("train.py(42): step");
  EXPECT_EQ(first_user_frame(strings, {library, inner, library, outer}), inner);
  EXPECT_EQ(first_user_frame(strings, {library}), 0u);
  EXPECT_EQ(first_user_frame(strings, {}), 0u);
}

}  // namespace
}  // namespace vramscope
