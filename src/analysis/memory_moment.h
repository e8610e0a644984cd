#pragma once
// A moment of a recording, as people name it on the command line.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/memory_curve.h"
#include "model/source.h"

namespace vramscope {

enum class MomentKind : std::uint8_t { peak, end, since_start, clock, step };

struct Moment {
  MomentKind kind = MomentKind::peak;
  std::int64_t value = 0;  // since_start, clock: nanoseconds; step: its number
};

// "peak", "end", "step:7" (the end of that step), a time since the start of the recording with its unit ("1.25s",
// "800ms", "12.5us", "100ns"), or whole nanoseconds on the source's own clock. nullopt for anything else.
std::optional<Moment> parse_moment(std::string_view text);

struct FoundMoment {
  std::size_t count = 0;     // events of the device that have happened by then
  std::int64_t time_ns = 0;  // on the source's clock
};

// Whether a moment can lie in a source: a step that it has, a time within it.
bool is_within(const Source& source, const Moment& moment);

// Where the moment lies for one device; nullopt when it does not lie in the source.
std::optional<FoundMoment> find_moment(const Source& source, const DeviceMemory& memory, const Moment& moment);

}  // namespace vramscope
