// Any bytes as a recording: as a file for the reports, and played back as devices. Checksums are made right first, for
// what they guard would never be seen otherwise; that they are checked is the unit tests' business.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "look.h"
#include "monitor/changes.h"
#include "monitor/monitor.h"
#include "monitor/verdict_rule.h"
#include "recording/chunk_reader.h"
#include "recording/crc32c.h"
#include "recording/reader.h"
#include "report/status.h"
#include "sampling/replay.h"

namespace {

using namespace vramscope;

void put_number(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i));
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

// docs/recording-format.md, "Chunk header": stored bytes at 52, CRC of the payload at 56, of the header at 60.
void mend_checksums(std::string& bytes) {
  std::size_t at = bytes.find(recording::kChunkMagic);
  while (at != bytes.npos && at + recording::kChunkHeaderBytes <= bytes.size()) {
    const std::size_t payload = at + recording::kChunkHeaderBytes;
    const std::size_t stored = std::min<std::size_t>(number_at(bytes, at + 52), bytes.size() - payload);
    put_number(bytes, at + 52, static_cast<std::uint32_t>(stored));
    put_number(bytes, at + 56, recording::crc32c(std::string_view(bytes).substr(payload, stored)));
    put_number(bytes, at + 60, recording::crc32c(std::string_view(bytes).substr(at, 60)));
    at = bytes.find(recording::kChunkMagic, payload + stored);
  }
}

void play(const std::string& bytes) {
  auto reader = recording::Reader::open(recording::bytes_of(bytes), "fuzz");
  if (!reader) return;
  auto sampler = play_back(std::move(*reader), 0);
  if (sampler == nullptr) return;
  Monitor monitor;
  ChangeLog log;
  int left = 2000;
  while (const LiveSample* sample = left-- > 0 ? sampler->sample() : nullptr) {
    monitor.add(*sample);
    log.update(*sample, monitor);
    if (left % 100 != 0) continue;
    const std::vector<Verdict> verdicts = judge({*sample, monitor});
    status_json(*sample, verdicts);
    status_text(*sample, verdicts, {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend_checksums(bytes);
  vramscope::look("recording", reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  play(bytes);
  return 0;
}
