#pragma once
// Memory of programs that compute through ROCm, as the kernel's amdkfd counts it. It tells everybody, whoever the
// programs belong to. /sys/class/kfd/kfd/topology/nodes/N/{gpu_id,properties} name the cards, proc/PID/vram_GPUID has
// the bytes: drivers/gpu/drm/amd/amdkfd/{kfd_topology,kfd_process}.c of the kernel.
#include <cstdint>
#include <string>
#include <vector>

#include "devices/backends/drm/cards.h"
#include "system/roots.h"

namespace vramscope::drm {

struct KfdUse {
  std::int32_t pid = 0;
  std::size_t card = 0;
  std::int64_t bytes = 0;
};

class Kfd {
 public:
  Kfd(const Roots& roots, const std::vector<Card>& cards);
  // By card, then by pid. Empty where there is no amdkfd, at the price of nothing.
  const std::vector<KfdUse>& sample();

 private:
  struct Gpu {
    std::size_t card = 0;
    std::string file;  // "vram_51140"
  };
  std::string processes_;  // the folder
  std::vector<Gpu> gpus_;
  std::vector<KfdUse> uses_;
};

}  // namespace vramscope::drm
