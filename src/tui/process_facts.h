#pragma once
// What a sample and /proc tell of one process, made safe to show.
#include <optional>

#include "sampling/live_sample.h"
#include "system/roots.h"
#include "tui/scene.h"

namespace vramscope::tui {

// All but what needs the devices or the monitor. Texts are made anew only when they have changed.
void fill_process(SceneProcess& to, const DeviceProcess& from, const HostProcess* host);

// Folder and environment of the process with that start time; `problem` says why there is nothing to show. The
// environment may hold secrets: it is read only when asked for.
SceneDetails read_details(const ProcessKey& key, const HostProcess* host, bool with_environment, const Roots& roots);

// The start time of the process that has this pid now, in ticks; empty when there is none.
std::optional<std::int64_t> start_ticks_of(std::int32_t pid, const Roots& roots);

}  // namespace vramscope::tui
