#include "analysis/oom_cause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "allocator_log.h"
#include "analysis/allocator_replay.h"
#include "analysis/allocator_sizes.h"

namespace vramscope {
namespace {

using enum OomAdvice;
using Settings = std::map<std::string, std::string>;

constexpr std::int64_t kMiB = 1 << 20;
std::int64_t gib(double count) {
  return static_cast<std::int64_t>(std::llround(count * 1024.0 * static_cast<double>(kMiB)));
}

bool advises(const OomVerdict& verdict, OomAdvice advice) {
  return std::find(verdict.advice.begin(), verdict.advice.end(), advice) != verdict.advice.end();
}
bool contradicts(const OomVerdict& verdict, const std::string& part) {
  return std::any_of(verdict.contradictions.begin(), verdict.contradictions.end(),
                     [&](const char* text) { return std::string(text).find(part) != std::string::npos; });
}

// A message of PyTorch as its reader gives it.
OutOfMemory message(std::int64_t asked, double total, double free, double allocated, double reserved,
                    std::string text = "CUDA out of memory. Tried to allocate") {
  OutOfMemory event;
  event.framework = "pytorch";
  event.device = 0;
  event.asked_bytes = asked;
  event.total_bytes = gib(total);
  event.free_bytes = gib(free);
  event.allocated_bytes = gib(allocated);
  event.reserved_bytes = gib(reserved);
  event.text = std::move(text);
  return event;
}

// The eight messages of the collection, each judged by hand first.

TEST(OomMessages, PyTorch14HalfOfTheCardInPieces) {
  // 10.84 asked, 10.26 free on the device, and 12.53 - 1.06 = 11.47 reserved and not allocated: more than was asked, in
  // pieces. That wording is older than expandable segments.
  const OomVerdict verdict =
      explain_oom(message(gib(10.84), 23.65, 10.26, 1.06, 12.53, "1.06 GiB already allocated"), {});
  EXPECT_EQ(verdict.cause, OomCause::fragmented);
  EXPECT_DOUBLE_EQ(verdict.confidence, 0.9);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{max_split_size, smaller_batch}));
  EXPECT_NEAR(static_cast<double>(verdict.unallocated_bytes.value()), static_cast<double>(gib(11.47)), 10);
  EXPECT_EQ(verdict.must_go_bytes, 0);
  EXPECT_EQ(verdict.batch_factor, std::nullopt);
  EXPECT_TRUE(verdict.contradictions.empty());
}

TEST(OomMessages, PyTorch10WithRoomForAThousandSuchRequests) {
  // 12.50 MiB asked with 9.28 GiB free: neither this process nor others took the memory. "cached" was what is reserved
  // and not allocated; the reader adds it to what is allocated.
  OutOfMemory event = message(12 * kMiB + kMiB / 2, 10.92, 9.28, 0, 0, "8.57 MiB already allocated; 4.68 MiB cached)");
  event.allocated_bytes = 8'986'296;
  event.reserved_bytes = 8'986'296 + 4'907'335;
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::unknown);
  EXPECT_EQ(verdict.unallocated_bytes, 4'907'335);
  EXPECT_EQ(verdict.missing_bytes, 0);
  ASSERT_EQ(verdict.contradictions.size(), 1u);
  EXPECT_TRUE(contradicts(verdict, "had room"));
}

TEST(OomMessages, WindowsLendsSystemMemoryAndTheRequestIsLargerThanTheCard) {
  const OomVerdict verdict = explain_oom(message(gib(10.73), 8, 0, 17.2, 19.15, "17.20 GiB already allocated"), {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{shorter_sequences, smaller_batch, windows_shared_memory}));
  EXPECT_TRUE(contradicts(verdict, "More is allocated"));
  EXPECT_EQ(verdict.held_outside_bytes, std::nullopt);
}

TEST(OomMessages, PyTorch21PiecesAndNothingFree) {
  // 2.30 reserved and not allocated for a request of 1.70: pieces.
  const OomVerdict verdict = explain_oom(message(gib(1.70), 6, 0, 2.93, 5.23), {});
  EXPECT_EQ(verdict.cause, OomCause::fragmented);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{expandable_segments, max_split_size, smaller_batch}));
  EXPECT_NEAR(static_cast<double>(verdict.held_outside_bytes.value()), static_cast<double>(gib(0.77)), 10);
}

