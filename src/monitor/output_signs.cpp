// Wordings: CUDA runtime (cudaGetErrorString), PyTorch (c10/cuda/CUDAException.cpp, ProcessGroupNCCL.cpp,
// torch/utils/data/_utils/signal_handling.py, torch/distributed/elastic/multiprocessing/errors,
// multiprocessing/spawn.py), glibc's strsignal().
#include "monitor/output_signs.h"

#include <array>
#include <csignal>
#include <iterator>

#include "system/fields.h"
#include "text/word_search.h"

namespace vramscope {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Every line that read_sign() takes something from holds one of them.
constexpr auto kWords = std::to_array<std::string_view>({
    "DataLoader worker (pid",
    "exitcode",
    "ProcessExitedException",  // workers
    "CUDA error",
    "CUDA driver error",
    "CUDA runtime error",
    "CUDA_ERROR_",
    "CUDA failure",
    "cudaErrorIllegal",
    "cudaErrorAssert",
    "cudaErrorLaunch",
    "cudaErrorECC",
    "HIP error",
    "_STATUS_",
    "Assertion `",  // devices
    "Watchdog caught",
    "operations have failed",
    "collective timeout",
    "closed by peer",
    "NCCL error",
    "RCCL error",
    "ncclSystem",
    "ncclRemote",
    "ncclInternal",
    "ncclUnhandled",
    "DistBackendError",  // communication
    "bad_alloc",
    "Cannot allocate",
    "[Errno 12]",
    "MemoryError",  // host memory
    "Fatal Python error",
    "Caught signal",
    "Segmentation fault",
    "Bus error",
    "Illegal instruction",
    "Aborted",
    "Floating point exception",  // crashes
});
constexpr WordSearch kSearch(kWords);

bool contains(std::string_view text, std::string_view words) {
  return text.find(words) != kNone;
}

// What stands behind `words`, blanks left out; nothing where they are not in the text.
std::optional<std::string_view> behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == kNone) return std::nullopt;
  std::string_view rest = text.substr(at + words.size());
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  return rest;
}

std::optional<int> int_behind(std::string_view text, std::string_view words) {
  const auto rest = behind(text, words);
  const auto number = rest ? parse_leading_int64(*rest) : std::nullopt;
  if (!number || *number < -100'000 || *number > (1 << 22)) return std::nullopt;
  return static_cast<int>(*number);
}

std::string_view cut(std::string_view text, std::string_view ends) {
  return text.substr(0, text.find_first_of(ends));
}

struct Wording {
  std::string_view words;
  DeviceFault fault;
};

constexpr Wording kFaults[] = {
    {"device-side assert", DeviceFault::assertion},
    {"illegal memory access", DeviceFault::illegal_access},
    {"misaligned address", DeviceFault::illegal_access},
    {"illegal instruction", DeviceFault::illegal_access},
    {"invalid address space", DeviceFault::illegal_access},
    {"an illegal address", DeviceFault::illegal_access},
    {"unspecified launch failure", DeviceFault::launch_failure},
    {"launch timed out", DeviceFault::launch_failure},
    {"uncorrectable ECC", DeviceFault::ecc},
    {"uncorrectable NVLink", DeviceFault::ecc},
    {"hardware stack error", DeviceFault::launch_failure},
    {"GPU is lost", DeviceFault::lost},
    {"GPU has fallen off", DeviceFault::lost},
    {"device is lost", DeviceFault::lost},
    {"no kernel image", DeviceFault::no_kernel},
    {"device kernel image is invalid", DeviceFault::no_kernel},
    {"all CUDA-capable devices are busy", DeviceFault::busy},
    {"busy or unavailable", DeviceFault::busy},
};

DeviceFault fault_of(std::string_view text) {
  for (const Wording& wording : kFaults) {
    if (contains(text, wording.words)) return wording.fault;
  }
  return DeviceFault::other;
}

bool is_about_memory(std::string_view text) {
  return contains(text, "out of memory") || contains(text, "ALLOC_FAILED") || contains(text, "OUT_OF_MEMORY");
}

// A status of a library: "CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(…)`"; a success is none.
std::optional<std::string_view> status_in(std::string_view line) {
  const std::size_t at = line.find("_STATUS_");
  if (at == kNone || !(contains(line, "rror") || contains(line, "ailed") || contains(line, "hen calling"))) {
    return std::nullopt;
  }
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= 'A' && line[begin - 1] <= 'Z') --begin;
  const std::string_view library = line.substr(begin, at - begin);
  for (const std::string_view known : {"CUBLAS", "CUDNN", "CUSPARSE", "CUSOLVER", "CUFFT", "MIOPEN", "ROCBLAS"}) {
    if (library == known) {
      const std::string_view status = cut(line.substr(begin), " `'\")(,;.");
      if (status.substr(status.size() - std::min<std::size_t>(status.size(), 7)) == "SUCCESS") return std::nullopt;
      return status;
    }
  }
  return std::nullopt;
}

