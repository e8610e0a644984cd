#include <charconv>

#include "analysis/memory_sums.h"
#include "analysis/oom_cause.h"

namespace vramscope {

namespace {

std::string setting(const std::map<std::string, std::string>& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string() : found->second;
}

// The environment variable as the program got it: newer versions and ROCm have names of their own for it.
std::string written(const std::map<std::string, std::string>& settings) {
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"}) {
    if (std::string value = setting(settings, name); !value.empty()) return value;
  }
  return {};
}

}  // namespace

const char* cause_name(OomCause cause) {
  switch (cause) {
    case OomCause::exhausted:
      return "exhausted";
    case OomCause::fragmented:
      return "fragmented";
    case OomCause::held_by_others:
      return "held_by_others";
    case OomCause::capped:
      return "capped";
    case OomCause::unknown:
      break;
  }
  return "unknown";
}

bool has_expandable_segments(const std::map<std::string, std::string>& settings) {
  const std::string value = setting(settings, "expandable_segments");
  if (!value.empty()) return value == "True" || value == "true" || value == "1";
  return written(settings).find("expandable_segments:True") != std::string::npos;
}

std::string settings_variable(const OutOfMemory& event) {
  if (!event.settings_variable.empty()) return event.settings_variable;
  return event.text.rfind("HIP out of memory", 0) == 0 ? "PYTORCH_HIP_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
}

std::int64_t split_limit_mib(std::int64_t asked_bytes) {
  constexpr std::int64_t kLeast = 32;
  constexpr std::int64_t kMost = 512;
  const std::int64_t asked_mib = asked_bytes >> 20;
  std::int64_t limit = kMost;
  while (limit >= kLeast && limit > asked_mib / 2) limit /= 2;
  return limit < kLeast ? 0 : limit;
}

bool has_split_limit(const std::map<std::string, std::string>& settings) {
  const std::string value = setting(settings, "max_split_size");
  if (value.empty()) return written(settings).find("max_split_size_mb:") != std::string::npos;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  return error == std::errc() && end == value.data() + value.size() && bytes > 0 && bytes < kLargestSum;
}

}  // namespace vramscope