TEST(OomMessages, WindowsLendsSystemMemory) {
  const OomVerdict verdict = explain_oom(message(1002 * kMiB, 8, 0, 13.98, 14.11), {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{smaller_batch, checkpoint_activations, windows_shared_memory}));
  EXPECT_TRUE(contradicts(verdict, "More is allocated"));
}

TEST(OomMessages, OthersHoldMostOfTheCard) {
  // 264 MiB were free for 86 MiB, but read after the failure; two other processes hold 15.3 of 23.6 GiB.
  OutOfMemory event = message(86 * kMiB, 23.64, 264.0 / 1024, 7.63, 7.67);
  event.process_bytes = gib(8.04);
  event.others = {{2086283, 419 * kMiB}, {2797307, gib(14.85)}};
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::held_by_others);
  EXPECT_DOUBLE_EQ(verdict.confidence, 0.5);
  EXPECT_EQ(verdict.advice.front(), stop_other_processes);
  EXPECT_EQ(verdict.others_bytes, gib(14.85) + 419 * kMiB);
  EXPECT_TRUE(contradicts(verdict, "had room"));
}

TEST(OomMessages, AlmostEnoughInPiecesIsStillNotEnough) {
  // 12.73 free and 9.35 in pieces are 22.08: 0.70 short of 22.78. Joined pieces would help, not suffice.
  OutOfMemory event = message(gib(22.78), 31.47, 12.73, 9.08, 18.43);
  event.process_bytes = gib(18.73);
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.advice,
            (std::vector<OomAdvice>{shorter_sequences, smaller_batch, checkpoint_activations, expandable_segments}));
  EXPECT_NEAR(static_cast<double>(verdict.missing_bytes.value()), static_cast<double>(gib(10.05)), 10);
  EXPECT_NEAR(static_cast<double>(verdict.must_go_bytes.value()), static_cast<double>(gib(0.70)), 10);
  EXPECT_NEAR(verdict.batch_factor.value(), (9.08 + 9.35 + 12.73) / (9.08 + 22.78), 1e-6);
}

TEST(OomMessages, TheRequestIsLargerThanTheCard) {
  // In a container the list of processes has this one too: 14.91 + 29.07 is all that is in use.
  OutOfMemory event = message(gib(124.68), 95.22, 51.23, 25.50, 28.64);
  event.others = {{608946, gib(14.91)}, {734147, gib(29.07)}};
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_DOUBLE_EQ(verdict.confidence, 0.95);
  EXPECT_EQ(verdict.advice.front(), shorter_sequences);
  EXPECT_EQ(verdict.others_bytes, gib(14.91));
  EXPECT_EQ(verdict.process_bytes, gib(29.07));
  ASSERT_EQ(verdict.others.size(), 1u);
  EXPECT_EQ(verdict.others[0].pid, 608946);
  EXPECT_TRUE(verdict.contradictions.empty());
}

TEST(OomMessages, TheOneProcessNamedIsThisOne) {
  // In a container it has another number: 78.59 reserved and its context are the 79.14 that process 1 is said to have.
  OutOfMemory event = message(20 * kMiB, 79.15, 8.5 / 1024, 78, 78 + 600.0 / 1024);
  event.others = {{1, gib(79.14)}};
  OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.process_bytes, gib(79.14));
  EXPECT_TRUE(verdict.others.empty());
  EXPECT_EQ(verdict.others_bytes, 0);
  EXPECT_FALSE(advises(verdict, stop_other_processes));
  EXPECT_EQ(verdict.cause, OomCause::fragmented);
  EXPECT_FALSE(advises(verdict, max_split_size));  // it has to be above 20 MiB
  event.asked_bytes = gib(2);
  verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_FALSE(advises(verdict, stop_other_processes));
}

TEST(OomMessages, NoOtherProcessHoldsWhatTheDeviceCannotHaveInUse) {
  // This one has 20 of the 24: no other can have 18, and then the remaining 3 are all that others can have.
  OutOfMemory event = message(gib(2), 24, 1, 19, 19.4);
  event.process_bytes = gib(20);
  event.others = {{7, gib(18)}, {8, gib(2.5)}};
  const OomVerdict verdict = explain_oom(event, {});
  ASSERT_EQ(verdict.others.size(), 1u);
  EXPECT_EQ(verdict.others[0].pid, 8);
  EXPECT_EQ(verdict.others_bytes, gib(2.5));
  EXPECT_TRUE(contradicts(verdict, "said to hold more"));
  EXPECT_LE(verdict.confidence, 0.5);
}

