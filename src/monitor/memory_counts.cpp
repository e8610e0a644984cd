#include "monitor/memory_counts.h"

#include "system/files.h"

namespace vramscope {

void MemoryCounts::begin_look() {
  host_.reset();
  mounts_.reset();
  cgroups_.clear();
}

const HostMemory& MemoryCounts::host() {
  if (!host_) host_ = read_host_memory(roots_);
  return *host_;
}

std::shared_ptr<const CountedCgroup> MemoryCounts::of_process(std::int32_t pid) {
  const auto text = read_file(roots_.proc + "/" + std::to_string(pid) + "/cgroup");
  if (!text) return nullptr;
  if (!mounts_) mounts_ = read_mounts(roots_);
  auto cgroup = find_memory_cgroup(roots_, parse_cgroup_file(*text), *mounts_);
  if (!cgroup || cgroup->folders.empty()) return nullptr;
  return read(std::move(*cgroup));
}

std::shared_ptr<const CountedCgroup> MemoryCounts::again(const CountedCgroup& before) {
  return read(before.cgroup);
}

std::shared_ptr<const CountedCgroup> MemoryCounts::read(MemoryCgroup cgroup) {
  const auto [place, is_new] = cgroups_.try_emplace(cgroup.folders);
  if (is_new) {
    if (auto memory = read_cgroup_memory(cgroup)) {
      place->second = std::make_shared<const CountedCgroup>(CountedCgroup{std::move(cgroup), std::move(*memory)});
    }
  }
  return place->second;
}

}  // namespace vramscope
