#pragma once
// What `nvidia-smi -q` and `-q -x` have in common: a tree of names with a text at each leaf, taken leaf by leaf. The
// two parsers find the tree, this finds the sense. Not thread-safe.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/readers/nvidia_smi/log_builder.h"

namespace vramscope::nvidia_smi {

class TreeFields {
 public:
  explicit TreeFields(LogBuilder& log) : log_(log) {}

  // One call of nvidia-smi: a moment.
  void begin_log();
  void end_log();
  void begin_gpu(std::string_view bus_id);
  void end_gpu();
  void begin_mig();
  void end_mig() { mig_ = Mig(); }
  void list_processes() { log_.list_processes(); }
  void begin_process();
  void end_process();

  bool is_in_gpu() const { return gpu_.has_value(); }
  // A leaf outside of GPUs: "driver_version".
  void log_leaf(std::string_view name, std::string_view text, std::int64_t offset);
  // Of the GPU, or of the MIG device or process that has begun. `path`: below it, names joined with '/'.
  void leaf(std::string_view path, std::string_view text, std::int64_t offset);

 private:
  struct Mig {
    bool is_open = false;
    std::optional<std::int64_t> index, gpu_instance, compute_instance;
    std::optional<std::uint32_t> device;
  };
  struct Process {
    bool is_open = false;
    std::optional<std::int64_t> pid;
    std::string name;
    LogUse use;
  };
  void mig_leaf(std::string_view path, std::string_view text, std::int64_t offset);
  void process_leaf(std::string_view name, std::string_view text, std::int64_t offset);

  LogBuilder& log_;
  std::vector<std::uint32_t> gpus_;  // of the open log, in its order
  std::optional<std::int64_t> attached_;
  std::optional<std::uint32_t> gpu_;
  Mig mig_;
  Process process_;
};

}  // namespace vramscope::nvidia_smi
