// The scenarios that come along, in the form of docs/scenarios.md. Each shows one state that a user may meet.
#include "devices/backends/sim/scenario.h"

namespace vramscope::sim {

namespace {

struct BuiltIn {
  std::string_view name;
  const char* text;
};

constexpr BuiltIn kScenarios[] = {
    {"healthy", R"(
scenario A training run with steady memory
gpu 0
  name = NVIDIA H100 80GB HBM3
  memory.total = 80GiB
  memory.reserved = 600MiB
  memory.other = 500MiB
  utilization.gpu = 94 + noise 4
  utilization.memory = 41 + noise 5
  temperature.gpu = 0:41 5m:63 + noise 1
  temperature.memory = 0:45 5m:68 + noise 1
  power.draw = 0:120W 1m:560W + noise 25W
  clocks.current.sm = 1830 + noise 30
  process 4101
    name = python3 train.py
    user = alice
    # warm-up, then the rhythm of the steps
    used = 0:2GiB 90s:44GiB + 0:0 4s:6GiB 5s:0 every 5s
    sm = 92 + noise 4
    mem = 40 + noise 4
)"},
    {"leak", R"(
scenario A run whose memory grows by some bytes a step until the GPU is full
gpu 0
  name = NVIDIA A100-SXM4-40GB
  memory.total = 40GiB
  memory.reserved = 500MiB
  memory.other = 450MiB
  utilization.gpu = 88 + noise 6
  utilization.memory = 35 + noise 5
  temperature.gpu = 0:38 4m:59 + noise 1
  power.draw = 0:90W 1m:310W + noise 12W
  process 4242
    name = python3 train.py --epochs 90
    user = alice
    used = 0:6GiB 60s:9GiB 3h:38GiB + 0:0 8s:512MiB 10s:0 every 10s
    sm = 86 + noise 6
    mem = 34 + noise 5
)"},
    {"fragmentation", R"(
scenario Lengths that change from step to step: the cache keeps growing in steps and then stays
gpu 0
  name = NVIDIA GeForce RTX 4090
  memory.total = 24GiB
  memory.reserved = 430MiB
  memory.other = 800MiB
  utilization.gpu = 76 + noise 12
  utilization.memory = 48 + noise 8
  temperature.gpu = 0:40 3m:66 + noise 1
  power.draw = 0:60W 30s:330W + noise 30W
  process 5120
    name = python3 serve.py
    user = bob
    used = 0:5GiB 20s:12GiB 3m:12GiB 182s:16GiB 9m:16GiB 542s:19GiB 25m:19GiB 1502s:21GiB
    sm = 74 + noise 12
)"},
    {"starving", R"(
scenario The memory is full and the GPU waits for data
gpu 0
  name = NVIDIA L40S
  memory.total = 46068MiB
  memory.reserved = 600MiB
  memory.other = 470MiB
  utilization.gpu = 0:4 3s:4 4s:18 5s:4 every 5s + noise 3
  utilization.memory = 3 + noise 2
  temperature.gpu = 44 + noise 1
  power.draw = 92W + noise 4W
  process 6001
    name = python3 finetune.py
    user = carol
    used = 0:30GiB 20s:43GiB
    sm = 7 + noise 5
    mem = 2 + noise 1
)"},
    {"zombie", R"(
scenario Memory held by processes that do no work any more, and memory that no process accounts for
gpu 0
  name = NVIDIA A10
  memory.total = 24GiB
  memory.reserved = 500MiB
  memory.other = 3GiB
  utilization.gpu = 0
  utilization.memory = 0
  temperature.gpu = 36 + noise 1
  power.draw = 58W + noise 1W
  process 7001
    name = python3 train.py
    user = dave
    state = Z
    parent = 6990
    used = 9GiB
    sm = 0
  process 7002
    name = python3 notebook.py
    user = erin
    state = T
    parent = 6800
    used = 5GiB
    sm = 0
  process 7003
    name = python3 worker.py
    user = dave
    state = D
    parent = 1
    used = 2GiB
    sm = 0
)"},
    {"hot", R"(
scenario A card that gets too hot and slows down
gpu 0
  name = NVIDIA GeForce RTX 3090
  memory.total = 24GiB
  memory.reserved = 330MiB
  memory.other = 600MiB
  utilization.gpu = 99
  utilization.memory = 70 + noise 6
  temperature.gpu = 0:58 90s:93 + noise 1
  temperature.slowdown = 92
  temperature.shutdown = 98
  fan.speed = 0:40 60s:100
  power.draw = 0:340W 90s:340W 100s:210W + noise 8W
  clocks.current.sm = 0:1860 85s:1860 90s:1200 + noise 20
  clocks_event_reasons.active = 0:0 84s:0 85s:96
  clocks_event_reasons.sw_thermal_slowdown = 0:0 84999ms:0 85s:1
  clocks_event_reasons.hw_thermal_slowdown = 0:0 84999ms:0 85s:1
  process 8001
    name = python3 render.py
    user = frank
    used = 17GiB
    sm = 99
)"},
    {"lost-gpu", R"(
scenario One of two GPUs falls off the bus after 30 seconds
gpu 0
  name = NVIDIA A100-SXM4-80GB
  memory.total = 80GiB
  memory.reserved = 600MiB
  memory.other = 480MiB
  utilization.gpu = 93 + noise 4
  temperature.gpu = 61 + noise 1
  power.draw = 350W + noise 10W
  process 9000
    name = python3 train.py --rank 0
    user = grace
    used = 61GiB
    sm = 92 + noise 3
gpu 1
  name = NVIDIA A100-SXM4-80GB
  memory.total = 80GiB
  memory.reserved = 600MiB
  memory.other = 480MiB
  utilization.gpu = 93 + noise 4
  temperature.gpu = 64 + noise 1
  power.draw = 352W + noise 10W
  xid.last = 0:0 29999ms:0 30s:79
  lost = 30s
  process 9001
    name = python3 train.py --rank 1
    user = grace
    used = 61GiB
    sm = 92 + noise 3
)"},
    {"node8", R"(
scenario A node of eight GPUs with 160 processes; the last GPU is split by MIG
gpu 0..6
  name = NVIDIA H100 80GB HBM3
  memory.total = 80GiB
  memory.reserved = 600MiB
  memory.other = 500MiB
  utilization.gpu = 90 + noise 9
  utilization.memory = 40 + noise 9
  temperature.gpu = 60 + noise 1
  temperature.memory = 66 + noise 1
  power.draw = 520W + noise 60W
  clocks.current.sm = 1800 + noise 60
  mig.mode.current = 0
  process 20000..20019
    name = python3 rollout.py
    user = heidi
    used = 3GiB + 0:0 9s:400MiB 10s:0 every 10s + noise 4MiB
    sm = 4 + noise 2
    mem = 2 + noise 1
gpu 7
  name = NVIDIA H100 80GB HBM3
  memory.total = 80GiB
  memory.reserved = 600MiB
  memory.other = 100MiB
  temperature.gpu = 52 + noise 1
  temperature.memory = 57 + noise 1
  power.draw = 310W + noise 30W
  clocks.current.sm = 1800 + noise 60
  mig.mode.current = 1
  mig
    name = NVIDIA H100 80GB HBM3 MIG 3g.40gb
    gpu_instance = 1
    memory.total = 40448MiB
  mig
    name = NVIDIA H100 80GB HBM3 MIG 3g.40gb
    gpu_instance = 2
    memory.total = 40448MiB
  process 27000..27009
    name = python3 serve.py
    user = ivan
    used = 3GiB + noise 4MiB
    gpu_instance = 1
    compute_instance = 0
  process 27010..27019
    name = python3 serve.py
    user = judy
    used = 2GiB + noise 4MiB
    gpu_instance = 2
    compute_instance = 0
)"},
};

}  // namespace

std::vector<std::string_view> built_in_names() {
  std::vector<std::string_view> names;
  for (const BuiltIn& scenario : kScenarios) names.push_back(scenario.name);
  return names;
}

const char* built_in(std::string_view name) {
  for (const BuiltIn& scenario : kScenarios) {
    if (scenario.name == name) return scenario.text;
  }
  return nullptr;
}

}  // namespace vramscope::sim
