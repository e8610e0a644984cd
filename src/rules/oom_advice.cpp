// What to do about an allocation that failed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "rules/arguments.h"
#include "rules/oom_messages.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

std::vector<Message> host_advice() {
  return {
      {N_("Use fewer data loader workers (num_workers) or a smaller prefetch_factor: each worker keeps batches and a "
          "copy of the data set's Python objects."),
       {}},
      {N_("Map large files instead of reading them (numpy.memmap, torch.load(mmap=True)), and give the job or the "
          "container more memory."),
       {}}};
}

Message smaller_batch(const ExplainedOom& oom) {
  const std::optional<double>& factor = oom.verdict.batch_factor;
  if (!factor) return {N_("Use a smaller batch."), {}};
  if (*factor >= 0.99) {
    return {
        N_("Use a slightly smaller batch: {must_go} less in use would have let this request through, but later ones "
           "may need more."),
        {{"must_go", bytes_value(oom.verdict.must_go_bytes.value_or(0))}}};
  }
  return {
      N_("Use a smaller batch: at most {factor} of today's can fit. Weights do not shrink with the batch, so less of "
         "it does."),
      {{"factor", share_value(*factor)}}};
}

std::string process_list(const OomVerdict& verdict) {
  constexpr std::size_t kMost = 4;
  std::vector<ProcessMemory> others = verdict.others;
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string list;
  for (std::size_t i = 0; i < std::min(kMost, others.size()); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(others[i].pid);
  }
  return list;
}

Message stop_others(const OomVerdict& verdict) {
  const std::string list = process_list(verdict);
  if (list.empty()) {
    return {N_("Stop the other processes on this device (nvidia-smi lists them), or use another device."), {}};
  }
  return {
      N_("Stop other processes on this device that are not needed (process {list}), or use another device. A notebook "
         "or a crashed run may still hold memory."),
      {{"list", text_value(list)}}};
}

Message free_cache(const OomVerdict& verdict) {
  if (!verdict.unallocated_bytes) return {N_("Call torch.cuda.empty_cache() before this request."), {}};
  return {N_("Call torch.cuda.empty_cache() before this request: {bytes} is reserved and not allocated."),
          {{"bytes", bytes_value(*verdict.unallocated_bytes)}}};
}

Message raise_cap(const OutOfMemory& event) {
  if (event.framework == "vllm") return {N_("Raise gpu_memory_utilization, where the card has more memory free."), {}};
  if (event.framework == "cupy") {
    return {N_("Raise the limit of CuPy's pool (cupy.get_default_memory_pool().set_limit(), or the variable "
               "CUPY_GPU_MEMORY_LIMIT)."),
            {}};
  }
  if (event.framework == "jax") return {N_("Raise the share that JAX takes (XLA_PYTHON_CLIENT_MEM_FRACTION)."), {}};
  if (event.framework == "tensorflow") {
    return {N_("Raise the limit that the program gave TensorFlow (memory_limit of "
               "tf.config.set_logical_device_configuration, or per_process_gpu_memory_fraction)."),
            {}};
  }
  if (event.text.find("MPS backend") != std::string::npos) {
    return {
        N_("Raise the limit: PYTORCH_MPS_HIGH_WATERMARK_RATIO is a factor on what the system recommends; 0 takes it "
           "away, and the machine may then swap."),
        {}};
  }
  return {N_("Raise the limit that the program has set (torch.cuda.set_per_process_memory_fraction, or the framework's "
             "own)."),
          {}};
}

Message expandable_segments(const ExplainedOom& oom) {
  Arguments arguments = {{"variable", text_value(settings_variable(oom.event))}};
  const std::int64_t must_go = oom.verdict.must_go_bytes.value_or(0);
  if (must_go > 0) {
    arguments.push_back({"must_go", bytes_value(must_go)});
    return {N_("Set {variable}=expandable_segments:True before the program starts, so that free pieces can be joined: "
               "not enough alone, {must_go} of what is allocated has to go, too."),
            std::move(arguments)};
  }
  return {N_("Set {variable}=expandable_segments:True before the program starts, so that free pieces can be joined."),
          std::move(arguments)};
}

