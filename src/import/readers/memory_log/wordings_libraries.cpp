// vLLM, llama.cpp (ggml), CuPy, PaddlePaddle, ONNX Runtime, Triton, TensorRT, NumPy: as their sources write them.
#include <algorithm>

#include "base/saturate.h"
#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/wordings.h"

namespace vramscope::memory_log {

namespace {

// The end of the sentence that holds `at`: the full stop before a blank, or the end of the line.
std::size_t sentence_end(const Place& place, std::size_t at) {
  const std::size_t stop = place.text.find(". ", at);
  if (stop != std::string_view::npos && stop < std::max(place.line_end, at)) return stop + 1;
  return std::max(place.line_end, std::min(at, place.text.size()));
}

}  // namespace

bool read_cupy(const Place& place, Message& message) {
  constexpr std::string_view kHead = "allocating ";
  constexpr std::size_t kBefore = 14;  // "Out of memory "
  std::string_view rest = place.rest();
  if (rest.size() <= kBefore || rest.substr(kBefore, kHead.size()) != kHead) return false;
  rest.remove_prefix(kBefore + kHead.size());
  OutOfMemory& event = message.event;
  event.asked_bytes = take_size(rest);
  constexpr std::string_view kSoFar = " (allocated so far: ";
  if (!event.asked_bytes || rest.substr(0, kSoFar.size()) != kSoFar) return false;
  const std::size_t close = std::min(rest.find(')'), rest.size() - 1);
  event.allocated_bytes = size_behind(rest.substr(0, close), kSoFar);
  event.allowed_bytes = size_behind(rest.substr(0, close), "limit set to: ");
  event.framework = "cupy";
  message.end = place.text.size() - rest.size() + close + 1;
  return true;
}

bool read_paddle(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 300);
  constexpr std::string_view kHead = "Out of memory error on GPU ";
  if (rest.substr(0, kHead.size()) != kHead) return false;
  OutOfMemory& event = message.event;
  event.asked_bytes = size_behind(rest, "Cannot allocate ");
  event.allocated_bytes = size_before(rest, " memory has been allocated");
  constexpr std::string_view kOnly = "available memory is only ";
  event.free_bytes = size_behind(rest, kOnly);
  event.device = device_in(rest);
  event.framework = "paddle";
  const std::size_t only = rest.find(kOnly);
  message.end = only == std::string_view::npos ? place.line_end : sentence_end(place, place.at + only);
  return event.asked_bytes.has_value();
}

bool read_vllm_no_cache(const Place& place, Message& message) {
  message.event.framework = "vllm";
  message.end = sentence_end(place, place.at);
  return true;
}

bool read_vllm_startup(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 300);
  constexpr std::string_view kLess = "less than desired GPU memory utilization";
  const std::size_t less = rest.find(kLess);
  const std::size_t open = rest.find('(');
  const std::size_t slash = rest.find('/');
  if (less == std::string_view::npos || open == std::string_view::npos || slash == std::string_view::npos ||
      slash < open || slash > less) {
    return false;
  }
  OutOfMemory& event = message.event;
  std::string_view total = rest.substr(slash + 1);
  event.total_bytes = take_size(total);
  // The unit stands behind both: "(6.9/8.0 GiB)".
  const std::size_t unit = rest.find(' ', slash);
  const std::size_t close = rest.find(')', slash);
  if (!event.total_bytes || unit == std::string_view::npos || close == std::string_view::npos || unit > close) {
    return false;
  }
  const std::string free_text =
      std::string(rest.substr(open + 1, slash - open - 1)) + std::string(rest.substr(unit, close - unit));
  std::string_view free = free_text;
  event.free_bytes = take_size(free);
  const std::string_view desired = rest.substr(less);
  event.allowed_bytes = size_behind(desired.substr(0, 100), ", ");
  event.device = device_in(rest.substr(0, open));
  event.framework = "vllm";
  const std::size_t desired_end = rest.find(')', less);
  if (!event.free_bytes || desired_end == std::string_view::npos) return false;
  message.end = place.at + desired_end + 1;
  return true;
}

bool read_vllm_context(const Place& place, Message& message) {
  const std::string_view rest = place.rest();
  constexpr std::string_view kStored = "stored in KV cache";
  if (!contains(rest.substr(0, 90), "larger than the maximum number of tokens")) return false;
  const std::size_t stored = rest.find(kStored);
  if (stored == std::string_view::npos) return false;
  constexpr std::string_view kModel = "The model's ";
  const std::size_t model = place.text.substr(0, place.at).rfind(kModel);
  message.begin = model == std::string_view::npos ? place.at : model;
  message.end = sentence_end(place, place.at + stored + kStored.size());
  message.event.framework = "vllm";
  message.event.asked_tokens = integer_behind(rest.substr(0, 40), "max seq len (");
  message.event.fitting_tokens = integer_behind(rest.substr(stored, 60), "KV cache (");
  return true;
}

