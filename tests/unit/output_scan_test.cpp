// What a program's output tells about its end, as it passes.
#include "monitor/output_scan.h"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <random>

namespace vramscope {
namespace {

constexpr std::string_view kTorchOom =
    "Traceback (most recent call last):\n"
    "  File \"/home/me/train.py\", line 42, in <module>\n"
    "    loss = step(batch)\n"
    "           ^^^^^^^^^^^\n"
    "  File \"/home/me/train.py\", line 17, in step\n"
    "    return model(batch)\n"
    "  File \"/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py\", line 2252, in linear\n"
    "    return torch._C._nn.linear(input, weight, bias)\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB "
    "of "
    "which 1.50 GiB is free. Process 4711 has 77.50 GiB memory in use. Of the allocated memory 70.00 GiB is allocated "
    "by PyTorch, and 5.00 GiB is reserved by PyTorch but unallocated.\n";

struct Scanned {
  std::vector<OutputSign> signs;
  std::vector<OutputOom> ooms;
  std::vector<std::string> last;
  std::int64_t lines = 0;
};

Scanned scanned_in_pieces(std::string_view text, const std::function<std::size_t()>& piece) {
  OutputScan scan;
  while (!text.empty()) {
    const std::size_t size = std::min(std::max<std::size_t>(piece(), 1), text.size());
    scan.feed(1, text.substr(0, size), 7);
    text.remove_prefix(size);
  }
  scan.finish();
  return {{scan.signs().begin(), scan.signs().end()}, scan.out_of_memory(), scan.last_lines(), scan.line_count(1)};
}

Scanned scanned(std::string_view text) {
  return scanned_in_pieces(text, [&] { return text.size(); });
}

const OutputSign& only(const Scanned& result, SignKind kind) {
  static const OutputSign kNothing;
  const OutputSign* found = nullptr;
  for (const OutputSign& sign : result.signs) {
    if (sign.kind != kind) continue;
    EXPECT_EQ(found, nullptr) << sign.text;
    found = &sign;
  }
  EXPECT_NE(found, nullptr);
  return found != nullptr ? *found : kNothing;
}

TEST(OutputScan, OutOfMemoryOfPytorchWithItsPlace) {
  const Scanned result = scanned(std::string("epoch 1\nepoch 2\n") + std::string(kTorchOom));
  ASSERT_EQ(result.ooms.size(), 1u);
  const OutputOom& oom = result.ooms[0];
  EXPECT_EQ(oom.event.framework, "pytorch");
  EXPECT_EQ(oom.event.device, 0);
  EXPECT_EQ(oom.event.asked_bytes, 2LL << 30);
  EXPECT_EQ(oom.event.line, 11);
  EXPECT_EQ(oom.last_line, 11);
  EXPECT_EQ(oom.time_ns, 7);
  const OutputSign& exception = only(result, SignKind::exception);
  EXPECT_EQ(exception.type, "torch.OutOfMemoryError");
  EXPECT_EQ(exception.frame, "/home/me/train.py:17 in step");  // not the library's own
  EXPECT_EQ(exception.first_line, 3);
  EXPECT_EQ(exception.line, 11);
}

TEST(OutputScan, PiecesOfAnySizeGiveTheSame) {
  std::string text = "step 1 loss 0.5\r";
  for (int i = 0; i < 300; ++i) text += "\rstep " + std::to_string(i) + " error rate 0.1 memory 3 GiB";
  text += "\n" + std::string(kTorchOom) +
          "\n\033[31mRuntimeError\033[0m: CUDA error: device-side assert triggered\n"
          "  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4711)\nno end of line: std::bad_alloc";
  const Scanned whole = scanned(text);
  ASSERT_EQ(whole.signs.size(), 4u);
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::size_t most = round < 2 ? 1 : 1 + random() % 400;
    const Scanned pieces = scanned_in_pieces(text, [&] { return most == 1 ? 1 : 1 + random() % most; });
    ASSERT_EQ(pieces.signs.size(), whole.signs.size());
    for (std::size_t i = 0; i < whole.signs.size(); ++i) {
      EXPECT_EQ(pieces.signs[i].text, whole.signs[i].text);
      EXPECT_EQ(pieces.signs[i].line, whole.signs[i].line);
      EXPECT_EQ(pieces.signs[i].rank, whole.signs[i].rank);
      EXPECT_EQ(pieces.signs[i].frame, whole.signs[i].frame);
    }
    ASSERT_EQ(pieces.ooms.size(), whole.ooms.size());
    EXPECT_EQ(pieces.ooms[0].event.text, whole.ooms[0].event.text);
    EXPECT_EQ(pieces.ooms[0].event.line, whole.ooms[0].event.line);
    EXPECT_EQ(pieces.last, whole.last);
    EXPECT_EQ(pieces.lines, whole.lines);
  }
  EXPECT_EQ(whole.last.size(), 15u);
  EXPECT_EQ(whole.last.front(), "step 299 error rate 0.1 memory 3 GiB");  // what the bar showed last
  EXPECT_EQ(whole.last.back(), "no end of line: std::bad_alloc");
  EXPECT_EQ(whole.signs[2].rank, 3);
  EXPECT_EQ(whole.signs[2].signal, SIGKILL);
}

TEST(OutputScan, ErrorsOfTheDevice) {
  struct Case {
    const char* line;
    DeviceFault fault;
    const char* detail;
  };
  const Case cases[] = {
      {"RuntimeError: CUDA error: an illegal memory access was encountered", DeviceFault::illegal_access,
       "an illegal memory access was encountered"},
      {"CUDA error: device-side assert triggered", DeviceFault::assertion, "device-side assert triggered"},
      {"CUDA error: unspecified launch failure", DeviceFault::launch_failure, "unspecified launch failure"},
      {"HIP error: invalid device function", DeviceFault::other, "invalid device function"},
      {"CUDA error: uncorrectable ECC error encountered", DeviceFault::ecc, "uncorrectable ECC error encountered"},
      {"CUDA error: no kernel image is available for execution on the device", DeviceFault::no_kernel,
       "no kernel image is available for execution on the device"},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle)`",
       DeviceFault::other, "CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle)`"},
      {"RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", DeviceFault::library, "CUDNN_STATUS_NOT_INITIALIZED"},
      {"../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0` failed.",
       DeviceFault::assertion, "Assertion `t >= 0` failed."},
  };
  for (const Case& each : cases) {
    const Scanned result = scanned(std::string(each.line) + "\n");
    const OutputSign& sign = only(result, SignKind::device_error);
    EXPECT_EQ(sign.fault, each.fault) << each.line;
    EXPECT_EQ(sign.detail, each.detail);
    EXPECT_EQ(sign.line, 1);
  }
}