Message checkpoint_activations(const OutOfMemory& event) {
  if (event.framework == "jax") {
    return {N_("Compute activations again in the backward pass instead of keeping them (jax.checkpoint)."), {}};
  }
  if (event.framework == "tensorflow") {
    return {N_("Compute activations again in the backward pass instead of keeping them (tf.recompute_grad)."), {}};
  }
  return {N_("Compute activations again in the backward pass instead of keeping them (torch.utils.checkpoint)."), {}};
}

}  // namespace

Message oom_advice_message(OomAdvice advice, const ExplainedOom& oom) {
  switch (advice) {
    case OomAdvice::smaller_batch:
      if (oom.event.framework == "llama.cpp") {
        return {
            N_("Put fewer layers on the card (--n-gpu-layers), or use a shorter context or a smaller quantization."),
            {}};
      }
      return smaller_batch(oom);
    case OomAdvice::expandable_segments:
      return expandable_segments(oom);
    case OomAdvice::max_split_size:
      return {N_("Set {variable}=max_split_size_mb:{limit} (or another limit below the large requests), so "
                 "that small requests do not cut large free blocks."),
              {{"variable", text_value(settings_variable(oom.event))},
               {"limit", {split_limit_mib(oom.event.asked_bytes.value_or(0)), Unit::none}}}};
    case OomAdvice::stop_other_processes:
      return stop_others(oom.verdict);
    case OomAdvice::raise_cap:
      return raise_cap(oom.event);
    case OomAdvice::lower_framework_share:
      return {N_("Lower the share that the framework takes at its start (gpu_memory_utilization of vLLM, "
                 "XLA_PYTHON_CLIENT_MEM_FRACTION of JAX)."),
              {}};
    case OomAdvice::checkpoint_activations:
      return checkpoint_activations(oom.event);
    case OomAdvice::fewer_graphs:
      return {
          N_("{pools} of what is allocated is in private pools, as CUDA graphs keep them: capture fewer batch sizes, "
             "let graphs share a pool (torch.cuda.graph(pool=...)), or run without graphs."),
          {{"pools", bytes_value(oom.event.private_pool_bytes.value_or(0))}}};
    case OomAdvice::shorter_sequences:
      if (oom.event.framework == "vllm" && oom.event.fitting_tokens) {
        return {N_("Set max_model_len to {fitting_tokens} at most, where requests are shorter than that."),
                {{"fitting_tokens", {*oom.event.fitting_tokens, Unit::none}}}};
      }
      if (oom.event.framework == "vllm")
        return {N_("Lower max_model_len or max_num_seqs, so that less cache is needed."), {}};
      if (oom.event.asked_bytes && oom.event.total_bytes && *oom.event.asked_bytes <= *oom.event.total_bytes) {
        return {N_("The request is large for one tensor ({asked}): shorten the sequences, or split it."),
                {{"asked", bytes_value(*oom.event.asked_bytes)}}};
      }
      return {N_("The request alone is too large: shorten the sequences, or split the tensor."), {}};
    case OomAdvice::another_device:
      return {N_("Use another device: others of this machine are nearly empty."), {}};
    case OomAdvice::free_cache:
      return free_cache(oom.verdict);
    case OomAdvice::windows_shared_memory:
      return {N_("More is allocated than the card has: Windows lends system memory, which is slow. Use less memory, or "
                 "switch the sysmem fallback off in the driver's settings to fail early."),
              {}};
  }
  return {};
}

std::vector<Message> oom_advice(const ExplainedOom& oom) {
  if (is_out_of_host_memory(oom.event)) return host_advice();
  std::vector<Message> all;
  for (const OomAdvice advice : oom.verdict.advice) all.push_back(oom_advice_message(advice, oom));
  return all;
}

std::string oom_command(const ExplainedOom& oom) {
  if (oom.verdict.advice.empty()) return {};
  const std::string set = "export " + settings_variable(oom.event) + "=";
  if (oom.verdict.advice.front() == OomAdvice::expandable_segments) return set + "expandable_segments:True";
  if (oom.verdict.advice.front() == OomAdvice::max_split_size) {
    return set + "max_split_size_mb:" + std::to_string(split_limit_mib(oom.event.asked_bytes.value_or(0)));
  }
  return {};
}

}  // namespace vramscope
