#include "cli/commands/watch/late_sampler.h"

#include <utility>

namespace vramscope {

namespace {

class LateSampler : public Sampler {
 public:
  LateSampler(SamplerOptions options, std::function<void(const Error&)> on_failure)
      : options_(std::move(options)), on_failure_(std::move(on_failure)) {}

  const LiveSample* sample() override {
    if (sampler_ == nullptr && !open()) return nullptr;
    return sampler_->sample();
  }
  std::int64_t due_ns() const override { return sampler_ == nullptr ? 0 : sampler_->due_ns(); }
  bool is_played_back() const override { return false; }

 private:
  bool open() {
    auto opened = open_sampler(options_);
    if (!opened) {
      on_failure_(opened.error());
      options_.device = "none";
      opened = open_sampler(options_);
    }
    if (opened) sampler_ = std::move(*opened);
    return sampler_ != nullptr;
  }

  SamplerOptions options_;
  std::function<void(const Error&)> on_failure_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace

std::unique_ptr<Sampler> late_sampler(SamplerOptions options, std::function<void(const Error&)> on_failure) {
  return std::make_unique<LateSampler>(std::move(options), std::move(on_failure));
}

}  // namespace vramscope