bool read_device_error(std::string_view line, OutputSign& sign) {
  if (is_about_memory(line)) return false;
  constexpr std::string_view kHeads[] = {
      "CUDA error: ",         "CUDA Error: ",         "HIP error: ",     "CUDA driver error: ",
      "CUDA error : ",        "CUDA runtime error: ", "CUDA_ERROR_",     "CUDA failure ",
      "Cuda failure ",        "cudaErrorIllegal",     "cudaErrorAssert", "cudaErrorLaunchFailure",
      "cudaErrorECCUncorrec", "CUDA error code=",     "HIP error code="};
  std::size_t at = kNone;
  std::string_view found;
  for (const std::string_view head : kHeads) {
    const std::size_t here = line.find(head);
    if (here < at) {
      at = here;
      found = head;
    }
  }
  sign.kind = SignKind::device_error;
  if (at != kNone) {
    std::string_view detail = line.substr(at);
    if (found.back() == ' ') detail.remove_prefix(found.size());
    sign.detail = std::string(cut(detail, "\r\n").substr(0, kSignBytes));
    sign.fault = fault_of(line);
    return true;
  }
  if (const auto status = status_in(line)) {
    sign.detail = std::string(*status);
    sign.fault = DeviceFault::library;
    return true;
  }
  // A kernel that failed an assertion says so itself: "….cu:94: …: block: [0,0,0], thread: [1,0,0] Assertion `…`
  // failed."
  if (contains(line, "thread: [") && contains(line, "Assertion `")) {
    sign.detail = "Assertion " + std::string(line.substr(line.find("Assertion `") + 10, kSignBytes));
    sign.fault = DeviceFault::assertion;
    return true;
  }
  return false;
}

bool read_communication(std::string_view line, OutputSign& sign) {
  const bool is_watchdog = contains(line, "Watchdog caught collective operation timeout") ||
                           contains(line, "Some NCCL operations have failed or timed out") ||
                           contains(line, "collective timeout") || contains(line, "Connection closed by peer [");
  const bool is_error = contains(line, "NCCL error") || contains(line, "RCCL error") || contains(line, "NCCL Error ") ||
                        contains(line, "ncclSystemError") || contains(line, "ncclRemoteError") ||
                        contains(line, "ncclInternalError") || contains(line, "ncclUnhandledCudaError") ||
                        contains(line, "DistBackendError");
  if (!is_watchdog && !is_error) return false;
  sign.kind = SignKind::communication;
  sign.is_timeout = contains(line, "timeout") || contains(line, "timed out");
  for (const std::string_view head : {"[Rank ", "[rank", "Rank "}) {
    if (!sign.rank) sign.rank = int_behind(line, head);
  }
  for (const std::string_view head : {"NCCL error", "Watchdog caught", "NCCL Error"}) {
    const std::size_t at = line.find(head);
    if (at != kNone && sign.detail.empty()) sign.detail = std::string(line.substr(at, kSignBytes));
  }
  return true;
}

// torchrun: "failed (exitcode: -9) local_rank: 1 (pid: 4711) of binary: …"; in its list of failures
// "  exitcode  : -9 (pid: 4711)", below "  rank      : 1 (local_rank: 1)".
bool read_rank(std::string_view line, std::string_view before, OutputSign& sign) {
  auto code = int_behind(line, "failed (exitcode: ");
  if (!code && contains(line, "exitcode  :")) code = int_behind(line, "exitcode  :");
  const auto pid = int_behind(line, "(pid: ");
  if (!code || !pid || *pid <= 0) return false;
  sign.pid = *pid;
  if (*code < 0) {
    sign.signal = -*code;
  } else {
    sign.exit_code = *code;
  }
  sign.rank = int_behind(line, "local_rank: ");
  const std::size_t rank = before.rfind("rank      :");
  if (!sign.rank && rank != kNone) sign.rank = int_behind(before.substr(rank), ":");
  return true;
}

