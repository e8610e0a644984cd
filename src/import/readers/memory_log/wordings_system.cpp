// The CUDA and HIP runtimes and drivers, and the kernel of Linux.
#include <algorithm>

#include "base/saturate.h"
#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/wordings.h"

namespace vramscope::memory_log {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The words before "out of memory" that make it an error of the runtime; their length, or 0.
std::size_t runtime_before(std::string_view before) {
  constexpr std::string_view kErrors[] = {
      "CUDA error: ",       "CUDA driver error: ",       "HIP error: ",         "CUDA runtime error: ",
      "CUDA Error: ",       "runtime error (2) : ",      "runtime error (2): ", "cudaMalloc failed: ",
      "hipMalloc failed: ", "cudaMalloc retry failed: ", "XPU error: "};
  for (const std::string_view error : kErrors) {
    if (ends_with(before, error)) return error.size();
  }
  return 0;
}

bool ends_folded(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && find_folded(text, end, text.size() - end.size()) != std::string_view::npos;
}

// The same, by how such errors are built: a word for what went wrong, perhaps its number 2 and a quote, and the runtime
// named somewhere before: "Cuda failure 2 'out of memory'", "THCudaCheck FAIL file=… line=58 error=2 : out of memory".
std::size_t failure_before(std::string_view before) {
  constexpr std::size_t kFarthest = 300;
  const auto strip = [](std::string_view& text, std::string_view any) {
    while (!text.empty() && contains(any, text.substr(text.size() - 1))) text.remove_suffix(1);
  };
  std::string_view words = before.substr(before.size() - std::min(before.size(), kFarthest));
  const std::size_t size = words.size();
  strip(words, " '\"`(:");
  const bool has_mark = trim(before.substr(before.size() - size + words.size())) != "";
  const bool has_number = ends_with(words, " 2") || ends_with(words, "=2") || ends_with(words, "(2)");
  if (!has_mark && !has_number) return 0;  // prose
  if (has_number) strip(words, "2 (=:)");
  bool names_error = false;
  for (const std::string_view word : {"error", "failure", "fail", "failed", "error code"}) {
    names_error = names_error || ends_folded(words, word);
  }
  if (!names_error) return 0;
  std::size_t runtime = std::string_view::npos;
  for (const std::string_view name : {"thcudacheck", "cuda", "hip"}) {
    for (std::size_t at = find_folded(words, name); at != std::string_view::npos && runtime == std::string_view::npos;
         at = find_folded(words, name, at + 1)) {
      if (at == 0 || !is_letter(words[at - 1])) runtime = at;
    }
  }
  return runtime == std::string_view::npos ? 0 : size - runtime;
}

// The libraries name each of their failures by a code: "CUBLAS_STATUS_ALLOC_FAILED".
bool is_status(std::string_view text) {
  return contains(text.substr(0, 30), "_STATUS_ALLOC_FAILED");
}

// A program that handles the error names it in comparisons, lists and switches.
bool is_code(std::string_view before, std::string_view behind) {
  return ends_with(before, "== ") || ends_with(before, "!= ") || ends_with(before, "case ") ||
         behind.substr(0, 2) == " =" || behind.substr(0, 2) == "==";
}

}  // namespace

