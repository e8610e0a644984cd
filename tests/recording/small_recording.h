#pragma once
// Small recordings that are the same on every run: clocks and uuid are given.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "recording/writer.h"

namespace vramscope::recording {

inline constexpr std::int64_t kSecond = 1'000'000'000;

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A path of this process in the folder for temporary files; the file goes when this does.
class TemporaryFile {
 public:
  TemporaryFile() {
    static int number = 0;
    const std::string name = "vramscope-recording-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
    path_ = (std::filesystem::temp_directory_path() / name).string();
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline RunInfo test_run() {
  RunInfo run;
  run.uuid = "0123456789abcdef";
  run.host_name = "node-1";
  run.boot_id = "5a3f0c52-3f0e-4b8e-9a53-6f3c0f6f3a11";
  run.program = "vramscope test";
  run.command = "python train.py --name \"\xE6\x98\xBE\xE5\xAD\x98\"";
  return run;
}

// Clocks that go on by a second and a little each time they are read.
inline WriterOptions test_options() {
  WriterOptions options;
  options.clocks = [reading = ClockReading{5 * kSecond, 6 * kSecond, 1'790'000'000 * kSecond}]() mutable {
    const ClockReading now = reading;
    reading.monotonic_ns += kSecond + 1234;
    reading.boottime_ns += kSecond + 1234;
    reading.realtime_ns += kSecond + 1250;
    return now;
  };
  return options;
}

inline std::unique_ptr<Writer> open_writer(const std::string& path, WriterOptions options = test_options()) {
  Result<std::unique_ptr<Writer>> writer = Writer::open(path, test_run(), std::move(options));
  EXPECT_TRUE(writer) << writer.error().message;
  return std::move(*writer);
}

// A host with a GPU and a process, for `seconds` seconds at 1 Hz, with every kind of row.
inline void write_small(Writer& writer, int seconds) {
  const SubjectId host = writer.add_subject({SubjectKind::host, "host:node-1", kNoId, {{"name", "node-1"}}});
  const SubjectId gpu = writer.add_subject({SubjectKind::device,
                                            "GPU-11111111-2222-3333-4444-555555555555",
                                            host,
                                            {{"name", "NVIDIA H100"}, {"index", "0"}}});
  const SeriesId used = writer.series(gpu, "memory.used", "bytes");
  const SeriesId busy = writer.series(gpu, "utilization.gpu", "percent");
  const SeriesId energy = writer.series(gpu, "energy.total", "millijoules");
  SubjectId process = kNoId;
  SeriesId held = kNoId;
  for (int i = 0; i < seconds; ++i) {
    const std::int64_t time = (10 + i) * kSecond + i % 7;
    if (i == 3) {
      process = writer.add_subject({SubjectKind::process,
                                    "boot/4242/99",
                                    host,
                                    {{"name", "python"}, {"user", "ada"}, {"command", "python \xE2\x80\xA6\n"}}});
      held = writer.series(process, "memory.used", "bytes");
      EXPECT_FALSE(writer.append(Event{time, EventKind::process_start, process, 0, ""}));
    }
    EXPECT_FALSE(writer.append(Sample{used, Validity::known, time, (1LL << 30) + i / 5 * (2LL << 20)}));
    EXPECT_FALSE(writer.append(Sample{busy, i % 11 == 5 ? Validity::failed : Validity::known, time, i * 37 % 101}));
    EXPECT_FALSE(writer.append(Sample{energy, Validity::known, time, 900'000'000LL + i * 350'000LL + i % 3}));
    if (held != kNoId && i < seconds - 2) {
      EXPECT_FALSE(writer.append(Sample{held, Validity::known, time, i == 7 ? INT64_MIN : i * (1LL << 20)}));
    }
    if (i == seconds - 2 && process != kNoId) {
      EXPECT_FALSE(writer.append(Event{time, EventKind::alert, process, 2, "memory.used > 90 % \xE5\xB7\xB2"}));
      EXPECT_FALSE(writer.append(Event{time, EventKind::process_end, process, -9, ""}));
      EXPECT_FALSE(writer.append(Event{time, EventKind::exit_reason, process, 0, "killed by \"SIGKILL\""}));
      writer.end_subject(process);
    }
  }
}

// The bytes of it; closed with its totals, or as a process that is killed leaves it.
inline std::string small_recording(int seconds, WriterOptions options = test_options()) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path(), std::move(options));
  write_small(*writer, seconds);
  EXPECT_FALSE(writer->close());
  return file_text(file.path());
}

}  // namespace vramscope::recording
