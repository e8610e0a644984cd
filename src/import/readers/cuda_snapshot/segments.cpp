#include "import/readers/cuda_snapshot/segments.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "formats/cuda_snapshot.h"

namespace vramscope::pickle {

AllocatorDevice* Devices::at(std::int64_t index) {
  if (index < -1 || index > std::numeric_limits<std::int32_t>::max()) return nullptr;
  const auto number = static_cast<std::int32_t>(index);
  const auto found = devices_.find(number);
  if (found != devices_.end()) return &found->second;
  if (devices_.size() >= kMost) return nullptr;
  AllocatorDevice& made = devices_[number];
  made.index = number;
  return &made;
}

std::vector<AllocatorDevice> Devices::take() {
  std::vector<AllocatorDevice> all;
  for (auto& [index, device] : devices_) {
    sort_segments(device);
    if (index >= 0) all.push_back(std::move(device));
  }
  const auto host = devices_.find(-1);
  if (host != devices_.end()) all.push_back(std::move(host->second));
  devices_.clear();
  return all;
}

void SegmentReader::read(Value list, bool is_host) {
  list = store_.resolve(list);
  if (list.is_absent() || list == kNothing) return;
  if (!store_.is_list(list)) {
    recorder_.note("wrong_type", offset_);
    return;
  }
  for (const Value& item : store_.items(list)) {
    const Value segment = store_.resolve(item);
    if (!store_.is_dict(segment)) {
      recorder_.note("wrong_type", offset_);
    } else if (const Items pairs = store_.items(segment); pairs.size > 0) {
      read_segment(pairs, is_host);
    }
  }
}

void SegmentReader::read_segment(const Items& pairs, bool is_host) {
  Segment segment;
  std::int64_t index = is_host ? -1 : 0;
  Value blocks;
  std::int64_t total = kUnknown;
  for (std::uint32_t i = 0; i + 1 < pairs.size; i += 2) {
    const Value value = store_.resolve(pairs.data[i + 1]);
    if (!pairs.data[i].is(Tag::text)) continue;
    switch (static_cast<Key>(pairs.data[i].id())) {
      case Key::device:
        if (!is_host) index = recorder_.integer_of(value, offset_);
        break;
      case Key::address:
        segment.address = recorder_.address_of(value, offset_);
        break;
      case Key::total_size:
        total = recorder_.size_of(value, offset_);
        break;
      case Key::allocated_size:
        segment.allocated_bytes = recorder_.size_of(value, offset_);
        break;
      case Key::active_size:
        segment.active_bytes = recorder_.size_of(value, offset_);
        break;
      case Key::requested_size:
        segment.requested_bytes = recorder_.size_of(value, offset_);
        break;
      case Key::stream:
        segment.stream = recorder_.integer_of(value, offset_);
        break;
      case Key::segment_type:
        segment.type = cuda_snapshot::pool_of(store_.text_of(value));
        break;
      case Key::segment_pool_id:
      case Key::pool_id:
        segment.pool = recorder_.text_of(value);
        break;
      case Key::is_expandable:
        segment.is_expandable = value == kTrue;
        break;
      case Key::frames:
        segment.stack = recorder_.stack_of(value, offset_);
        break;
      case Key::blocks:
        blocks = value;
        break;
      default:
        break;
    }
  }
  AllocatorDevice* device = devices_.at(index);
  if (device == nullptr) {
    recorder_.note("odd_device", offset_);
    return;
  }
  segment.total_bytes = std::max<std::int64_t>(total, 0);
  if (total == kUnknown) recorder_.note("segment_without_size", offset_);
  read_blocks(blocks, segment, *device);
  device->segments.push_back(segment);
}

void SegmentReader::read_blocks(Value list, Segment& segment, AllocatorDevice& device) {
  segment.first_block = segment.last_block = static_cast<std::uint32_t>(device.blocks.size());
  if (list.is_absent() || list == kNothing) return;
  if (!store_.is_list(list)) {
    recorder_.note("wrong_type", offset_);
    return;
  }
  const Items items = store_.items(list);
  if (items.size == 0) return;
  if (!seen_.insert(list.payload()).second) {
    recorder_.note("list_used_twice", offset_);
    return;
  }
  std::uint64_t next_address = segment.address;
  for (const Value& item : items) {
    const Value block = store_.resolve(item);
    if (!store_.is_dict(block)) {
      recorder_.note("wrong_type", offset_);
      continue;
    }
    const Items pairs = store_.items(block);
    if (pairs.size == 0) continue;
    device.blocks.push_back(read_block(pairs, next_address));
    const Block& made = device.blocks.back();
    if (made.address != kUnknownAddress) next_address = made.address + static_cast<std::uint64_t>(made.bytes);
  }
  segment.last_block = static_cast<std::uint32_t>(device.blocks.size());
  const auto begin = device.blocks.begin() + segment.first_block;
  const auto by_address = [](const Block& a, const Block& b) { return a.address < b.address; };
  if (!std::is_sorted(begin, device.blocks.end(), by_address)) std::stable_sort(begin, device.blocks.end(), by_address);
}

Block SegmentReader::read_block(const Items& pairs, std::uint64_t next_address) {
  Block block;
  block.address = next_address;
  std::int64_t bytes = kUnknown;
  Items history;
  for (std::uint32_t i = 0; i + 1 < pairs.size; i += 2) {
    const Value value = store_.resolve(pairs.data[i + 1]);
    if (!pairs.data[i].is(Tag::text)) continue;
    switch (static_cast<Key>(pairs.data[i].id())) {
      case Key::address:
        block.address = recorder_.address_of(value, offset_);
        break;
      case Key::size:
        bytes = recorder_.size_of(value, offset_);
        break;
      case Key::requested_size:
        block.requested_bytes = recorder_.size_of(value, offset_);
        break;
      case Key::state:
        block.state = cuda_snapshot::block_state_of(store_.text_of(value));
        break;
      case Key::frames:
        block.stack = recorder_.stack_of(value, offset_);
        break;
      case Key::history:
        history = store_.is_list(value) ? store_.items(value) : Items{};
        break;
      default:
        break;
    }
  }
  block.bytes = std::max<std::int64_t>(bytes, 0);
  if (bytes == kUnknown) recorder_.note("block_without_size", offset_);
  if (block.state == BlockState::unknown) recorder_.note("unknown_block_state", offset_);
  // torch 2.0: what lived in the block, the last one first.
  if (history.size > 0) {
    const Items last = store_.items(store_.resolve(history.data[0]));
    if (block.stack == 0) block.stack = recorder_.stack_of(Store::find(last, Key::frames), offset_);
    const Value real_size = Store::find(last, Key::real_size);
    if (block.requested_bytes == kUnknown && is_active(block.state)) {
      block.requested_bytes = recorder_.size_of(real_size, offset_);
    }
  }
  return block;
}

void sort_segments(AllocatorDevice& device) {
  const auto by_address = [](const Segment& a, const Segment& b) { return a.address < b.address; };
  if (std::is_sorted(device.segments.begin(), device.segments.end(), by_address)) return;
  std::stable_sort(device.segments.begin(), device.segments.end(), by_address);
  std::vector<Block> blocks;
  blocks.reserve(device.blocks.size());
  for (Segment& segment : device.segments) {
    const auto first = static_cast<std::uint32_t>(blocks.size());
    blocks.insert(blocks.end(), device.blocks.begin() + segment.first_block,
                  device.blocks.begin() + segment.last_block);
    segment.first_block = first;
    segment.last_block = static_cast<std::uint32_t>(blocks.size());
  }
  device.blocks = std::move(blocks);
}

}  // namespace vramscope::pickle
