// From what is known of an end to its one reason.
#include "monitor/end_reason.h"

#include <gtest/gtest.h>

#include <csignal>

#include "report/end_reason.h"

namespace vramscope {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int32_t kPid = 4711;

EndFacts facts_of(std::optional<int> exit_code, std::optional<int> signal, const OutputScan* output = nullptr) {
  EndFacts facts;
  facts.end = {kPid, exit_code, signal, false};
  facts.program = "python";
  facts.names = {{kPid, "python"}};
  facts.output = output;
  facts.end_ns = 100 * kSecondNs;
  facts.end_real_ns = 1'700'000'000 * kSecondNs;
  facts.host_before.oom_kills = facts.host_after.oom_kills = 3;
  return facts;
}

OutputScan& fed(OutputScan& scan, std::string_view text, std::int64_t time_ns = 100 * kSecondNs) {
  scan.feed(1, text, time_ns);
  scan.finish();
  return scan;
}

WatchedCgroup limited_cgroup(std::int64_t kills_before, std::int64_t kills_after) {
  CgroupMemoryLevel level;
  level.folder = "/sys/fs/cgroup/job";
  level.limit_bytes = 4LL << 30;
  level.oom_kills = kills_before;
  WatchedCgroup watched;
  watched.cgroup = {2, {level.folder}};
  watched.before.levels = {level};
  level.oom_kills = kills_after;
  watched.after.levels = {level};
  return watched;
}

KernelEvent kernel_event(const char* text, const EndFacts& facts) {
  return {facts.end_real_ns - kSecondNs, *parse_kernel_message(text), text};
}

TEST(EndReason, WellAndByRequest) {
  EXPECT_EQ(explain_end(facts_of(0, {})).kind, EndKind::success);
  EndFacts asked = facts_of(1, {});
  asked.asked_to_end = SIGINT;
  EXPECT_EQ(explain_end(asked).kind, EndKind::on_request);
  EXPECT_EQ(end_severity(explain_end(asked)), Severity::info);
  // A kill that follows is another's.
  EndFacts killed = facts_of({}, SIGKILL);
  killed.asked_to_end = SIGTERM;
  EXPECT_EQ(explain_end(killed).kind, EndKind::signal);
}

TEST(EndReason, LimitOfTheCgroup) {
  EndFacts facts = facts_of({}, SIGKILL);
  facts.cgroups = {limited_cgroup(0, 1)};
  const EndReason reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::host_out_of_memory);
  EXPECT_EQ(reason.certainty, Certainty::certain);
  EXPECT_NE(why_text(reason, Wording::english).find("limit of 4.00 GiB"), std::string::npos);
  facts.cgroups = {limited_cgroup(1, 1)};
  EXPECT_EQ(explain_end(facts).kind, EndKind::signal);
  // Somebody else was killed in the same cgroup; the program has a reason of its own.
  OutputScan scan;
  EndFacts other = facts_of(1, {},
                            &fed(scan,
                                 "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
                                 "ValueError: x\n"));
  other.cgroups = {limited_cgroup(0, 1)};
  EXPECT_EQ(explain_end(other).kind, EndKind::exception);
}

TEST(EndReason, KernelsLogNamesTheProcess) {
  EndFacts facts = facts_of({}, SIGKILL);
  facts.kernel = {
      kernel_event("Out of memory: Killed process 4711 (python) total-vm:9000000kB, anon-rss:8000000kB, "
                   "file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0",
                   facts)};
  facts.is_kernel_log_readable = true;
  const EndReason reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::host_out_of_memory);
  EXPECT_EQ(reason.certainty, Certainty::certain);
  EXPECT_FALSE(reason.fixes.empty());
  facts.are_pids_the_kernels = false;  // then 4711 is somebody else
  EXPECT_EQ(explain_end(facts).kind, EndKind::signal);
}