TEST(OutputScan, TheSourceThatATracebackQuotesIsNoMessage) {
  const Scanned result = scanned(
      "Traceback (most recent call last):\n"
      "  File \"/home/me/train.py\", line 1, in <module>\n"
      "    raise RuntimeError(\"CUDA error: an illegal memory access was encountered\\nmore words\")\n"
      "RuntimeError: CUDA error: an illegal memory access was encountered\n"
      "more words\n");
  const OutputSign& sign = only(result, SignKind::device_error);
  EXPECT_EQ(sign.line, 4);
  EXPECT_EQ(sign.text, "RuntimeError: CUDA error: an illegal memory access was encountered");
}

TEST(OutputScan, WantOfMemoryIsNoErrorOfTheDevice) {
  for (const char* line :
       {"RuntimeError: CUDA error: out of memory",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"}) {
    const Scanned result = scanned(std::string(line) + "\n");
    EXPECT_TRUE(result.signs.empty()) << line;
    EXPECT_EQ(result.ooms.size(), 1u) << line;
  }
}

TEST(OutputScan, WorkersAndRanks) {
  const OutputSign loader =
      only(scanned("RuntimeError: DataLoader worker (pid 4712) is killed by signal: Killed. \n"), SignKind::worker);
  EXPECT_EQ(loader.pid, 4712);
  EXPECT_EQ(loader.signal, SIGKILL);
  const OutputSign bus = only(
      scanned(
          "ERROR: Unexpected bus error encountered in worker. \nRuntimeError: DataLoader worker (pid 7) is killed by "
          "signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n"),
      SignKind::worker);
  EXPECT_EQ(bus.signal, SIGBUS);
  const OutputSign left =
      only(scanned("RuntimeError: DataLoader worker (pid(s) 11, 12) exited unexpectedly\n"), SignKind::worker);
  EXPECT_EQ(left.pid, 11);
  EXPECT_FALSE(left.signal);
  const OutputSign rank = only(scanned("E0501 12:00:00 api.py:869] failed (exitcode: -9) local_rank: 1 (pid: 4713) of "
                                       "binary: /usr/bin/python3\n"),
                               SignKind::worker);
  EXPECT_EQ(rank.pid, 4713);
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.signal, SIGKILL);
  const OutputSign spawned =
      only(scanned("torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGSEGV\n"),
           SignKind::worker);
  EXPECT_EQ(spawned.rank, 2);
  EXPECT_EQ(spawned.signal, SIGSEGV);
}

TEST(OutputScan, Communication) {
  const OutputSign sign =
      only(scanned("[rank1]:[E501 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation timeout: "
                   "WorkNCCL(SeqNum=21, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600026 milliseconds\n"),
           SignKind::communication);
  EXPECT_TRUE(sign.is_timeout);
  EXPECT_EQ(sign.rank, 1);
  EXPECT_EQ(sign.detail.substr(0, 15), "Watchdog caught");
}

