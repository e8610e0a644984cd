#include "formats/kineto.h"

#include <algorithm>
#include <iterator>

namespace vramscope::kineto {

namespace {

struct Known {
  std::string_view category;
  SpanKind kind;
};

// The capitalised ones are those of torch 1.8 and 1.9.
constexpr Known kKnown[] = {
    {"cpu_op", SpanKind::cpu_op},
    {"Operator", SpanKind::cpu_op},
    {"user_annotation", SpanKind::annotation},
    {"python_function", SpanKind::python_call},
    {"cuda_runtime", SpanKind::runtime_api},
    {"Runtime", SpanKind::runtime_api},
    {"hip_runtime", SpanKind::runtime_api},
    {"mtia_runtime", SpanKind::runtime_api},
    {"xpu_runtime", SpanKind::runtime_api},
    {"glow_runtime", SpanKind::runtime_api},
    {"privateuse1_runtime", SpanKind::runtime_api},
    {"cuda_driver", SpanKind::driver_api},
    {"hip_driver", SpanKind::driver_api},
    {"xpu_driver", SpanKind::driver_api},
    {"privateuse1_driver", SpanKind::driver_api},
    {"kernel", SpanKind::kernel},
    {"Kernel", SpanKind::kernel},
    {"concurrent_kernel", SpanKind::kernel},
    {"gpu_memcpy", SpanKind::memcpy},
    {"Memcpy", SpanKind::memcpy},
    {"gpu_memset", SpanKind::memset},
    {"Memset", SpanKind::memset},
    {"cuda_sync", SpanKind::sync},
    {"gpu_user_annotation", SpanKind::device_annotation},
    {"mtia_user_annotation", SpanKind::device_annotation},
    {"overhead", SpanKind::overhead},
};

}  // namespace

SpanKind kind_of(std::string_view category) {
  const Known* found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const Known& known) { return known.category == category; });
  return found == std::end(kKnown) ? SpanKind::other : found->kind;
}

bool is_forward_backward(std::string_view category) {
  return category == "fwdbwd" || category == "forward_backward" || category == "async_fwdbwd";
}

}  // namespace vramscope::kineto
