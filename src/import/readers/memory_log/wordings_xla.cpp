// TensorFlow and JAX. Source: tensorflow/core (later xla/tsl) framework/bfc_allocator.cc, core/kernels and
// xla/stream_executor; for TPUs messages in issue trackers.
#include <algorithm>

#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/wordings.h"

namespace vramscope::memory_log {

namespace {

std::optional<std::int64_t> bytes_of_type(std::string_view type) {
  struct Type {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr Type kTypes[] = {{"float", 4},   {"float32", 4},   {"double", 8},     {"float64", 8}, {"half", 2},
                             {"float16", 2}, {"bfloat16", 2},  {"int64", 8},      {"uint64", 8},  {"int32", 4},
                             {"uint32", 4},  {"int16", 2},     {"uint16", 2},     {"int8", 1},    {"uint8", 1},
                             {"bool", 1},    {"complex64", 8}, {"complex128", 16}};
  for (const Type& each : kTypes) {
    if (each.name == type) return each.bytes;
  }
  return std::nullopt;
}

// Of "shape[32,1024] and type float".
std::optional<std::int64_t> tensor_bytes(std::string_view text) {
  constexpr std::string_view kType = "and type ";
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const std::size_t type_at = text.find(kType, close);
  if (type_at == std::string_view::npos || type_at > close + 2) return std::nullopt;
  std::string_view type = text.substr(type_at + kType.size());
  type = type.substr(0, type.find(' '));
  std::optional<std::int64_t> bytes = bytes_of_type(type);
  std::string_view sizes = text.substr(open + 1, close - open - 1);
  while (bytes && !sizes.empty()) {
    const std::size_t comma = std::min(sizes.find(','), sizes.size());
    std::string_view size = sizes.substr(0, comma);
    const std::optional<std::int64_t> count = take_integer(size);
    std::int64_t product = 0;
    if (!count || __builtin_mul_overflow(*bytes, *count, &product)) return std::nullopt;
    bytes = product;
    sizes.remove_prefix(std::min(comma + 1, sizes.size()));
  }
  return bytes;
}

bool is_of_jax(std::string_view line) {
  return contains(line, "xla/") || contains(line, "jax");
}

}  // namespace

bool read_bfc_allocator(const Place& place, Message& message) {
  const std::string_view line = place.line();
  const std::string_view rest = line.substr(place.at);
  // A try that has another way out: told as a hint for speed.
  if (contains(rest, "this is not a failure")) return false;
  OutOfMemory& event = message.event;
  event.asked_bytes = integer_behind(rest, "(rounded to ");
  if (!event.asked_bytes) event.asked_bytes = size_behind(rest, "trying to allocate ");
  if (!event.asked_bytes) return false;
  const std::size_t allocator = line.substr(0, place.at).rfind("Allocator");
  message.begin = allocator == std::string_view::npos ? place.at : allocator;
  message.end = place.line_end;
  event.device = device_in(line.substr(message.begin));
  event.framework = is_of_jax(line) ? "jax" : "tensorflow";
  return true;
}

bool read_tensorflow(const Place& place, Message& message) {
  const std::string_view rest = place.rest();
  constexpr std::string_view kShape = "shape";
  const std::size_t shape = rest.find(kShape);
  if (shape == std::string_view::npos || rest.substr(shape + kShape.size(), 1) != "[") return false;
  const std::size_t close = rest.find(']');
  if (close == std::string_view::npos) return false;
  OutOfMemory& event = message.event;
  event.framework = "tensorflow";
  event.asked_bytes = tensor_bytes(rest);
  constexpr std::string_view kBy = " by allocator ";
  std::size_t end = close + 1;
  if (const std::size_t by = rest.find(kBy); by != std::string_view::npos && by < close + 200) {
    end = std::min(rest.find(' ', by + kBy.size()), rest.size());
    event.device = device_in(rest.substr(close, end - close));
  }
  message.end = place.at + end;
  message.tie = Tie::same_failure;
  return true;
}

bool read_xla(const Place& place, Message& message) {
  const std::string_view rest = place.rest();
  for (const std::string_view head : {std::string_view("while trying to allocate "), std::string_view("allocating ")}) {
    constexpr std::size_t kBefore = 14;  // "Out of memory "
    if (rest.substr(std::min(kBefore, rest.size()), head.size()) != head) continue;
    std::string_view size = rest.substr(kBefore + head.size());
    message.event.asked_bytes = take_size(size);
    if (!message.event.asked_bytes || contains(size.substr(0, 30), "allocated so far")) return false;
    message.event.framework = "jax";
    message.end = place.text.size() - size.size();
    message.tie = Tie::same_failure;
    return true;
  }
  return false;
}

bool read_xla_request(const Place& place, Message& message) {
  const std::string_view rest = place.rest();
  OutOfMemory& event = message.event;
  const std::string_view head = rest.substr(0, 120);
  const std::optional<std::int64_t> exact = size_behind(head, "(");
  event.asked_bytes = exact ? exact : size_behind(head, "request for ");
  if (!event.asked_bytes) return false;
  event.framework = "jax";
  if (integer_behind(head, "device ordinal ")) event.device = device_in(head);
  constexpr std::string_view kOrdinal = "device ordinal ";
  std::size_t end = head.find(kOrdinal);
  end = end == std::string_view::npos ? head.find_first_of(")\"") : end + kOrdinal.size();
  while (end < head.size() && is_digit(head[end])) ++end;
  message.end = place.at + std::min(end, head.size());
  message.tie = Tie::same_failure;
  return true;
}

bool read_tpu(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 300);
  constexpr std::string_view kNot = "That was not possible. There are ";
  const std::size_t not_possible = rest.find(kNot);
  if (not_possible == std::string_view::npos) return false;
  OutOfMemory& event = message.event;
  event.asked_bytes = size_behind(rest, "allocate ");
  if (!event.asked_bytes) event.asked_bytes = size_behind(rest, "reserve ");
  std::string_view free = rest.substr(not_possible + kNot.size());
  event.free_bytes = take_size(free);
  if (!event.asked_bytes || !event.free_bytes) return false;
  event.largest_hole_bytes = size_behind(rest, "largest contiguous region of free memory is ");
  event.framework = "jax";
  message.end = place.at + std::min(rest.find("free", not_possible + kNot.size()), rest.size() - 4) + 4;
  return true;
}

bool read_tpu_compiler(const Place& place, Message& message) {
  const std::string_view rest = place.rest().substr(0, 300);
  if (!contains(rest.substr(0, 40), "in memory space")) return false;
  constexpr std::string_view kUsed = "Used ";
  const std::size_t used_at = rest.find(kUsed);
  if (used_at == std::string_view::npos) return false;
  std::string_view used = rest.substr(used_at + kUsed.size());
  OutOfMemory& event = message.event;
  event.program_bytes = take_size(used);
  event.total_bytes = size_behind(used.substr(0, 20), " of ");
  if (!event.program_bytes || !event.total_bytes) return false;
  event.framework = "jax";
  message.end = place.at + std::min(rest.find(". ", used_at), rest.size());
  return true;
}

}  // namespace vramscope::memory_log