TEST(OutputScan, ChainsOfTracebacks) {
  const Scanned result =
      scanned(std::string(kTorchOom) +
              "\nDuring handling of the above exception, another exception occurred:\n\n"
              "Traceback (most recent call last):\n  File \"a.py\", line 3, in main\nValueError: no batch left\n");
  ASSERT_EQ(result.signs.size(), 2u);
  EXPECT_EQ(result.signs[1].type, "ValueError");
  EXPECT_EQ(result.signs[1].detail, "no batch left");
  EXPECT_EQ(result.signs[1].first_line, 1);  // it began with the first
  const Scanned apart = scanned(std::string(kTorchOom) +
                                "retrying\nTraceback (most recent call last):\n"
                                "  File \"a.py\", line 3, in main\nValueError: x\n");
  ASSERT_EQ(apart.signs.size(), 2u);
  EXPECT_EQ(apart.signs[1].first_line, 11);
}

TEST(OutputScan, RanksThatWriteBetweenEachOther) {
  const Scanned result = scanned(
      "[rank0]: Traceback (most recent call last):\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank0]:   File \"a.py\", line 1, in f\n"
      "something else\n"
      "[rank1]:   File \"b.py\", line 2, in g\n"
      "[rank1]: ValueError: of one\n"
      "[rank0]: KeyError: 'of zero'\n");
  ASSERT_EQ(result.signs.size(), 2u);
  EXPECT_EQ(result.signs[0].type, "ValueError");
  EXPECT_EQ(result.signs[0].frame, "b.py:2 in g");
  EXPECT_EQ(result.signs[0].rank, 1);
  EXPECT_EQ(result.signs[1].type, "KeyError");
  EXPECT_EQ(result.signs[1].rank, 0);
}

TEST(OutputScan, CrashesAndHostMemory) {
  EXPECT_EQ(only(scanned("Segmentation fault (core dumped)\n"), SignKind::crash).signal, SIGSEGV);
  EXPECT_EQ(only(scanned("Fatal Python error: Segmentation fault\n"), SignKind::crash).signal, SIGSEGV);
  EXPECT_EQ(only(scanned("run.sh: line 3:  4711 Aborted                 python a.py\n"), SignKind::crash).signal,
            SIGABRT);
  EXPECT_EQ(
      only(scanned("terminate called after throwing an instance of 'std::bad_alloc'\n"), SignKind::no_memory).line, 1);
  EXPECT_EQ(only(scanned("OSError: [Errno 12] Cannot allocate memory\n"), SignKind::no_memory).line, 1);
  EXPECT_EQ(scanned("run.sh: line 3:  4711 Killed                  python a.py\n").ooms.size(), 1u);
}

TEST(OutputScan, OrdinaryOutputSaysNothing) {
  const Scanned result = scanned(
      "validation error 0.25, memory 12.5 GiB\n"
      "killed 3 mosquitoes\nAborted the optional check; going on\n"
      "signal to noise 3 dB, default segmentation network\n"
      "no exceptions; checked CUBLAS_STATUS_SUCCESS error-free\n"
      "if \"CUDA out of memory\" in str(error): retry()\n");
  EXPECT_TRUE(result.signs.empty()) << result.signs[0].text;
  EXPECT_TRUE(result.ooms.empty());
}

TEST(OutputScan, StaysWithinItsBounds) {
  OutputScan scan;
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(i);
    scan.feed(1, "CUDA out of memory. Tried to allocate " + number + ".00 MiB (GPU 0; 8.00 GiB total capacity)\n", i);
    scan.feed(2, "CUDA error: strange failure " + number + "\n", i);
  }
  scan.feed(1, std::string(4 << 20, 'x'), 1);  // a line that does not end
  scan.feed(1, std::string(4 << 20, '\0') + "\n", 1);
  scan.finish();
  EXPECT_EQ(scan.signs().size(), OutputScan::kMostSigns);
  EXPECT_EQ(scan.signs().back().detail, "strange failure 19999");
  ASSERT_FALSE(scan.out_of_memory().empty());
  EXPECT_LE(scan.out_of_memory().size(), OutputScan::kMostOoms);
  EXPECT_EQ(scan.out_of_memory().back().event.asked_bytes, 19999LL << 20);
  EXPECT_EQ(scan.out_of_memory().back().last_line, 20'000);
  EXPECT_EQ(scan.line_count(1), 20'001);
}

TEST(OutputScan, TheSourceLineOfATracebackIsNoMessage) {
  const Scanned result = scanned(
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
      "    raise RuntimeError(\"CUDA out of memory. Tried to allocate 2.00 GiB\")\n"
      "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  ASSERT_EQ(result.ooms.size(), 1u);
  EXPECT_EQ(result.ooms[0].event.count, 1);
}

TEST(OutputScan, RepeatedMessagesAreOneWithItsLastTime) {
  OutputScan scan;
  for (int i = 1; i <= 3; ++i) scan.feed(1, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", i);
  scan.finish();
  ASSERT_EQ(scan.out_of_memory().size(), 1u);
  EXPECT_EQ(scan.out_of_memory()[0].event.count, 3);
  EXPECT_EQ(scan.out_of_memory()[0].last_line, 3);
}

}  // namespace
}  // namespace vramscope
