#include "fmt/format.h"
#include "import/reader.h"
#include "sampling/log_replay.h"
#include "sampling/replay.h"
#include "system/file_kind.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

Error without_samples(const std::string& path) {
  return {ExitCode::bad_input,
          fmt::format(fmt::runtime(tr("{path} holds no samples of devices; record some with `vramscope watch --record "
                                      "FILE`, or give a log of nvidia-smi.")),
                      fmt::arg("path", path))};
}

// Reads all of it. Damage behind the first samples shows only so.
std::vector<Trouble> trouble_of(recording::Reader& reader) {
  recording::Visitor nobody;
  reader.read_all(nobody);
  return reader.trouble();
}

}  // namespace

Result<std::unique_ptr<Sampler>> open_replay(const SamplerOptions& options) {
  const std::string& path = options.replay;
  const auto tell = [&](const std::vector<Trouble>& trouble) {
    if (!trouble.empty() && options.on_trouble) options.on_trouble(path, trouble);
  };
  if (may_wait_for_ever(path)) {
    return Error{ExitCode::bad_input, fmt::format(fmt::runtime(tr("{path} is a pipe or a device; what is to be played "
                                                                  "must be a file: store it first.")),
                                                  fmt::arg("path", path))};
  }
  if (auto first = recording::Reader::open(path)) {
    std::vector<Trouble> trouble = trouble_of(**first);
    auto reader = recording::Reader::open(path);
    if (!reader) return reader.error();
    auto sampler = play_back(std::move(*reader), options.speed, trouble);
    if (sampler == nullptr) return without_samples(path);
    tell(trouble);
    return sampler;
  }
  // No recording; perhaps a log.
  Result<Source> source = load_source(path);
  if (!source) return source.error();
  const std::vector<Trouble> trouble = source->trouble;
  auto sampler = play_log(std::move(*source), options.speed);
  if (sampler == nullptr) return without_samples(path);
  tell(trouble);
  return sampler;
}

}  // namespace vramscope