TEST(OomCause, ExhaustedByThisProcess) {
  const OomVerdict verdict = explain_oom(message(gib(2), 24, 0.5, 22, 22.6), {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{smaller_batch, checkpoint_activations}));
  EXPECT_NEAR(verdict.batch_factor.value(), 23.1 / 24, 1e-6);
}

TEST(OomCause, OthersAreClaimedOnlyWhereTheTotalIsKnown) {
  OutOfMemory event = message(gib(2), 24, 0.5, 4, 4.1);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::held_by_others);
  EXPECT_DOUBLE_EQ(explain_oom(event, {}).confidence, 0.6);  // by what is left over
  event.process_bytes = gib(4.5);
  EXPECT_DOUBLE_EQ(explain_oom(event, {}).confidence, 0.9);
  EXPECT_EQ(explain_oom(event, {}).others_bytes, gib(24) - gib(0.5) - gib(4.5));
  event.total_bytes.reset();
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.held_outside_bytes, std::nullopt);
}

TEST(OomCause, AContextAloneIsNoOtherProcess) {
  EXPECT_EQ(explain_oom(message(gib(0.5), 24, 0.2, 22.9, 23), {}).cause, OomCause::exhausted);
}

TEST(OomCause, FreeMemoryOfTheDeviceCountsForFragmentation) {
  const OomVerdict verdict = explain_oom(message(gib(3), 24, 1.5, 20, 22), {});
  EXPECT_EQ(verdict.cause, OomCause::fragmented);
  EXPECT_DOUBLE_EQ(verdict.confidence, 0.75);
}

TEST(OomCause, SettingsInForceAreNotAdvised) {
  const OutOfMemory event = message(gib(1.70), 6, 0, 2.93, 5.23);
  const Settings expandable = {{"expandable_segments", "True"}, {"max_split_size", "-1"}};
  EXPECT_EQ(explain_oom(event, expandable).advice, (std::vector<OomAdvice>{smaller_batch}));
  const Settings limit = {{"expandable_segments", "False"}, {"max_split_size", "536870912"}};
  EXPECT_EQ(explain_oom(event, limit).advice, (std::vector<OomAdvice>{expandable_segments, smaller_batch}));
}

TEST(OomCause, SettingsAreReadInAllForms) {
  EXPECT_FALSE(has_expandable_segments({}));
  EXPECT_TRUE(has_expandable_segments({{"expandable_segments", "True"}}));
  EXPECT_TRUE(has_expandable_segments({{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64,expandable_segments:True"}}));
  EXPECT_FALSE(has_expandable_segments(
      {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}, {"expandable_segments", "False"}}));
  EXPECT_FALSE(has_split_limit({}));
  EXPECT_FALSE(has_split_limit({{"max_split_size", "-1"}}));
  EXPECT_FALSE(has_split_limit({{"max_split_size", "9223372036854775807"}}));
  EXPECT_TRUE(has_split_limit({{"max_split_size", "67108864"}}));
  EXPECT_TRUE(has_split_limit({{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64"}}));
}

TEST(OomCause, ACapStopsTheRequestWhileTheDeviceHasRoom) {
  OutOfMemory event = message(gib(2), 24, 14, 9, 9.5);
  event.allowed_bytes = gib(10);
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::capped);
  EXPECT_EQ(verdict.advice.front(), raise_cap);
  EXPECT_NEAR(static_cast<double>(verdict.missing_bytes.value()), static_cast<double>(gib(1.5)), 10);
  event.free_bytes = gib(0.1);  // raising the cap would not help
  EXPECT_NE(explain_oom(event, {}).cause, OomCause::capped);
}

TEST(OomCause, JoiningIsAdvisedWhereItHelpsAlone) {
  // Below the cap 1 GiB is not allocated: all of it joined is less than the 2 asked for.
  OutOfMemory event = message(gib(2), 23.64, 12.5, 9, 9.2);
  event.allowed_bytes = gib(10);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{raise_cap, smaller_batch}));
  event = message(gib(2), 23.64, 12.5, 7.5, 9.2);  // 2.5 are
  event.allowed_bytes = gib(10);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{raise_cap, expandable_segments, smaller_batch}));
}

TEST(OomCause, ASplitLimitIsBelowTheRequest) {
  EXPECT_EQ(split_limit_mib(gib(4)), 512);
  EXPECT_EQ(split_limit_mib(gib(1)), 512);
  EXPECT_EQ(split_limit_mib(gib(1) - 1), 256);
  EXPECT_EQ(split_limit_mib(64 * kMiB), 32);
  EXPECT_EQ(split_limit_mib(63 * kMiB), 0);
  EXPECT_EQ(split_limit_mib(0), 0);
}

TEST(OomCause, SettingsOfTheLogAreInForce) {
  OutOfMemory event = message(gib(3), 23.64, 1.5, 15, 21);
  EXPECT_TRUE(advises(explain_oom(event, {}), expandable_segments));
  event.allocator_settings = "expandable_segments:True";
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{smaller_batch}));
  EXPECT_DOUBLE_EQ(explain_oom(event, {}).confidence, 0.6);
  event.allocator_settings = "max_split_size_mb:128";
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{expandable_segments, smaller_batch}));
  EXPECT_TRUE(has_expandable_segments({{"PYTORCH_ALLOC_CONF", "expandable_segments:True"}}));
  EXPECT_TRUE(has_expandable_segments({{"PYTORCH_HIP_ALLOC_CONF", "expandable_segments:True"}}));
}