bool read_cuda(const Place& place, Message& message) {
  const std::string_view line = place.line();
  const std::string_view before = line.substr(0, place.at);
  if (message.end > place.line_end) return false;
  const bool is_sentence = find_folded(line, "out of memory", place.at) == place.at;
  std::size_t words = is_sentence ? runtime_before(before) : 0;
  if (is_sentence && words == 0) words = failure_before(before);
  if (is_sentence && words == 0) return false;
  if (!is_sentence && is_code(before, line.substr(message.end))) return false;
  OutOfMemory& event = message.event;
  // NCCL takes its buffers itself, beside the program's allocator.
  const bool is_nccl = contains(before, "NCCL") || contains(before, "Cuda failure ");
  event.framework = is_nccl ? "nccl" : "cuda";
  message.begin = place.at - words;
  message.end = place.line_end;
  constexpr std::string_view kAllocate = "allocate ";
  const std::size_t allocate = before.rfind(kAllocate);
  if (allocate != std::string_view::npos) {
    const std::string_view size = before.substr(allocate);
    const std::optional<std::int64_t> exact = size_behind(size, "(");
    event.asked_bytes = exact ? exact : size_behind(size, kAllocate);
  }
  if (event.asked_bytes) {
    const std::size_t failed = find_folded(before, "failed to allocate ");
    message.begin = failed == std::string_view::npos ? allocate : failed;
    // TensorFlow asks for a tenth less until the driver gives it.
    if (contains(before, "from device")) message.tie = Tie::smaller_retry;
  }
  event.device = device_in(line.substr(message.begin));
  if (!event.asked_bytes && !is_status(line.substr(place.at))) message.tie = Tie::retold;
  return true;
}

bool read_linux(const Place& place, Message& message) {
  const std::string_view line = place.line();
  const std::string_view rest = line.substr(std::min(place.at, line.size()));
  const bool is_sentence = find_folded(rest, "out of memory") == 0;
  if (is_sentence && !contains(rest.substr(0, 40), "Killed process") && !contains(rest.substr(0, 40), "Kill process")) {
    return false;
  }
  const bool is_process = rest.substr(0, 15) == "Killed process ";
  if (is_process && !contains(rest, "total-vm") && find_folded(line, "out of memory") == std::string_view::npos) {
    return false;
  }
  OutOfMemory& event = message.event;
  event.framework = "linux";
  for (const std::string_view part :
       {std::string_view("anon-rss:"), std::string_view("file-rss:"), std::string_view("shmem-rss:")}) {
    if (const std::optional<std::int64_t> bytes = size_behind(rest, part)) {
      event.process_bytes = saturating_add(event.process_bytes.value_or(0), *bytes);
    }
  }
  message.end = place.line_end;
  message.tie = Tie::same_kill;
  return true;
}

// Ray watches the node: "Memory on the node (…) where the task (…) was running was 62.10GB / 64.00GB (0.97), which …".
bool read_ray(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 700);
  OutOfMemory& event = message.event;
  event.framework = "ray";
  message.end = place.line_end;
  constexpr std::string_view kWas = " was running was ";
  const std::size_t was = rest.find(kWas);
  if (was == std::string_view::npos || !contains(rest.substr(0, was), "Memory on the node")) return true;
  std::string_view figures = rest.substr(was + kWas.size());
  const std::optional<std::int64_t> used = take_size(figures);
  const std::optional<std::int64_t> total = size_behind(figures.substr(0, 30), " / ");
  if (!used || !total || *used > *total) return true;
  event.total_bytes = total;
  event.free_bytes = *total - *used;
  const std::size_t close = rest.find(')', was);
  if (close != std::string_view::npos) message.end = std::max(message.end, place.at + close + 1);
  return true;
}

// "Killed" alone on a line, or "run.sh: line 3: 4711 Killed  python …".
bool read_shell(const Place& place, Message& message) {
  const std::string_view line = trim(place.line());
  bool is_shell = line == "Killed";
  constexpr std::string_view kLine = ": line ";
  const std::size_t number_at = line.find(kLine);
  if (number_at != std::string_view::npos && number_at < place.at) {
    std::string_view rest = line.substr(number_at + kLine.size());
    const bool has_number = take_integer(rest).has_value();
    rest = rest.substr(std::min<std::size_t>(1, rest.size()));
    is_shell = has_number && take_integer(rest).has_value() && trim(rest).substr(0, 6) == "Killed";
  }
  if (!is_shell) return false;
  message.event.framework = "linux";
  message.begin = 0;
  message.end = place.line_end;
  message.tie = Tie::same_kill;
  return true;
}

}  // namespace vramscope::memory_log
