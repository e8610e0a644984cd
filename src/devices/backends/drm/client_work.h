#pragma once
// From what fdinfo tells of a client to bytes and shares of time.
#include <cstdint>
#include <vector>

#include "devices/backends/drm/clients.h"

namespace vramscope::drm {

// Adds the client's memory to its process; what no client tells stays unknown.
void add_memory(const ClientInfo& info, CardUser& user);
// What engines did in `elapsed_ns`; nothing is known of it when that is not above 0. `before`: the highest values
// read so far. An engine that was not there before did nothing before.
Shares work_since(const std::vector<Engine>& before, const std::vector<Engine>& now, std::int64_t elapsed_ns);
// Counters may fall for a while; the higher value stays.
void keep_engines(std::vector<Engine>& kept, const std::vector<Engine>& now);
void add_shares(const Shares& from, Shares& to);

}  // namespace vramscope::drm
