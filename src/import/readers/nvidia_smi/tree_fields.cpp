#include "import/readers/nvidia_smi/tree_fields.h"

#include <algorithm>

#include "import/readers/nvidia_smi/process_type.h"
#include "import/readers/nvidia_smi/tree_paths.h"

namespace vramscope::nvidia_smi {

void TreeFields::begin_log() {
  end_log();
  log_.begin_moment();
}

// nvidia-smi lists GPUs by their index; of a choice of them (-i) the numbers are not told.
void TreeFields::end_log() {
  end_gpu();
  if (attached_ && *attached_ == static_cast<std::int64_t>(gpus_.size())) {
    for (std::size_t i = 0; i < gpus_.size(); ++i) log_.set_index(gpus_[i], static_cast<std::int64_t>(i));
  }
  gpus_.clear();
  attached_.reset();
}

void TreeFields::begin_gpu(std::string_view bus_id) {
  end_gpu();
  DeviceKey key;
  key.bus_id = bus_id;
  gpu_ = log_.device(key);
  gpus_.push_back(*gpu_);
  log_.set_text(*gpu_, Metric::pci_bus_id, bus_id, {}, 0);
}

void TreeFields::end_gpu() {
  end_process();
  end_mig();
  gpu_.reset();
}

void TreeFields::begin_mig() {
  mig_ = Mig();
  mig_.is_open = true;
}

void TreeFields::begin_process() {
  end_process();
  process_.is_open = true;
  process_.use.device = gpu_.value_or(0);
}

void TreeFields::end_process() {
  if (process_.is_open && process_.pid && gpu_) log_.add_use(process_.use, *process_.pid, process_.name);
  process_ = Process();
}

void TreeFields::log_leaf(std::string_view name, std::string_view text, std::int64_t offset) {
  if (name == "timestamp") {
    const auto time = parse_time(text);
    if (time) {
      log_.set_time(*time, offset);
    } else {
      log_.note("odd_time", offset);
    }
  } else if (name == "driver_version") {
    log_.set_driver(trimmed(text));
  } else if (name == "cuda_version") {
    if (!parse_marker(text)) log_.set_cuda(trimmed(text));
  } else if (name == "attached_gpus") {
    attached_ = parse_whole(text);
  } else {
    log_.unknown_field(name);
  }
}

void TreeFields::process_leaf(std::string_view name, std::string_view text, std::int64_t offset) {
  LogUse& use = process_.use;
  const auto instance = [&](std::int32_t& field) {
    const auto number = parse_whole(text);
    if (number && *number >= 0 && *number < INT32_MAX) field = static_cast<std::int32_t>(*number);
  };
  if (name == "pid" || name == "process_id") {
    process_.pid = parse_whole(text);
    if (!process_.pid || *process_.pid < 0) {
      process_.pid.reset();
      log_.note("odd_value", offset);
    }
  } else if (name == "type") {
    use.type = parse_process_type(text);
  } else if (name == "process_name" || name == "name") {
    process_.name = std::string(text);
  } else if (name == "used_memory" || name == "used_gpu_memory") {
    if (const auto marker = parse_marker(text)) {
      use.used_state = marker->state;
    } else if (const auto bytes = parse_bytes(text)) {
      use.used_bytes = *bytes;
      use.used_state = ValueState::known;
    } else {
      log_.note("odd_value", offset);
    }
  } else if (name == "gpu_instance_id") {
    instance(use.gpu_instance);
  } else if (name == "compute_instance_id") {
    instance(use.compute_instance);
  } else {
    log_.unknown_field("processes/" + std::string(name));
  }
}

void TreeFields::mig_leaf(std::string_view path, std::string_view text, std::int64_t offset) {
  if (path == "index") mig_.index = parse_whole(text);
  if (path == "gpu_instance_id") mig_.gpu_instance = parse_whole(text);
  if (path == "compute_instance_id") mig_.compute_instance = parse_whole(text);
  if (path == "index" || path == "gpu_instance_id" || path == "compute_instance_id") return;
  const auto metric = mig_metric_at(path);
  if (!metric) return log_.unknown_field("mig_device/" + std::string(path));
  if (!mig_.device) mig_.device = log_.mig_device(*gpu_, mig_.index, mig_.gpu_instance, mig_.compute_instance);
  log_.set_text(*mig_.device, *metric, text, {}, offset);
}

void TreeFields::leaf(std::string_view path, std::string_view text, std::int64_t offset) {
  if (!gpu_) return;
  if (process_.is_open) return process_leaf(path.substr(path.rfind('/') + 1), text, offset);
  if (mig_.is_open) return mig_leaf(path, text, offset);
  if (path == "processes") {
    // "N/A" is no list; "None", and nothing at all, is one without processes.
    if (trimmed(text) != "N/A") log_.list_processes();
    return;
  }
  const auto metric = metric_at(path);
  if (!metric) return log_.unknown_field(path);
  if (*metric == Metric::uuid) log_.learn_uuid(*gpu_, text);
  log_.set_text(*gpu_, *metric, text, {}, offset);
}

}  // namespace vramscope::nvidia_smi
