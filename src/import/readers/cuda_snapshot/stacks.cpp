#include "import/readers/cuda_snapshot/stacks.h"

#include <algorithm>
#include <limits>

namespace vramscope::pickle {

namespace {

constexpr std::uint64_t kFactors[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                      0xd6e8feb86659fd93u};

std::uint64_t mixed(std::uint64_t value, std::uint64_t factor) {
  value = (value ^ (value >> 29)) * factor;
  value = (value ^ (value >> 32)) * factor;
  return value ^ (value >> 30);
}

struct Hash {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  bool is_of_frames = false;
};

// 128 bits, in four lanes that do not wait for each other. Two different lists of a file meet with a chance of 2^-64.
Hash hash_of(const Value* frames, std::size_t count) {
  std::uint64_t lanes[4] = {count, 1, 2, 3};
  std::uint64_t other_bits = 0;
  const auto take = [&](std::size_t lane, Value value) {
    const std::uint64_t next = (lanes[lane] ^ value.bits()) * kFactors[lane];
    lanes[lane] = next ^ (next >> 32);
    other_bits |= value.bits() ^ static_cast<std::uint64_t>(Tag::frame);
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    take(0, frames[i]);
    take(1, frames[i + 1]);
    take(2, frames[i + 2]);
    take(3, frames[i + 3]);
  }
  for (; i < count; ++i) take(i % 4, frames[i]);
  Hash hash;
  constexpr std::uint64_t kTagBits = 7;
  hash.is_of_frames = (other_bits & kTagBits) == 0;
  for (std::size_t lane = 0; lane < 4; ++lane) {
    hash.first = mixed(hash.first + lanes[lane], kFactors[lane]);
    hash.second = mixed(hash.second ^ lanes[lane], kFactors[3 - lane]);
  }
  return hash;
}

std::uint64_t place_of(const Stacks::Node& node) {
  return mixed(std::uint64_t{node.parent} << 32 | node.frame, kFactors[0]);
}

}  // namespace

void StackMaker::grow() {
  constexpr std::size_t kFirst = 4096;
  const std::size_t size = children_.empty() ? kFirst : children_.size() * 2;
  Column<StackId> table;
  table.resize(size, 0);
  for (StackId id = 1; id < stacks_.nodes.size(); ++id) {
    std::size_t at = place_of(stacks_.nodes[id]) & (size - 1);
    while (table[at] != 0) at = (at + 1) & (size - 1);
    table[at] = id;
  }
  children_.swap(table);
}

StackId StackMaker::child(StackId parent, StringId frame) {
  if (stacks_.nodes.size() * 2 >= children_.size()) grow();
  const Stacks::Node node{frame, parent};
  const std::size_t mask = children_.size() - 1;
  for (std::size_t at = place_of(node) & mask;; at = (at + 1) & mask) {
    const StackId there = children_[at];
    if (there == 0) {
      children_[at] = static_cast<StackId>(stacks_.nodes.size());
      stacks_.nodes.push_back(node);
      return children_[at];
    }
    if (stacks_.nodes[there].frame == frame && stacks_.nodes[there].parent == parent) return there;
  }
}

std::optional<StackId> StackMaker::stack(const Value* frames, std::size_t count) {
  if (count == 0) return 0;
  const Hash hash = hash_of(frames, count);
  if (!hash.is_of_frames) return std::nullopt;
  const auto [slot, is_new] = known_.try_emplace(hash.first);
  if (!is_new && slot->second.check == hash.second) return slot->second.stack;
  std::size_t shared = 0;
  const std::size_t most = std::min(count, last_frames_.size());
  while (shared < most && last_frames_[shared] == frames[count - 1 - shared].id()) ++shared;
  last_frames_.resize(count);
  last_nodes_.resize(count);
  StackId node = shared == 0 ? 0 : last_nodes_[shared - 1];
  for (std::size_t i = shared; i < count; ++i) {
    last_frames_[i] = frames[count - 1 - i].id();
    node = child(node, last_frames_[i]);
    last_nodes_[i] = node;
  }
  slot->second = {hash.second, node};
  return node;
}

}  // namespace vramscope::pickle
