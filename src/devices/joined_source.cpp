#include "devices/joined_source.h"

#include <algorithm>

namespace vramscope {

namespace {

class JoinedSource : public DeviceSource {
 public:
  explicit JoinedSource(std::vector<std::unique_ptr<DeviceSource>> sources) : sources_(std::move(sources)) {}

  const std::vector<DeviceSample>& sample(const Wanted& wanted, std::int64_t time_ns) override {
    std::size_t count = 0;  // entries are used again, so that their strings keep their room
    int next_index = 0;
    sizes_.clear();
    for (const auto& source : sources_) {
      const std::vector<DeviceSample>& part = source->sample(wanted, time_ns);
      const std::size_t first_place = count;
      const int first_index = next_index;
      for (const DeviceSample& from : part) {
        if (count == samples_.size()) samples_.emplace_back();
        DeviceSample& to = samples_[count++];
        to = from;
        if (to.parent) {
          to.parent = *to.parent + static_cast<int>(first_place);
          continue;  // numbered within its GPU
        }
        to.index += first_index;
        if (to.values.is_known(Metric::index)) to.values.set(Metric::index, to.index);
        next_index = std::max(next_index, to.index + 1);
      }
      sizes_.push_back(part.size());
    }
    samples_.resize(count);
    const auto gpus =
        std::count_if(samples_.begin(), samples_.end(), [](const auto& device) { return !device.parent; });
    for (DeviceSample& device : samples_) {
      if (device.values.is_known(Metric::count)) device.values.set(Metric::count, gpus);
    }
    return samples_;
  }

  // The first that can tell.
  Result<std::string> process_name(std::int64_t pid) override {
    for (std::size_t i = 0; i + 1 < sources_.size(); ++i) {
      auto name = sources_[i]->process_name(pid);
      if (name) return name;
    }
    return sources_.back()->process_name(pid);
  }

  Result<std::vector<AccountedProcess>> accounted(std::size_t place) override {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (place < sizes_[i]) return sources_[i]->accounted(place);
      place -= sizes_[i];
    }
    return std::vector<AccountedProcess>();
  }

 private:
  std::vector<std::unique_ptr<DeviceSource>> sources_;
  std::vector<DeviceSample> samples_;
  std::vector<std::size_t> sizes_;  // devices of each, at the last sample
};

}  // namespace

std::unique_ptr<DeviceSource> join_sources(std::vector<std::unique_ptr<DeviceSource>> sources) {
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<JoinedSource>(std::move(sources));
}

}  // namespace vramscope