TEST(EndReason, XidOfItsProcessOrDevice) {
  EndFacts facts = facts_of(1, {});
  facts.devices = {{2, "GPU-2", "00000000:3B:00.0", std::nullopt, std::nullopt}};
  facts.kernel = {
      kernel_event("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
                   "the bus.",
                   facts)};
  EndReason reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::driver);
  EXPECT_NE(why_text(reason, Wording::english).find("Xid 79 on GPU 2"), std::string::npos);
  facts.devices[0].pci = "00000000:AF:00.0";  // not one that it used
  EXPECT_EQ(explain_end(facts).kind, EndKind::exit_code);
  facts.kernel.clear();
  facts.devices[0].xid_before = 13;
  facts.devices[0].xid = 13;
  EXPECT_EQ(explain_end(facts).kind, EndKind::exit_code);
  facts.devices[0].xid = 48;
  reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::driver);
  EXPECT_EQ(reason.certainty, Certainty::likely);
}

TEST(EndReason, OwnWords) {
  struct Case {
    const char* text;
    EndKind kind;
  };
  const Case cases[] = {
      {"RuntimeError: CUDA error: device-side assert triggered\n", EndKind::device_error},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n",
       EndKind::gpu_out_of_memory},
      {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total "
       "capacity)\n",
       EndKind::gpu_out_of_memory},
      {"terminate called after throwing an instance of 'std::bad_alloc'\n", EndKind::host_out_of_memory},
      {"RuntimeError: DataLoader worker (pid 4712) is killed by signal: Killed. \n", EndKind::worker},
      {"RuntimeError: DataLoader worker (pid 4712) is killed by signal: Bus error. It is possible that dataloader's "
       "workers are out of shared memory.\n",
       EndKind::shared_memory},
      {"[rank1]:[E501 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation timeout: "
       "WorkNCCL(SeqNum=21) ran for 600026 milliseconds\n",
       EndKind::communication},
      {"epoch 3, loss 0.2\n", EndKind::exit_code},
  };
  for (const Case& each : cases) {
    OutputScan scan;
    const EndReason reason = explain_end(facts_of(1, {}, &fed(scan, each.text)));
    EXPECT_STREQ(end_kind_name(reason.kind), end_kind_name(each.kind)) << each.text;
    EXPECT_EQ(reason.last_lines.size(), 1u);
  }
}

TEST(EndReason, WhatWasSurvivedIsNoReason) {
  constexpr std::string_view kOom = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity)\n";
  OutputScan caught;
  caught.feed(1, kOom, 90 * kSecondNs);
  caught.feed(1,
              "retrying with half the batch\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
              "KeyError: 'labels'\n",
              100 * kSecondNs);
  caught.finish();
  EXPECT_EQ(explain_end(facts_of(1, {}, &caught)).kind, EndKind::exception);
  OutputScan old;
  fed(old, kOom, 1);  // long before the end
  EndFacts facts = facts_of(1, {}, &old);
  facts.end_ns = 600 * kSecondNs;
  EXPECT_EQ(explain_end(facts).kind, EndKind::exit_code);
}

TEST(EndReason, NothingIsClaimedOfAStranger) {
  EndFacts facts = facts_of({}, {});
  facts.is_child = false;
  EndReason reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::unknown);
  EXPECT_EQ(end_severity(reason), Severity::warning);
  EXPECT_EQ(end_sentence(reason, -1, Wording::english), "python (4711) has ended.");
  facts.host_after.oom_kills = 4;
  reason = explain_end(facts);
  EXPECT_EQ(reason.kind, EndKind::host_out_of_memory);
  EXPECT_EQ(reason.certainty, Certainty::likely);
}

TEST(EndReason, AShellTellsASignalByItsExitCode) {
  const EndReason reason = explain_end(facts_of(137, {}));
  EXPECT_EQ(reason.kind, EndKind::signal);
  EXPECT_EQ(reason.certainty, Certainty::likely);
  EXPECT_NE(why_text(reason, Wording::english).find("SIGKILL"), std::string::npos);
  EXPECT_EQ(end_sentence(reason, 61 * kSecondNs, Wording::english),
            "python ended with exit code 137 after 1 min 01 s.");
}

TEST(EndReason, TextsOfTheProgramAreHarmless) {
  OutputScan scan;
  const EndReason reason =
      explain_end(facts_of(1, {}, &fed(scan, "CUDA error: device-side assert \x07triggered\xff\n")));
  EXPECT_EQ(end_details_text(reason).find('\x07'), std::string::npos);
  EXPECT_NE(end_json(1, reason, 5).find("device-error"), std::string::npos);
}

}  // namespace
}  // namespace vramscope