TEST(OomCause, TheVariableIsThatOfThePlatform) {
  OutOfMemory event = message(gib(2), 64, 1, 60, 61);
  EXPECT_EQ(settings_variable(event), "PYTORCH_CUDA_ALLOC_CONF");
  event.text = "HIP out of memory. Tried to allocate";
  EXPECT_EQ(settings_variable(event), "PYTORCH_HIP_ALLOC_CONF");
  event.settings_variable = "PYTORCH_ALLOC_CONF";
  EXPECT_EQ(settings_variable(event), "PYTORCH_ALLOC_CONF");
}

TEST(OomCause, SettingsOfCudaAreNotForOtherAllocators) {
  OutOfMemory event = message(gib(2), 16, 0.5, 12, 15);
  EXPECT_TRUE(advises(explain_oom(event, {}), expandable_segments));
  event.device_type = "xpu";
  EXPECT_FALSE(advises(explain_oom(event, {}), expandable_segments));
  event.device_type = "cuda";
  event.text = "Allocation on device 0 would exceed allowed memory. Free (according to CUDA): 0 bytes";
  EXPECT_FALSE(advises(explain_oom(event, {}), expandable_segments));
}

TEST(OomCause, ACompilersTotalIsNoRequest) {
  OutOfMemory event;
  event.framework = "jax";
  event.text = "Ran out of memory in memory space hbm. Used 18.50G of 15.48G hbm.";
  event.program_bytes = gib(18.5);
  event.total_bytes = gib(15.5);
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.missing_bytes, gib(3));
  EXPECT_NEAR(verdict.batch_factor.value(), 15.5 / 18.5, 1e-6);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{smaller_batch, checkpoint_activations}));
}

TEST(OomCause, PrivatePoolsThatHoldWhatIsMissing) {
  OutOfMemory event = message(gib(2), 23.64, 0.5, 22, 22.1);
  event.process_bytes = gib(23);
  event.private_pool_bytes = gib(8);
  EXPECT_EQ(explain_oom(event, {}).advice,
            (std::vector<OomAdvice>{smaller_batch, checkpoint_activations, fewer_graphs}));
  event.private_pool_bytes = gib(1);  // 1.4 have to go
  EXPECT_FALSE(advises(explain_oom(event, {}), fewer_graphs));
}

TEST(OomCause, FiguresThatCannotBeReadLowerTheConfidence) {
  OutOfMemory event;
  event.framework = "pytorch";
  event.text = "CUDA out of memory. Tried to allocate 99999999999999999999999.00 GiB (GPU 0; nan GiB total capacity";
  EXPECT_TRUE(contradicts(explain_oom(event, {}), "make no sense"));
}

TEST(OomCause, WithoutWhatWasFreeOnTheDeviceFragmentationIsLessSure) {
  OutOfMemory event = message(gib(1), 24, 0, 20, 23, "");
  event.largest_hole_bytes = gib(0.5);
  EXPECT_DOUBLE_EQ(explain_oom(event, {}).confidence, 0.9);
  event.free_bytes.reset();
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::fragmented);
  EXPECT_DOUBLE_EQ(explain_oom(event, {}).confidence, 0.75);
}

TEST(OomCause, NcclTakesItsMemoryBesideTheAllocator) {
  OutOfMemory event;
  event.framework = "nccl";
  event.text = "Cuda failure 2 'out of memory'";
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{free_cache, smaller_batch}));
}

