#pragma once
// Keeps samples in a recording. What goes where is told in docs/recording-format.md, "Samples of devices".
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recording/device_series.h"
#include "recording/writer.h"
#include "sampling/live_sample.h"
#include "system/host.h"

namespace vramscope {

// What the host tells of a process is written this often, and when its state changes.
inline constexpr std::int64_t kHostRhythmNs = 10'000'000'000;

// For one thread at a time.
class Recorder {
 public:
  struct Options {
    std::string program;  // "vramscope 0.1.0"
    std::string command;  // the command line that is watched; empty without
    bool replace = false;
    // The samples are not of now: their clocks are taken from themselves.
    bool is_played_back = false;
  };
  static Result<std::unique_ptr<Recorder>> open(const std::string& path, const Options& options,
                                                const MachineFacts& machine);

  // The first Error of the disk that was met; the next call tries again.
  std::optional<Error> add(const LiveSample& sample);
  // Something that a watch tells. `subject`: a process that a device names; 0 for none.
  std::optional<Error> add_event(recording::EventKind kind, std::int64_t time_ns, std::int64_t pid, std::int64_t code,
                                 std::string_view text);
  std::optional<Error> close();
  const recording::Totals& totals() const { return writer_->totals(); }

 private:
  struct Device {
    recording::SubjectId subject = recording::kNoId;
    std::vector<recording::SeriesId> series;  // by metric; kNoId: none yet
    std::optional<std::int64_t> once_ns;      // when what cannot change was written last
  };
  struct Host {
    recording::SubjectId subject = recording::kNoId;
    std::int64_t start_ticks = 0;
    std::optional<std::int32_t> ppid;
    std::optional<bool> is_orphan;
    recording::SeriesId cpu = recording::kNoId, rss = recording::kNoId, state = recording::kNoId;
    std::optional<std::int64_t> written_ns;
    char written_state = 0;
    std::uint64_t round = 0;
  };
  struct Use {
    recording::SubjectId subject = recording::kNoId;
    recording::SubjectId host = recording::kNoId;
    recording::SeriesId used = recording::kNoId, sm = recording::kNoId, memory = recording::kNoId;
    recording::SeriesId encoder = recording::kNoId, decoder = recording::kNoId;
    recording::SeriesId reserved = recording::kNoId, allocated = recording::kNoId, active = recording::kNoId;
    bool is_mps = false;
    std::uint64_t round = 0;
  };

  Recorder(std::unique_ptr<recording::Writer> writer, std::shared_ptr<recording::ClockReading> clocks,
           const MachineFacts& machine);
  std::optional<Error> add_device(const LiveSample& sample, std::size_t place);
  std::optional<Error> add_process(const LiveSample& sample, const HostProcess& process);
  std::optional<Error> add_use(const LiveSample& sample, std::size_t place, const DeviceProcess& process);
  Device& device(const LiveSample& sample, std::size_t place);
  void describe(Host& host, const HostProcess& process);
  void end_gone();
  std::optional<Error> put(recording::SeriesId series, std::int64_t time_ns, std::optional<std::int64_t> value);

  std::unique_ptr<recording::Writer> writer_;
  std::shared_ptr<recording::ClockReading> clocks_;  // of the sample at hand; null: those of the machine
  std::string boot_id_;
  recording::SubjectId host_ = recording::kNoId;
  std::unordered_map<std::string, Device> devices_;   // by UUID
  std::unordered_map<std::int64_t, Host> processes_;  // by pid
  std::unordered_map<std::string, Use> uses_;         // by pid and UUID
  std::uint64_t round_ = 0;
};

}  // namespace vramscope
