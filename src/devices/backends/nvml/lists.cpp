#include "devices/backends/nvml/lists.h"

#include <algorithm>

namespace vramscope::nvml {

namespace {

constexpr std::size_t kMostEntries = 65536;

// A list whose size the driver tells: `call(count, room)` fills it, or says how much room it needs.
template <typename Entry, typename Call>
int fetch_list(std::vector<Entry>& out, std::size_t first_room, Call call) {
  out.resize(first_room);
  int code = kInsufficientSize;
  for (int attempt = 0; attempt < 4 && code == kInsufficientSize; ++attempt) {
    auto count = static_cast<unsigned>(out.size());
    code = call(&count, out.data());
    const std::size_t most = code == kInsufficientSize ? kMostEntries : out.size();
    out.resize(std::min<std::size_t>(count, most));
  }
  if (code != kSuccess) out.clear();
  return code;
}

std::int64_t whole(const Number& value, int type) {
  // nvmlValueType_t. The samples asked for here are unsigned int; others may come with a later driver.
  switch (type) {
    case 0:
      return value.as_double > 0 && value.as_double < 9e18 ? static_cast<std::int64_t>(value.as_double) : 0;
    case 1:
      return value.as_unsigned;
    case 2:
      return static_cast<std::int64_t>(value.as_unsigned_long & ~(1UL << 63));
    case 3:
      return static_cast<std::int64_t>(value.as_unsigned_long_long & ~(1ULL << 63));
    case 4:
      return value.as_long_long;
    case 5:
      return value.as_int;
    default:
      return 0;
  }
}

}  // namespace

int read_supported_clocks(const Functions& call, Handle device, std::vector<SupportedClocks>& out) {
  if (call.supported_memory_clocks == nullptr || call.supported_graphics_clocks == nullptr) return kFunctionNotFound;
  std::vector<unsigned> memory;
  const int code = fetch_list(
      memory, 64, [&](unsigned* count, unsigned* room) { return call.supported_memory_clocks(device, count, room); });
  if (code != kSuccess) return code;
  std::vector<unsigned> graphics;
  for (const unsigned clock : memory) {
    const int graphics_code = fetch_list(graphics, 512, [&](unsigned* count, unsigned* room) {
      return call.supported_graphics_clocks(device, clock, count, room);
    });
    if (graphics_code != kSuccess) return graphics_code;
    out.push_back({clock, {graphics.begin(), graphics.end()}});
  }
  return kSuccess;
}

int read_retired_pages(const Functions& call, Handle device, RetirementCause cause, std::vector<std::uint64_t>& out) {
  if (call.retired_pages == nullptr) return kFunctionNotFound;
  std::vector<unsigned long long> pages;
  const int code = fetch_list(pages, 64, [&](unsigned* count, unsigned long long* room) {
    return call.retired_pages(device, static_cast<int>(cause), count, room);
  });
  out.assign(pages.begin(), pages.end());
  return code;
}

int read_recent(const Functions& call, Handle device, RecentKind kind, RecentSamples& out) {
  if (call.samples == nullptr) return kFunctionNotFound;
  int type = 1;
  unsigned count = 0;
  int code = call.samples(device, static_cast<int>(kind), 0, &type, &count, nullptr);
  if (code != kSuccess && code != kInsufficientSize) return code;
  if (count == 0) return kNotFound;
  std::vector<Sample> samples(std::min<std::size_t>(count, kMostEntries));
  count = static_cast<unsigned>(samples.size());
  code = call.samples(device, static_cast<int>(kind), 0, &type, &count, samples.data());
  if (code != kSuccess) return code;
  samples.resize(std::min<std::size_t>(count, samples.size()));
  // The buffer may hold entries that nothing was written to yet.
  samples.erase(std::remove_if(samples.begin(), samples.end(), [](const Sample& s) { return s.time_us == 0; }),
                samples.end());
  if (samples.empty()) return kNotFound;
  double sum = 0;
  std::uint64_t first_us = samples.front().time_us, last_us = first_us;
  out = {0, static_cast<std::int64_t>(samples.size()), whole(samples[0].value, type), whole(samples[0].value, type), 0};
  for (const Sample& sample : samples) {
    const std::int64_t value = whole(sample.value, type);
    out.most = std::max(out.most, value);
    out.least = std::min(out.least, value);
    first_us = std::min(first_us, sample.time_us);
    last_us = std::max(last_us, sample.time_us);
    sum += static_cast<double>(value);
  }
  constexpr std::uint64_t kPositive = ~(std::uint64_t{1} << 63);
  out.duration_us = static_cast<std::int64_t>((last_us - first_us) & kPositive);
  out.mean = static_cast<std::int64_t>(sum / static_cast<double>(samples.size()));
  return kSuccess;
}

}  // namespace vramscope::nvml
