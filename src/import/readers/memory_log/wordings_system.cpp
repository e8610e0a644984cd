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
  const std::size_t words = is_sentence ? runtime_before(before) : 0;
  if (is_sentence && words == 0) return false;
  if (!is_sentence && is_code(before, line.substr(message.end))) return false;
  OutOfMemory& event = message.event;
  event.framework = "cuda";
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
