#pragma once
// `vramscope status`: every GPU, what holds its memory, and what is wrong.
#include <string>
#include <vector>

#include "model/verdict.h"
#include "sampling/live_sample.h"

namespace vramscope {

struct StatusOptions {
  std::size_t most_processes = 10;  // of a GPU in the text; 0: all
};

std::string status_text(const LiveSample& sample, const std::vector<Verdict>& verdicts, const StatusOptions& options);
// docs/schemas/status.schema.json. All processes.
std::string status_json(const LiveSample& sample, const std::vector<Verdict>& verdicts);
// Verdicts alone, as status shows them.
std::string verdicts_text(const std::vector<Verdict>& verdicts);
// As one array of a JSON object that is being written.
void write_verdicts(class JsonWriter& json, const std::vector<Verdict>& verdicts);

// "0", or "7.1" for the second MIG device of GPU 7.
std::string device_label(const LiveSample& sample, const DeviceSample& device);

}  // namespace vramscope