bool read_vllm_cache_size(const Place& place, Message& message) {
  constexpr std::string_view kAvailable = "available KV cache memory (";
  const std::string_view rest = place.rest().substr(0, 200);
  const std::size_t available = rest.find(kAvailable);
  if (available == std::string_view::npos || !contains(rest, "larger than")) return false;
  OutOfMemory& event = message.event;
  event.asked_bytes = size_before(place.text.substr(0, place.at + 4), " KV ");
  event.allowed_bytes = size_behind(rest, kAvailable);
  if (!event.allowed_bytes) return false;
  constexpr std::string_view kServe = "To serve at least one request";
  const std::size_t serve = place.text.substr(0, place.at).rfind(kServe);
  message.begin = serve == std::string_view::npos ? place.at : serve;
  message.end = place.at + std::min(rest.find(')', available), rest.size() - 1) + 1;
  event.asked_tokens = integer_behind(place.text.substr(message.begin, place.at - message.begin), "max seq len (");
  constexpr std::string_view kLength = "estimated maximum model length is ";
  const std::string_view behind = place.rest().substr(0, 400);
  const std::size_t length = behind.find(kLength);
  if (length != std::string_view::npos) {
    std::string_view number = behind.substr(length + kLength.size());
    const std::size_t sentence = number.find(". ");
    if (sentence != std::string_view::npos) number = number.substr(0, sentence);
    event.fitting_tokens = take_integer(number);
    if (event.fitting_tokens) message.end = place.at + static_cast<std::size_t>(number.data() - behind.data());
  }
  event.framework = "vllm";
  return true;
}

bool read_ggml(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 200);
  OutOfMemory& event = message.event;
  event.asked_bytes = size_behind(rest, "allocating ");
  if (!event.asked_bytes) event.asked_bytes = size_behind(rest, "size = ");
  if (!event.asked_bytes) event.asked_bytes = integer_behind(rest, "allocation of size ");
  const bool has_failed = contains(rest, "fail") || contains(rest, "out of memory");
  if (!event.asked_bytes || !has_failed) return false;
  event.framework = "llama.cpp";
  event.device = device_in(rest);
  constexpr std::string_view kOut = "out of memory";
  const std::size_t out = rest.find(kOut);
  message.end = out == std::string_view::npos ? place.line_end : place.at + out + kOut.size();
  return true;
}

bool read_ggml_buffer(const Place& place, Message& message) {
  constexpr std::string_view kFailed = "failed to allocate ";
  const std::size_t failed = place.text.substr(0, place.at).rfind(kFailed);
  if (failed == std::string_view::npos || place.at - failed > 60) return false;
  OutOfMemory& event = message.event;
  constexpr std::string_view kSize = " buffer of size ";
  std::string_view rest = place.rest().substr(std::min(kSize.size(), place.rest().size()));
  event.asked_bytes = take_integer(rest);
  if (!event.asked_bytes) return false;
  event.device = device_in(place.text.substr(failed, place.at - failed));
  event.framework = "llama.cpp";
  message.begin = failed;
  message.end = place.text.size() - rest.size();
  message.tie = Tie::same_failure;
  return true;
}

bool read_onnxruntime(const Place& place, Message& message) {
  const std::string_view rest = place.rest();
  OutOfMemory& event = message.event;
  event.asked_bytes = integer_behind(rest.substr(0, 100), "size ");
  if (!event.asked_bytes) event.asked_bytes = integer_behind(rest.substr(0, 100), "requested bytes of ");
  event.framework = "onnxruntime";
  message.begin = place.text.substr(0, place.at).rfind("Available memory of ");
  if (message.begin == std::string_view::npos) message.begin = place.at;
  message.end = place.line_end;
  return event.asked_bytes.has_value();
}

bool read_triton(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 200);
  message.event.asked_bytes = integer_behind(rest, "byte size ");
  message.event.device = device_in(rest);
  message.event.framework = "triton";
  message.end = place.line_end;
  return message.event.asked_bytes.has_value();
}

bool read_tensorrt(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 300);
  const bool is_code = rest.substr(0, 13) == ": OutOfMemory";
  message.event.asked_bytes = size_behind(rest, "GPU memory (");
  if (!message.event.asked_bytes) message.event.asked_bytes = size_behind(rest, "Requested size was ");
  // "OutOfMemoryError: …" is Python's way to name an exception.
  if (is_code && (!contains(place.line(), "Error Code") || rest.substr(0, 18) == ": OutOfMemoryError")) return false;
  if (!is_code && !message.event.asked_bytes) return false;
  message.event.framework = "tensorrt";
  const std::size_t code = is_code ? place.text.substr(0, place.at).rfind("Error Code") : std::string_view::npos;
  message.begin = code == std::string_view::npos ? place.at : code;
  message.end = place.line_end;
  return true;
}

bool read_numpy(const Place& place, Message& message) {
  constexpr std::string_view kHead = "Unable to allocate ";
  std::string_view rest = place.rest().substr(kHead.size());
  message.event.asked_bytes = take_size(rest);
  constexpr std::string_view kArray = " for an array with shape";
  if (!message.event.asked_bytes || rest.substr(0, kArray.size()) != kArray) return false;
  message.event.framework = "numpy";
  message.end = place.line_end;
  return true;
}

}  // namespace vramscope::memory_log
