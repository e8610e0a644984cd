#pragma once
// Logs and segments of an allocator, line by line.
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/source.h"

namespace vramscope {

class LogMaker {
 public:
  LogMaker& entry(AllocatorAction action, std::uint64_t address, std::int64_t bytes, StackId stack = 0,
                  std::uint32_t note = kNone, std::int64_t stream = 0) {
    AllocatorLog& log = device.log;
    log.time_ns.push_back(has_times ? 1'000 + static_cast<std::int64_t>(log.size()) * 100 : kUnknown);
    log.action.push_back(action);
    log.address.push_back(address);
    log.bytes.push_back(bytes);
    log.stream.push_back(stream);
    log.stack.push_back(stack);
    log.note.push_back(note);
    return *this;
  }
  LogMaker& alloc(std::uint64_t address, std::int64_t bytes, StackId stack = 0, std::uint32_t note = kNone) {
    return entry(AllocatorAction::alloc, address, bytes, stack, note);
  }
  LogMaker& free(std::uint64_t address, std::int64_t bytes) {
    entry(AllocatorAction::free_requested, address, bytes);
    return entry(AllocatorAction::free_completed, address, bytes);
  }
  // A segment whose blocks follow; its size grows with them.
  LogMaker& segment(std::uint64_t address, SegmentPool type = SegmentPool::large, std::int64_t stream = 0,
                    StringId pool = 0) {
    Segment segment;
    segment.address = address;
    segment.type = type;
    segment.stream = stream;
    segment.pool = pool;
    segment.first_block = segment.last_block = static_cast<std::uint32_t>(device.blocks.size());
    device.segments.push_back(segment);
    return *this;
  }
  LogMaker& block(BlockState state, std::int64_t bytes, std::int64_t requested = kUnknown, StackId stack = 0) {
    Segment& segment = device.segments.back();
    device.blocks.push_back(
        {segment.address + static_cast<std::uint64_t>(segment.total_bytes), bytes, requested, stack, state});
    segment.total_bytes += bytes;
    ++segment.last_block;
    return *this;
  }

  AllocatorDevice device = [] {
    AllocatorDevice made;
    made.index = 0;
    return made;
  }();
  bool has_times = true;
};

// A stack from the outside in, as files never write it but people read it.
inline StackId add_stack(Source& source, std::initializer_list<std::string_view> frames) {
  StackId stack = 0;
  auto& nodes = source.trace.stacks.nodes;
  for (const std::string_view frame : frames) {
    const StringId text = source.trace.strings.intern(frame);
    StackId next = 0;
    for (StackId i = 1; i < nodes.size(); ++i) {
      if (nodes[i].frame == text && nodes[i].parent == stack) next = i;
    }
    if (next == 0) {
      next = static_cast<StackId>(nodes.size());
      nodes.push_back({text, stack});
    }
    stack = next;
  }
  return stack;
}

}  // namespace vramscope