TEST(OomCause, AHoleThatIsLargeEnoughContradicts) {
  OutOfMemory event = message(gib(1), 24, 0, 20, 23, "");
  event.largest_hole_bytes = gib(1.5);
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::unknown);
  EXPECT_TRUE(contradicts(verdict, "free piece"));
  event.largest_hole_bytes = gib(0.5);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::fragmented);
}

TEST(OomCause, ArenasOfOtherFrameworks) {
  OutOfMemory event;
  event.framework = "tensorflow";
  event.text = "Allocator (GPU_0_bfc) ran out of memory";
  event.asked_bytes = gib(1.5);
  event.allowed_bytes = gib(10);
  event.allocated_bytes = gib(9.5);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::exhausted);
  EXPECT_EQ(explain_oom(event, {}).unallocated_bytes, gib(10) - gib(9.5));
  EXPECT_FALSE(advises(explain_oom(event, {}), expandable_segments));
  event.allocated_bytes = gib(7);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::fragmented);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{smaller_batch}));
}

TEST(OomCause, VllmAtItsStart) {
  OutOfMemory event;
  event.framework = "vllm";
  event.text = "Free memory on device (10.0/24.0 GiB) on startup is less than desired GPU memory utilization";
  event.free_bytes = gib(10);
  event.total_bytes = gib(24);
  event.allowed_bytes = gib(21.6);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::held_by_others);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{stop_other_processes, lower_framework_share}));
  OutOfMemory cache;
  cache.framework = "vllm";
  cache.text = "No available memory for the cache blocks.";
  EXPECT_EQ(explain_oom(cache, {}).cause, OomCause::capped);
}

TEST(OomCause, TheCacheOfVllmIsCappedByItsShare) {
  OutOfMemory event;
  event.framework = "vllm";
  event.text = "To serve at least one request, 4.0 GiB KV cache is needed, which is larger than the available";
  event.asked_bytes = gib(4);
  event.allowed_bytes = gib(2.5);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::capped);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{raise_cap, shorter_sequences}));
}

TEST(OomCause, MpsIsCappedWithOtherAllocations) {
  OutOfMemory event;
  event.framework = "pytorch";
  event.text = "MPS backend out of memory";
  event.asked_bytes = gib(0.5);
  event.allocated_bytes = gib(6);
  event.process_bytes = gib(17.8);
  event.allowed_bytes = gib(18.1);
  const OomVerdict verdict = explain_oom(event, {});
  EXPECT_EQ(verdict.cause, OomCause::capped);
  EXPECT_EQ(verdict.advice, (std::vector<OomAdvice>{raise_cap, smaller_batch}));
  EXPECT_NEAR(static_cast<double>(verdict.missing_bytes.value()), static_cast<double>(gib(0.2)), 10);
}

TEST(OomCause, ATpuTellsItsLargestHole) {
  OutOfMemory event;
  event.framework = "jax";
  event.text = "Attempting to reserve 5.00G at the bottom of memory. That was not possible. There are 6.00G free";
  event.asked_bytes = gib(5);
  event.free_bytes = gib(6);
  event.largest_hole_bytes = gib(4);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::fragmented);
}

TEST(OomCause, AKilledProcessIsNoMatterOfTheDevice) {
  OutOfMemory event;
  event.framework = "linux";
  event.text = "Out of memory: Killed process 77 (python)";
  event.process_bytes = gib(60);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::unknown);
  EXPECT_TRUE(explain_oom(event, {}).advice.empty());
}

TEST(OomCause, WithoutFiguresTheCauseIsUnknown) {
  OutOfMemory event;
  event.framework = "cuda";
  event.text = "CUDA error: out of memory";
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::unknown);
  EXPECT_EQ(explain_oom(event, {}).confidence, 0);
  event.asked_bytes = gib(2);
  EXPECT_EQ(explain_oom(event, {}).cause, OomCause::unknown);
  EXPECT_EQ(explain_oom(event, {}).advice, (std::vector<OomAdvice>{smaller_batch}));
}

