#include "model/trace.h"

#include <algorithm>
#include <charconv>

namespace vramscope {

std::string MemoryDevice::name() const {
  const char* base = nullptr;
  switch (type) {
    case 0:
      return "cpu";
    case MemoryDevice::kUnknownType:
      base = "unknown-device";
      break;
    case 1:
    case 6:  // PyTorch on ROCm calls its devices cuda, too
      base = "cuda";
      break;
    case 12:
      base = "xpu";
      break;
    case 13:
      base = "mps";
      break;
    case 19:
      base = "mtia";
      break;
    case 20:
      base = "privateuseone";
      break;
    default:
      break;
  }
  std::string text = base != nullptr ? std::string(base) : "device-type-" + std::to_string(type);
  if (index >= 0) text.append(":").append(std::to_string(index));
  return text;
}

std::string_view Trace::process_sharing(std::uint32_t memory_device) const {
  const MemoryDevice& own = memory_devices[memory_device];
  const bool is_shared = std::any_of(memory_devices.begin(), memory_devices.end(), [&](const MemoryDevice& other) {
    return other.type == own.type && other.index == own.index && other.process != own.process;
  });
  return is_shared ? strings.view(own.process) : std::string_view();
}

std::int32_t Trace::device_of(SpanIndex i) const {
  if (const DeviceArgs* args = device_args_of(i); args != nullptr && args->device >= 0) return args->device;
  const std::string_view pid = strings.view(tracks[spans.track[i]].pid);
  std::int32_t device = -1;
  const auto [end, error] = std::from_chars(pid.data(), pid.data() + pid.size(), device);
  return error == std::errc() && end == pid.data() + pid.size() && device >= 0 ? device : -1;
}

const DeviceArgs* Trace::device_args_of(SpanIndex i) const {
  const SpanKind k = kind(i);
  if (spans.args[i] == kNone || k == SpanKind::cpu_op || k == SpanKind::annotation) return nullptr;
  return &device_args[spans.args[i]];
}

const OpArgs* Trace::op_args_of(SpanIndex i) const {
  const SpanKind k = kind(i);
  if (spans.args[i] == kNone || (k != SpanKind::cpu_op && k != SpanKind::annotation)) return nullptr;
  return &op_args[spans.args[i]];
}

namespace {

std::vector<StringId> python_frames(const Trace& trace, SpanIndex frame) {
  std::vector<StringId> frames;
  for (; frame != kNone; frame = trace.spans.enclosing_frame[frame]) frames.push_back(trace.spans.name[frame]);
  return frames;
}

std::vector<StringId> written_frames(const Trace& trace, SpanIndex span) {
  std::vector<StringId> frames;
  for (; span != kNone; span = trace.spans.parent[span]) {
    if (trace.spans.stack[span] == 0) continue;
    for (StackId node = trace.spans.stack[span]; node != 0; node = trace.stacks.nodes[node].parent) {
      frames.push_back(trace.stacks.nodes[node].frame);
    }
    break;
  }
  return frames;
}

}  // namespace

std::vector<StringId> Trace::stack_of(SpanIndex i) const {
  std::vector<StringId> frames = written_frames(*this, i);
  return frames.empty() ? python_frames(*this, spans.enclosing_frame[i]) : frames;
}

std::vector<StringId> Trace::stack_of_memory(std::size_t event) const {
  std::vector<StringId> frames = written_frames(*this, memory.span[event]);
  return frames.empty() ? python_frames(*this, memory.frame[event]) : frames;
}

}  // namespace vramscope
