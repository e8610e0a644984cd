#pragma once
// A machine of 8 GPUs and 160 processes, sampled at 1 Hz, with the noise of a real one: 20 metrics a GPU, 4 a process.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "small_recording.h"

namespace vramscope::recording {

class SimulatedDay {
 public:
  static constexpr int kGpus = 8;
  static constexpr int kProcesses = 160;
  static constexpr int kGpuMetrics = 20;
  static constexpr int kProcessMetrics = 4;

  explicit SimulatedDay(Writer& writer) : writer_(writer) {
    host_ = writer_.add_subject({SubjectKind::host, "host:node-8", kNoId, {{"name", "node-8"}}});
    for (int i = 0; i < kGpus; ++i) {
      Gpu gpu;
      gpu.subject = writer_.add_subject({SubjectKind::device, "GPU-" + std::to_string(i), host_, {{"name", "H100"}}});
      for (const char* metric : kMetrics) gpu.series.push_back(writer_.series(gpu.subject, metric));
      gpus_.push_back(gpu);
    }
    processes_.resize(kProcesses);
    for (Process& process : processes_) start(process, 0);
  }

  // One sample of everything.
  void second(std::int64_t number) {
    time_ = number * kSecond + between(20'000, 250'000);  // no sampler is punctual
    for (Gpu& gpu : gpus_) sample(gpu);
    if (number % 300 == 299) {
      Process& process = processes_[static_cast<std::size_t>(number / 300) % processes_.size()];
      put(Event{time_, EventKind::process_end, process.subject, 0, ""});
      writer_.end_subject(process.subject);
      start(process, time_);
    }
    for (Process& process : processes_) sample(process);
  }

  std::int64_t rows = 0;
  int errors = 0;

 private:
  static constexpr const char* kMetrics[kGpuMetrics] = {"memory.used",
                                                        "memory.free",
                                                        "utilization.gpu",
                                                        "utilization.memory",
                                                        "temperature.gpu",
                                                        "temperature.memory",
                                                        "power.draw",
                                                        "clocks.sm",
                                                        "energy.total",
                                                        "clocks_event_reasons",
                                                        "clocks.memory",
                                                        "power.limit",
                                                        "pstate",
                                                        "fan.speed",
                                                        "pcie.link.gen.current",
                                                        "pcie.link.width",
                                                        "memory.reserved",
                                                        "utilization.encoder",
                                                        "utilization.decoder",
                                                        "ecc.errors"};
  struct Gpu {
    SubjectId subject = kNoId;
    std::vector<SeriesId> series;
    std::int64_t used = 60LL << 30, temperature = 61, energy = 900'000'000;
    std::int64_t busy = 90;
  };
  struct Process {
    SubjectId subject = kNoId;
    std::vector<SeriesId> series;
    std::int64_t memory = 0, resident = 0;
    std::int64_t cpu = 0, sm = 0;
    bool grows = false;
  };

  std::int64_t between(std::int64_t least, std::int64_t most) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return least + static_cast<std::int64_t>((state_ >> 11) % static_cast<std::uint64_t>(most - least + 1));
  }
  // Bell-shaped around 0.
  std::int64_t noise(std::int64_t width) { return between(-width, width) + between(-width, width); }
  bool one_in(std::int64_t count) { return between(1, count) == 1; }

  void put(SeriesId series, std::int64_t value) {
    errors += writer_.append(Sample{series, Validity::known, time_, value}) ? 1 : 0;
    ++rows;
  }
  void put(const Event& event) { errors += writer_.append(event) ? 1 : 0; }

  void start(Process& process, std::int64_t time) {
    process = Process();
    const std::string pid = std::to_string(10'000 + ++started_);
    process.subject = writer_.add_subject({SubjectKind::process,
                                           "boot/" + pid + "/" + std::to_string(time / 10'000'000),
                                           host_,
                                           {{"name", "python"},
                                            {"user", "user" + std::to_string(started_ % 9)},
                                            {"command", "python train.py --rank " + pid}}});
    for (const char* metric : {"memory.used", "utilization.sm", "cpu", "rss"}) {
      process.series.push_back(writer_.series(process.subject, metric));
    }
    process.memory = between(500, 3500) << 20;
    process.resident = between(300'000, 900'000) * 4096;
    process.cpu = between(50, 1200);
    process.sm = between(1, 9);
    process.grows = started_ % 4 == 0;
    put(Event{time, EventKind::process_start, process.subject, 0, ""});
  }

  void sample(Gpu& gpu) {
    if (one_in(20)) gpu.used += between(-8, 8) << 21;
    gpu.busy = std::clamp<std::int64_t>(gpu.busy + noise(4), 40, 100);
    if (one_in(12)) gpu.temperature += gpu.temperature > 66 ? -1 : (gpu.temperature < 58 ? 1 : between(-1, 1));
    const std::int64_t power = 250'000 + gpu.busy * 4'000 + noise(9'000);
    gpu.energy += power + noise(400);
    const bool slowed = one_in(40);
    const std::int64_t values[kGpuMetrics] = {gpu.used,
                                              (80LL << 30) - gpu.used,
                                              gpu.busy,
                                              gpu.busy / 2 + between(-2, 2),
                                              gpu.temperature,
                                              gpu.temperature + 9 + between(0, 1),
                                              power,
                                              slowed ? 1980 - 15 * between(1, 12) : 1980,
                                              gpu.energy,
                                              slowed ? 4 : 0,
                                              2619,
                                              700'000,
                                              0,
                                              0,
                                              5,
                                              16,
                                              583'008'256,
                                              0,
                                              0,
                                              0};
    for (std::size_t i = 0; i < kGpuMetrics; ++i) put(gpu.series[i], values[i]);
  }

  void sample(Process& process) {
    if (one_in(200)) process.memory += between(-4, 5) << 21;
    if (process.grows || one_in(8)) process.resident += between(-3, 5) * 4096;
    put(process.series[0], process.memory);
    put(process.series[1], std::max<std::int64_t>(0, process.sm + between(-1, 1)));
    put(process.series[2], std::max<std::int64_t>(0, process.cpu + noise(10)));  // tenths of a percent
    put(process.series[3], process.resident);
  }

  Writer& writer_;
  SubjectId host_ = kNoId;
  std::vector<Gpu> gpus_;
  std::vector<Process> processes_;
  std::int64_t time_ = 0;
  std::int64_t started_ = 0;
  std::uint64_t state_ = 88172645463325252ULL;
};

}  // namespace vramscope::recording
