#include "rules/oom_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace vramscope {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Places that have no argument would be shown as they are written.
std::string empty_places(const Message& message) {
  std::string names;
  const std::string id = message.id;
  for (std::size_t open = id.find('{'); open != std::string::npos; open = id.find('{', open + 1)) {
    const std::string name = id.substr(open + 1, id.find('}', open) - open - 1);
    const bool is_known = std::any_of(message.arguments.begin(), message.arguments.end(),
                                      [&](const auto& argument) { return argument.first == name; });
    if (!is_known) names += " " + name;
  }
  return names;
}

ExplainedOom explained(OutOfMemory event) {
  OomVerdict verdict = explain_oom(event, {});
  return {std::move(event), std::move(verdict), nullptr, 0};
}

// Every choice of figures that a source can tell, under every cause that they lead to.
TEST(OomSentences, NoPlaceIsLeftEmpty) {
  const std::int64_t scales[][8] = {
      // asked, total, free, allocated, reserved, process, allowed, hole; in GiB
      {2, 24, 1, 20, 22, 23, 10, 1}, {2, 24, 1, 4, 5, 6, 30, 1},    {30, 24, 3, 18, 20, 21, 10, 1},
      {2, 24, 14, 9, 9, 10, 10, 1},  {4, 24, 1, 15, 22, 23, 23, 3},
  };
  for (const char* framework : {"pytorch", "tensorflow", "jax", "vllm", "cupy", "cuda", "nccl", "ray", "linux"}) {
    for (const auto& scale : scales) {
      for (unsigned told = 0; told < 1U << 12U; ++told) {
        const auto bytes = [&](unsigned at) {
          return (told >> at & 1U) != 0 ? std::optional(scale[at] * kGiB) : std::nullopt;
        };
        OutOfMemory event;
        event.framework = framework;
        event.asked_bytes = bytes(0);
        event.total_bytes = bytes(1);
        event.free_bytes = bytes(2);
        event.allocated_bytes = bytes(3);
        event.reserved_bytes = bytes(4);
        event.process_bytes = bytes(5);
        event.allowed_bytes = bytes(6);
        event.largest_hole_bytes = bytes(7);
        if ((told >> 8U & 1U) != 0) event.others = {{1, 22 * kGiB}, {2, 3 * kGiB}};
        if ((told >> 9U & 1U) != 0) event.private_pool_bytes = 8 * kGiB;
        if ((told >> 10U & 1U) != 0) event.program_bytes = 30 * kGiB;
        if ((told >> 11U & 1U) != 0) event.fitting_tokens = 1024;
        const ExplainedOom oom = explained(std::move(event));
        ASSERT_EQ(empty_places(oom_summary(oom)), "") << framework << " " << told << " " << oom_summary(oom).id;
        for (const Message& advice : oom_advice(oom)) {
          ASSERT_EQ(empty_places(advice), "") << framework << " " << told << " " << advice.id;
        }
      }
    }
  }
}

TEST(OomSentences, NameTheDeviceAsItsPlatformDoes) {
  OutOfMemory event;
  EXPECT_EQ(oom_device(event), "?");
  event.device = 1;
  EXPECT_EQ(oom_device(event), "cuda:1");
  event.device_type = "xpu";
  EXPECT_EQ(oom_device(event), "xpu:1");
  event.framework = "ray";
  EXPECT_EQ(oom_device(event), "host");
}

TEST(OomSentences, AStatusOfALibraryIsLessSure) {
  OutOfMemory event;
  event.framework = "cuda";
  event.text = "CUDA error: out of memory";
  EXPECT_DOUBLE_EQ(oom_confidence(explained(event)), 0.9);
  event.text = "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`";
  EXPECT_DOUBLE_EQ(oom_confidence(explained(event)), 0.6);
}

TEST(OomSentences, TheCommandSetsWhatIsAdvisedFirst) {
  OutOfMemory event;
  event.framework = "pytorch";
  event.text = "HIP out of memory. Tried to allocate 2.00 GiB";
  event.asked_bytes = 2 * kGiB;
  event.total_bytes = 24 * kGiB;
  event.free_bytes = 0;
  event.allocated_bytes = 15 * kGiB;
  event.reserved_bytes = 22 * kGiB;
  EXPECT_EQ(oom_command(explained(event)), "export PYTORCH_HIP_ALLOC_CONF=expandable_segments:True");
  event.text = "CUDA out of memory. 15.00 GiB already allocated";  // older than expandable segments
  event.asked_bytes = kGiB / 4;
  EXPECT_EQ(oom_command(explained(event)), "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128");
}

}  // namespace
}  // namespace vramscope