TEST(OomCause, ImpossibleFiguresAreTold) {
  EXPECT_TRUE(contradicts(explain_oom(message(gib(2), 8, 9, 1, 1), {}), "More is free"));
  EXPECT_TRUE(contradicts(explain_oom(message(gib(7), 8, 3, 5, 4), {}), "Less is reserved"));
  OutOfMemory event = message(gib(3), 8, 2, 4, 4);
  event.process_bytes = gib(5);
  event.others = {{1, gib(6)}};
  EXPECT_TRUE(contradicts(explain_oom(event, {}), "said to hold more"));
  EXPECT_TRUE(explain_oom(event, {}).others.empty());
  EXPECT_EQ(explain_oom(event, {}).others_bytes, gib(1));
  EXPECT_LE(explain_oom(event, {}).confidence, 0.5);
  EXPECT_TRUE(contradicts(explain_oom(message(0, 8, 2, 4, 5), {}), "Nothing was asked"));
}

TEST(OomEvents, AreTheEntriesOfTheLog) {
  MemoryState state;
  state.notes.resize(1);
  state.notes[0].device_free_bytes = 3 * kMiB;
  LogMaker made;
  made.segment(0x1000000).block(BlockState::free, 40 * kMiB).block(BlockState::allocated, 8 * kMiB, 8 * kMiB);
  made.alloc(0x1000000, 30 * kMiB).entry(AllocatorAction::oom, kUnknownAddress, 20 * kMiB, 0, 0);
  made.free(0x1000000, 30 * kMiB).entry(AllocatorAction::oom, kUnknownAddress, 50 * kMiB);
  const Replay replay = replay_log(made.device);
  const std::vector<OutOfMemory> events = oom_events(made.device, replay, state, 64 * kMiB);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].asked_bytes, 20 * kMiB);
  EXPECT_EQ(events[0].free_bytes, 3 * kMiB);
  EXPECT_EQ(events[0].allocated_bytes, 38 * kMiB);
  EXPECT_EQ(events[0].reserved_bytes, 48 * kMiB);
  EXPECT_EQ(events[0].largest_hole_bytes, 10 * kMiB);
  EXPECT_EQ(events[0].total_bytes, 64 * kMiB);
  EXPECT_EQ(events[0].device, 0);
  EXPECT_EQ(explain_oom(events[0], {}).held_outside_bytes, 13 * kMiB);
  EXPECT_EQ(events[1].free_bytes, std::nullopt);
  EXPECT_EQ(events[1].allocated_bytes, 8 * kMiB);
  EXPECT_EQ(events[1].largest_hole_bytes, 40 * kMiB);
  // Pinned memory of the host is none of the card's.
  made.device.index = -1;
  EXPECT_TRUE(oom_events(made.device, replay, state, std::nullopt).empty());
}

// 3 MiB need a segment of 20 MiB, so 12 MiB of the driver are no room for them.
TEST(OomEvents, TheDriverIsAskedForWholeSegments) {
  EXPECT_EQ(segment_request(600 << 10, false), 2 * kMiB);
  EXPECT_EQ(segment_request(3 * kMiB, false), 20 * kMiB);
  EXPECT_EQ(segment_request(10 * kMiB, false), 10 * kMiB);
  EXPECT_EQ(segment_request(31 * kMiB, false), 32 * kMiB);
  EXPECT_EQ(segment_request(31 * kMiB, true), 40 * kMiB);
  MemoryState state;
  state.notes.resize(1);
  state.notes[0].device_free_bytes = 12 * kMiB;
  LogMaker made;
  made.segment(0x1000000).block(BlockState::allocated, 48 * kMiB, 48 * kMiB);
  made.alloc(0x1000000, 48 * kMiB).entry(AllocatorAction::oom, kUnknownAddress, 3 * kMiB, 0, 0);
  const std::vector<OutOfMemory> events = oom_events(made.device, replay_log(made.device), state, std::nullopt);
  ASSERT_EQ(events.size(), 1u);
  const OomVerdict verdict = explain_oom(events[0], {});
  EXPECT_EQ(verdict.cause, OomCause::exhausted);
  EXPECT_EQ(verdict.missing_bytes, 8 * kMiB);
  EXPECT_EQ(verdict.must_go_bytes, 3 * kMiB) << "one hole of the request's size";
  EXPECT_TRUE(verdict.contradictions.empty());
}

TEST(OomCause, NamesAreThoseOfTheJson) {
  EXPECT_STREQ(cause_name(OomCause::exhausted), "exhausted");
  EXPECT_STREQ(cause_name(OomCause::fragmented), "fragmented");
  EXPECT_STREQ(cause_name(OomCause::held_by_others), "held_by_others");
  EXPECT_STREQ(cause_name(OomCause::capped), "capped");
  EXPECT_STREQ(cause_name(OomCause::unknown), "unknown");
}

}  // namespace
}  // namespace vramscope