bool read_worker(std::string_view line, std::string_view before, OutputSign& sign) {
  sign.kind = SignKind::worker;
  if (const auto rest = behind(line, "DataLoader worker (pid")) {
    std::string_view number = *rest;  // "4711) is killed …", "(s) 4711, 4712) exited …"
    if (number.substr(0, 4) == "(s) ") number.remove_prefix(4);
    const auto pid = parse_leading_int64(number);
    if (pid && *pid > 0 && *pid <= (1 << 22)) sign.pid = static_cast<std::int32_t>(*pid);
    if (const auto signal = behind(*rest, "killed by signal: ")) sign.signal = signal_by_name(*signal);
    if (!sign.signal && !contains(*rest, "exited unexpectedly")) return false;
    return true;
  }
  if (read_rank(line, before, sign)) return true;
  // torch.multiprocessing.spawn
  if (const auto rest = behind(line, "ProcessExitedException: process ")) {
    if (const auto rank = parse_leading_int64(*rest)) sign.rank = static_cast<std::int32_t>(*rank);
    if (const auto signal = behind(*rest, "terminated with signal ")) sign.signal = signal_by_name(*signal);
    sign.exit_code = int_behind(*rest, "exit code ");
    return sign.signal || sign.exit_code;
  }
  return false;
}

bool read_no_memory(std::string_view line, OutputSign& sign) {
  const bool is_it = contains(line, "std::bad_alloc") || contains(line, "Cannot allocate memory") ||
                     contains(line, "[Errno 12]") || line.substr(0, 11) == "MemoryError";
  sign.kind = SignKind::no_memory;
  return is_it;
}

// By the shell or by Python's fault handler: alone on the line, behind its words, or in front of "(core dumped)".
bool read_crash(std::string_view line, OutputSign& sign) {
  sign.kind = SignKind::crash;
  if (const auto rest = behind(line, "Fatal Python error: ")) {
    sign.signal = signal_by_name(*rest);
    sign.detail = std::string(rest->substr(0, kSignBytes));
    return true;
  }
  if (const auto rest = behind(line, "Caught signal ")) {
    if (const auto number = parse_leading_int64(*rest); number && *number > 0 && *number < 65) {
      sign.signal = static_cast<int>(*number);
      return true;
    }
  }
  const bool is_core = contains(line, "(core dumped)");
  const std::string_view alone = line.substr(0, line.find_last_not_of(" \t.!") + 1);
  for (const std::string_view words :
       {"Segmentation fault", "Bus error", "Illegal instruction", "Aborted", "Floating point exception"}) {
    const std::size_t at = line.find(words);
    if (at == kNone || !(is_core || alone == words || contains(line.substr(0, at), ": line "))) continue;
    sign.signal = signal_by_name(words);
    return true;
  }
  return false;
}

}  // namespace

std::optional<int> signal_by_name(std::string_view words) {
  struct Name {
    std::string_view words;
    int number;
  };
  constexpr Name kNames[] = {{"Killed", SIGKILL},
                             {"SIGKILL", SIGKILL},
                             {"Segmentation", SIGSEGV},
                             {"SIGSEGV", SIGSEGV},
                             {"Bus error", SIGBUS},
                             {"SIGBUS", SIGBUS},
                             {"Aborted", SIGABRT},
                             {"SIGABRT", SIGABRT},
                             {"Terminated", SIGTERM},
                             {"SIGTERM", SIGTERM},
                             {"Illegal instruction", SIGILL},
                             {"SIGILL", SIGILL},
                             {"Floating point", SIGFPE},
                             {"SIGFPE", SIGFPE},
                             {"Interrupt", SIGINT},
                             {"SIGINT", SIGINT},
                             {"Hangup", SIGHUP},
                             {"SIGHUP", SIGHUP}};
  for (const Name& name : kNames) {
    if (words.substr(0, name.words.size()) == name.words) return name.number;
  }
  return std::nullopt;
}

bool may_hold_sign(std::string_view line) {
  return kSearch.find(line, 0) != kNone;
}

std::optional<OutputSign> read_sign(std::string_view line, std::string_view before) {
  OutputSign sign;
  if (!read_worker(line, before, sign)) {
    sign = {};
    if (!read_device_error(line, sign)) {
      sign = {};
      if (!read_communication(line, sign) && !read_no_memory(line, sign) && !read_crash(line, sign)) {
        return std::nullopt;
      }
    }
  }
  sign.text = std::string(line.substr(0, kSignBytes));
  return sign;
}

}  // namespace vramscope
