#include "analysis/card_memory.h"

#include <cstdlib>

namespace vramscope {

namespace {

class Agreed {
 public:
  void add(std::optional<std::int64_t> bytes) {
    if (!bytes || *bytes <= 0) return;
    // Messages print two decimals.
    if (bytes_ && std::llabs(*bytes_ - *bytes) > *bytes_ / 50) disagree_ = true;
    if (!bytes_) bytes_ = bytes;
  }
  std::optional<std::int64_t> bytes() const { return disagree_ ? std::nullopt : bytes_; }

 private:
  std::optional<std::int64_t> bytes_;
  bool disagree_ = false;
};

}  // namespace

std::optional<std::int64_t> card_bytes(const Case& input, std::int32_t index) {
  Agreed agreed;
  for (const Source& source : input.sources) {
    for (const DeviceInfo& info : source.environment.devices) {
      if (info.id == index) agreed.add(info.total_memory_bytes);
    }
    for (const OutOfMemory& event : source.out_of_memory) {
      if (event.device == index) agreed.add(event.total_bytes);
    }
  }
  return agreed.bytes();
}

}  // namespace vramscope
