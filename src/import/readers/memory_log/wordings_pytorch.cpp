// PyTorch 1.0 to 2.9. Source: c10/cuda/CUDACachingAllocator.cpp, c10/xpu/XPUCachingAllocator.cpp,
// aten/src/ATen/mps/MPSAllocator.mm, c10/core/impl/alloc_cpu.cpp and their forerunners.
#include <algorithm>

#include "base/saturate.h"
#include "import/readers/memory_log/fields.h"
#include "import/readers/memory_log/wordings.h"

namespace vramscope::memory_log {

namespace {

using Bytes = std::optional<std::int64_t>;

Bytes first_of(Bytes a, Bytes b) {
  return a ? a : b;
}

Bytes sum(Bytes a, Bytes b) {
  if (!a || !b) return std::nullopt;
  return saturating_add(*a, *b);
}

// The word before "out of memory", which says whose memory; its length with the blank, or 0.
std::size_t backend_before(std::string_view before) {
  constexpr std::string_view kBackends[] = {"CUDA ", "HIP ", "XPU ", "NPU ", "MUSA ", "MLU ", "PrivateUse1 "};
  for (const std::string_view backend : kBackends) {
    if (before.size() >= backend.size() && before.substr(before.size() - backend.size()) == backend) {
      return backend.size();
    }
  }
  return 0;
}

// "XPU " gives "xpu". ROCm's devices are named as CUDA's are.
std::string device_type_of(std::string_view backend) {
  backend.remove_suffix(1);
  if (backend == "HIP" || backend == "PrivateUse1") return "cuda";
  std::string type(backend);
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return type;
}

// Of the hint behind the figures: "try setting PYTORCH_HIP_ALLOC_CONF=expandable_segments:True".
std::string variable_in(std::string_view hint) {
  constexpr std::string_view kEnd = "_ALLOC_CONF";
  const std::size_t at = hint.find(kEnd);
  if (at == std::string_view::npos) return {};
  std::size_t begin = at;
  while (begin > 0 && (is_letter(hint[begin - 1]) || hint[begin - 1] == '_')) --begin;
  const std::string_view name = hint.substr(begin, at - begin + kEnd.size());
  return name.substr(0, 8) == "PYTORCH_" && name.size() <= 40 ? std::string(name) : std::string();
}

// Programs that look for the message name it, too: `if "CUDA out of memory" in str(error)`.
bool is_quoted_in_code(const Place& place, std::size_t begin, std::size_t end) {
  if (begin == 0 || end >= place.text.size()) return false;
  const char quote = place.text[begin - 1];
  if ((quote != '"' && quote != '\'') || place.text[end] != quote) return false;
  const std::string_view behind = place.text.substr(end + 1, 5);
  return behind.substr(0, 4) == " in " || behind.substr(0, 1) == ")" || behind.substr(0, 1) == ",";
}

void add_others(std::string_view body, OutOfMemory& event) {
  constexpr std::string_view kWord = "Process ";
  constexpr std::size_t kMostProcesses = 1000;
  for (std::size_t at = body.find(kWord); at != std::string_view::npos; at = body.find(kWord, at + 1)) {
    std::string_view rest = body.substr(at + kWord.size());
    const Bytes pid = take_integer(rest);
    constexpr std::string_view kHas = " has ";
    if (!pid || rest.substr(0, kHas.size()) != kHas) continue;
    rest.remove_prefix(kHas.size());
    const Bytes bytes = take_size(rest);
    if (!bytes || !contains(rest.substr(0, 20), "memory in use")) continue;
    if (event.others.size() < kMostProcesses) event.others.push_back({*pid, *bytes});
  }
}

// The end of the last part of the sentence that is there.
std::size_t last_part(std::string_view body) {
  constexpr std::string_view kParts[] = {"Tried to allocate ",
                                         " is free.",
                                         " memory in use.",
                                         " allowed;",
                                         " total capacity.",
                                         " is allocated by PyTorch",
                                         "allocated in private pools",
                                         " is reserved by PyTorch but unallocated.",
                                         " is reserved by PyTorch but unallocated",
                                         " already allocated",
                                         " reserved in total by PyTorch)",
                                         " cached)"};
  std::size_t end = 0;
  for (const std::string_view part : kParts) {
    const std::size_t at = body.rfind(part);
    if (at != std::string_view::npos) end = std::max(end, at + part.size());
  }
  return end;
}

void read_figures(std::string_view body, OutOfMemory& event) {
  if (const Bytes device = integer_behind(body, "GPU ")) event.device = device_in(body);
  event.total_bytes = first_of(size_before(body, " total capacity"), first_of(size_behind(body, "total capacity of "),
                                                                              size_behind(body, "total capacty of ")));
  event.free_bytes = first_of(size_before(body, " is free"), size_before(body, " free;"));
  event.allocated_bytes =
      first_of(size_before(body, " is allocated by PyTorch"), size_before(body, " already allocated"));
  event.reserved_bytes = size_before(body, " reserved in total by PyTorch");
  // Both tell what is reserved and not allocated.
  if (!event.reserved_bytes) {
    event.reserved_bytes = sum(event.allocated_bytes, first_of(size_before(body, " is reserved by PyTorch but"),
                                                               size_before(body, " cached)")));
  }
  event.process_bytes = size_behind(body, "this process has ");
  event.allowed_bytes = size_before(body, " allowed;");
  event.private_pool_bytes = size_before(body, " allocated in private pools");
  event.settings_variable = variable_in(body);
  add_others(body, event);
}

}  // namespace

bool read_pytorch(const Place& place, Message& message) {
  constexpr std::string_view kHead = "out of memory";
  constexpr std::string_view kTried = ". Tried to allocate ";
  const std::size_t backend = backend_before(place.text.substr(0, place.at));
  if (backend == 0) return false;
  message.begin = place.at - backend;
  message.event.framework = "pytorch";
  message.event.device_type = device_type_of(place.text.substr(message.begin, backend));
  std::string_view behind = place.rest().substr(kHead.size());
  if (behind.substr(0, kTried.size()) != kTried) {
    return !is_quoted_in_code(place, message.begin, message.end);
  }
  // The next message's figures are not this one's.
  const std::size_t next = behind.find(kHead, 1);
  std::string_view body = behind.substr(0, next);
  std::string_view size = body.substr(kTried.size());
  message.event.asked_bytes = take_size(size);
  if (!message.event.asked_bytes && (size.empty() || !is_digit(size.front()))) return false;  // a program's text
  read_figures(body, message.event);
  const std::size_t size_end = static_cast<std::size_t>(size.data() - body.data());
  message.end = place.at + kHead.size() + std::max(size_end, last_part(body));
  return true;
}

// "Allocation on device 0 would exceed allowed memory. (out of memory)", then a figure a line. Where there is no limit
// of the program's it is 2^64 bytes, which is read as none.
bool read_pytorch_async(const Place& place, Message& message) {
  constexpr std::string_view kHead = "Allocation on device";
  constexpr std::string_view kExceed = "would exceed allowed memory";
  constexpr std::string_view kError = "OutOfMemoryError: ";
  const std::string_view body = place.rest().substr(0, 600);
  const std::size_t exceed = body.substr(0, 60).find(kExceed);
  const std::string_view before = place.text.substr(0, place.at);
  const bool is_error = before.size() >= kError.size() && before.substr(before.size() - kError.size()) == kError;
  if (exceed == std::string_view::npos && !is_error) return false;
  OutOfMemory& event = message.event;
  event.framework = "pytorch";
  message.end = place.at + kHead.size();
  if (exceed == std::string_view::npos) return true;
  std::string_view number = body.substr(kHead.size());
  if (integer_behind(number.substr(0, 8), " ")) event.device = device_in(body);
  constexpr std::string_view kCause = ". (out of memory)";
  std::size_t end = exceed + kExceed.size();
  if (body.substr(end, kCause.size()) == kCause) end += kCause.size();
  const auto take = [&](std::string_view label) -> Bytes {
    const std::size_t at = body.find(label);
    const std::size_t colon = at == std::string_view::npos ? at : body.find(':', at + label.size());
    if (colon == std::string_view::npos || colon > at + label.size() + 2) return std::nullopt;
    std::string_view rest = body.substr(colon + 1);
    const Bytes bytes = take_size(rest);
    end = std::max(end, bytes ? body.size() - rest.size() : colon + 1);
    return bytes;
  };
  event.allocated_bytes = take("Currently allocated");
  event.asked_bytes = take("Requested");
  event.total_bytes = take("Device limit");
  event.free_bytes = take("Free (according to CUDA)");
  event.allowed_bytes = take("PyTorch limit (set by user-supplied memory fraction)");
  message.end = place.at + end;
  return true;
}

bool read_pytorch_mps(const Place& place, Message& message) {
  constexpr std::string_view kBefore = "MPS backend ";
  if (place.at < kBefore.size() || place.text.substr(place.at - kBefore.size(), kBefore.size()) != kBefore)
    return false;
  const std::string_view body = place.rest().substr(0, 400);
  OutOfMemory& event = message.event;
  message.begin = place.at - kBefore.size();
  event.framework = "pytorch";
  event.device_type = "mps";
  event.allocated_bytes = size_behind(body, "MPS allocated: ");
  event.process_bytes = sum(event.allocated_bytes, size_behind(body, "other allocations: "));
  event.allowed_bytes = size_behind(body, "max allowed: ");
  event.asked_bytes = size_behind(body, "Tried to allocate ");
  for (const std::string_view part :
       {std::string_view(" pool."), std::string_view("max allowed: "), std::string_view("Tried to allocate ")}) {
    const std::size_t at = body.find(part);
    if (at == std::string_view::npos) continue;
    message.end = place.at + std::min(body.find('.', at + part.size() - 1), body.size() - 1) + 1;
    break;
  }
  return true;
}

bool read_pytorch_cpu(const Place& place, Message& message) {
  constexpr std::string_view kHead = "you tried to allocate ";
  std::string_view rest = place.rest();
  if (rest.substr(0, kHead.size()) != kHead) return false;
  rest.remove_prefix(kHead.size());
  message.event.asked_bytes = take_size(rest);
  if (!message.event.asked_bytes) return false;
  const std::size_t allocator = place.text.substr(0, place.at).rfind("DefaultCPUAllocator");
  message.begin = allocator == std::string_view::npos ? place.at : allocator;
  message.end = place.text.size() - rest.size();
  message.event.framework = "pytorch";
  return true;
}

}  // namespace vramscope::memory_log
