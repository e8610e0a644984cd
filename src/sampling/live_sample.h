#pragma once
// All that is seen at one moment: every device, and every process that uses one, joined with what the host says of it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/backend.h"
#include "model/source.h"
#include "system/process.h"

namespace vramscope {

// Whether the host's /proc shows a process that the driver names.
enum class Presence : std::uint8_t {
  seen,
  absent,      // no such pid: it lives in another pid namespace, or has just ended
  unreadable,  // hidden from us (hidepid)
  unasked      // only memory of devices was wanted
};

struct HostProcess {
  std::int32_t pid = 0;
  Presence presence = Presence::unasked;
  Process process;  // of a process that is not seen, key.pid alone
  // What the driver calls it, with its path; asked where the host does not show it. Empty: unknown.
  std::string driver_name;
  std::optional<std::string> parent_name;
  std::optional<bool> is_orphan;  // see is_orphan() in system/process_tree.h
  std::optional<std::int64_t> age_ns;
};

// Its command line, else its name, else what the driver calls it; empty: nobody tells.
std::string_view shown_name(const HostProcess& host);

struct LiveSample {
  std::int64_t time_ns = 0;               // CLOCK_MONOTONIC; of a simulation or a recording its own, never falling
  std::int64_t real_time_ns = 0;          // unix
  std::optional<std::int64_t> answer_ns;  // how long the drivers took to tell of all devices; empty: nobody was asked
  // Owned by the sampler, filled again by its next sample.
  const std::vector<DeviceSample>* device_list = nullptr;
  // Kinds of device that are there but cannot be looked at; owned by the sampler, null where there are none.
  const std::vector<MissingBackend>* missing_backends = nullptr;
  // Oddities and damage of all of the file that is played back; owned by the sampler, null where there are none.
  const std::vector<Trouble>* trouble = nullptr;
  std::vector<HostProcess> processes;  // by pid, each once
  bool is_played_back = false;         // simulated or recorded: its pids are not of this machine

  const std::vector<DeviceSample>& devices() const { return *device_list; }
  // Null for a pid that no device names.
  const HostProcess* find(std::int64_t pid) const;
};

// What tells the device from the others over time: its UUID, or its place where it has none (a log need not name it).
// `device` is one of sample.devices().
std::string device_key(const LiveSample& sample, const DeviceSample& device);

}  // namespace vramscope
