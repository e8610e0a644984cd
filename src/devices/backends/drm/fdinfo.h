#pragma once
// What /proc/PID/fdinfo/FD tells of an open DRM node: memory and busy engines of one client of the driver.
// Keys and units: Documentation/gpu/drm-usage-stats.rst of the kernel; amdgpu's own from
// drivers/gpu/drm/amd/amdgpu/amdgpu_fdinfo.c, also as it was before Linux 5.19 ("vram mem:", "gfx0:").
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::drm {

// Bytes of buffers in one kind of memory.
struct Region {
  std::string name;  // "vram", "gtt"; "local0", "system0" (i915); "vram0" (xe); "memory": the machine's own
  std::optional<std::int64_t> total;     // asked for, whether there yet or not
  std::optional<std::int64_t> resident;  // there; amdgpu's drm-memory- is the same
  std::optional<std::int64_t> shared;    // more than one client holds them
};

// Since the client was opened. Values may fall and catch up later.
struct Engine {
  std::string name;  // "gfx", "compute", "rcs", "video"
  std::optional<std::int64_t> busy_ns;
  std::optional<std::int64_t> cycles;        // busy
  std::optional<std::int64_t> total_cycles;  // all that passed
  std::optional<std::int64_t> max_hz;        // of a cycle
  std::int64_t capacity = 1;                 // engines of the name
};

struct ClientInfo {
  bool is_drm = false;                    // it has a key that only a DRM driver writes
  std::string pci_address;                // empty where the device has none
  std::optional<std::int64_t> client_id;  // the same in every descriptor of the client; unique for its device
  std::vector<Region> regions;
  std::vector<Engine> engines;
  std::optional<std::int64_t> evicted_bytes;  // amdgpu: moved out of the device's memory for lack of room
};

// Fills `info` anew; its strings and lists keep their room. A value that is no number, or does not fit, is unknown.
void parse_fdinfo(std::string_view text, ClientInfo& info);

}  // namespace vramscope::drm
