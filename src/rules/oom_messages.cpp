#include "rules/oom_messages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// The machine's own memory, not a card's.
bool is_host_memory(const OutOfMemory& event) {
  const auto says = [&](const char* part) { return event.text.find(part) != std::string::npos; };
  return event.framework == "linux" || event.framework == "numpy" || event.device == -1 || says("CPUAllocator") ||
         says("alloc_cpu.cpp") || says("device:CPU");
}

const char* summary_of_host(const OutOfMemory& event) {
  if (event.asked_bytes) return N_("{asked} of the machine's own memory was asked for. The GPU is not involved.");
  return N_("The system ran out of the machine's own memory and killed a process. The GPU is not involved.");
}

std::vector<Message> host_advice() {
  return {
      {N_("Use fewer data loader workers (num_workers) or a smaller prefetch_factor: each worker keeps batches and a "
          "copy of the data set's Python objects."),
       {}},
      {N_("Map large files instead of reading them (numpy.memmap, torch.load(mmap=True)), and give the job or the "
          "container more memory."),
       {}}};
}

struct Titles {
  const char* with_device;
  const char* alone;
};

Titles titles_of(OomCause cause) {
  switch (cause) {
    case OomCause::exhausted:
      return {N_("Out of memory on {device}: this process needs more than there is"),
              N_("Out of memory: the process needs more than there is")};
    case OomCause::fragmented:
      return {N_("Out of memory on {device}: enough is free, but in pieces"),
              N_("Out of memory: enough is free, but in pieces")};
    case OomCause::held_by_others:
      return {N_("Out of memory on {device}: other processes hold what is missing"),
              N_("Out of memory: other processes hold what is missing")};
    case OomCause::capped:
      return {N_("Out of memory on {device}: a limit was reached, not the end of the device"),
              N_("Out of memory: a limit was reached, not the end of the device")};
    case OomCause::unknown:
      break;
  }
  return {N_("Out of memory on {device}"), N_("Out of memory")};
}

const char* summary_exhausted(const OutOfMemory& event, const OomVerdict& verdict) {
  if (event.asked_bytes && event.total_bytes && *event.asked_bytes > *event.total_bytes) {
    return N_(
        "{asked} was asked for in one piece, more than the whole device has ({total}). No setting makes room for "
        "it.");
  }
  if (event.asked_bytes && event.free_bytes && event.allocated_bytes && verdict.missing_bytes) {
    return verdict.unallocated_bytes
               ? N_("{asked} was asked for and {free} was free. The process itself had {allocated} in use and "
                    "{unallocated} more reserved, which would not have been enough either.")
               : N_("{asked} was asked for and {free} was free. The process itself had {allocated} in use.");
  }
  if (event.asked_bytes && event.free_bytes) return N_("{asked} was asked for and {free} was free.");
  if (event.asked_bytes) return N_("{asked} was asked for, more than there was room for.");
  return N_("More memory was asked for than there was room for.");
}

const char* summary_fragmented(const OutOfMemory& event, const OomVerdict& verdict) {
  if (event.largest_hole_bytes && verdict.unallocated_bytes) {
    return N_(
        "{asked} was asked for. The allocator had {unallocated} reserved and unused, and {free} was free on the "
        "device, but the largest free piece was {hole}.");
  }
  if (event.free_bytes && verdict.unallocated_bytes) {
    return N_(
        "{asked} was asked for. The allocator had {unallocated} reserved and unused, and {free} was free on the "
        "device: together enough, but no single piece of it.");
  }
  return N_("{asked} was asked for. As much was free in sum, but no single piece of it.");
}

const char* summary_others(const OutOfMemory& event, const OomVerdict& verdict) {
  if (!event.asked_bytes && event.allowed_bytes && event.free_bytes) {
    return N_("The program wants {allowed} at its start and {free} was free: others hold the rest of the device.");
  }
  if (event.asked_bytes && verdict.others_bytes && verdict.missing_bytes.value_or(1) == 0) {
    return N_(
        "{asked} was asked for and {free} was free when that was read. The device was nearly full, and other "
        "processes held {others} of it.");
  }
  if (event.asked_bytes && verdict.others_bytes) {
    return N_(
        "{asked} was asked for and {free} was free. Other processes held {others} of this device; without them "
        "the request would have been met.");
  }
  if (event.asked_bytes && verdict.held_outside_bytes) {
    return N_(
        "{asked} was asked for and {free} was free. {outside} of this device was in use outside this process's "
        "allocator, more than its own context explains.");
  }
  return N_("Other processes held what was missing.");
}

const char* summary_capped(const OutOfMemory& event) {
  if (event.asked_bytes && event.allowed_bytes && event.free_bytes) {
    return N_("{asked} was asked for. The device had {free} free, but the program may use {allowed} at most.");
  }
  if (event.asked_bytes && event.allowed_bytes) {
    return N_("{asked} was asked for, and the program may use {allowed} at most.");
  }
  return N_("The program may not use more of the device, by a limit of its own.");
}

const char* summary_unknown(const OutOfMemory& event) {
  if (event.asked_bytes && event.free_bytes) {
    return N_("{asked} was asked for and {free} was free. These figures do not tell why the request failed.");
  }
  if (event.asked_bytes) {
    return N_("{asked} was asked for. The message does not tell what was free or in use, so the cause cannot be told.");
  }
  return N_(
      "The message tells no figures, so the cause cannot be told. The message of the framework itself, if there "
      "is one further down, tells more.");
}

const char* summary_of(const ExplainedOom& oom) {
  switch (oom.verdict.cause) {
    case OomCause::exhausted:
      return summary_exhausted(oom.event, oom.verdict);
    case OomCause::fragmented:
      return summary_fragmented(oom.event, oom.verdict);
    case OomCause::held_by_others:
      return summary_others(oom.event, oom.verdict);
    case OomCause::capped:
      return summary_capped(oom.event);
    case OomCause::unknown:
      break;
  }
  return summary_unknown(oom.event);
}

Arguments figures(const ExplainedOom& oom) {
  Arguments all = {{"device", text_value(oom_device(oom.event))}};
  const auto add = [&](const char* name, const std::optional<std::int64_t>& bytes) {
    if (bytes) all.push_back({name, bytes_value(*bytes)});
  };
  add("asked", oom.event.asked_bytes);
  add("free", oom.event.free_bytes);
  add("total", oom.event.total_bytes);
  add("allocated", oom.event.allocated_bytes);
  add("allowed", oom.event.allowed_bytes);
  add("hole", oom.event.largest_hole_bytes);
  add("unallocated", oom.verdict.unallocated_bytes);
  add("others", oom.verdict.others_bytes);
  add("outside", oom.verdict.held_outside_bytes);
  add("missing", oom.verdict.missing_bytes);
  return all;
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

std::string process_list(const OutOfMemory& event) {
  constexpr std::size_t kMost = 4;
  std::vector<ProcessMemory> others = event.others;
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string list;
  for (std::size_t i = 0; i < std::min(kMost, others.size()); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(others[i].pid);
  }
  return list;
}

Message stop_others(const OutOfMemory& event) {
  const std::string list = process_list(event);
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

Message advice_message(OomAdvice advice, const ExplainedOom& oom) {
  switch (advice) {
    case OomAdvice::smaller_batch:
      if (oom.event.framework == "llama.cpp") {
        return {
            N_("Put fewer layers on the card (--n-gpu-layers), or use a shorter context or a smaller quantization."),
            {}};
      }
      return smaller_batch(oom);
    case OomAdvice::expandable_segments:
      return {N_("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts, so that free pieces "
                 "can be joined."),
              {}};
    case OomAdvice::max_split_size:
      return {N_("Set PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512 (or another limit below the large requests), so "
                 "that small requests do not cut large free blocks."),
              {}};
    case OomAdvice::stop_other_processes:
      return stop_others(oom.event);
    case OomAdvice::raise_cap:
      return raise_cap(oom.event);
    case OomAdvice::lower_framework_share:
      return {N_("Lower the share that the framework takes at its start (gpu_memory_utilization of vLLM, "
                 "XLA_PYTHON_CLIENT_MEM_FRACTION of JAX)."),
              {}};
    case OomAdvice::checkpoint_activations:
      return {N_("Compute activations again in the backward pass instead of keeping them (torch.utils.checkpoint)."),
              {}};
    case OomAdvice::shorter_sequences:
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

}  // namespace

std::string oom_device(const OutOfMemory& event) {
  if (is_host_memory(event)) return "host";
  if (!event.device) return "?";
  return *event.device < 0 ? "host" : "cuda:" + std::to_string(*event.device);
}

const char* oom_title(const ExplainedOom& oom) {
  if (is_host_memory(oom.event)) return N_("Out of host memory");
  const Titles titles = titles_of(oom.verdict.cause);
  return oom.event.device ? titles.with_device : titles.alone;
}

Message oom_summary(const ExplainedOom& oom) {
  return {is_host_memory(oom.event) ? summary_of_host(oom.event) : summary_of(oom), figures(oom)};
}

std::vector<Message> oom_advice(const ExplainedOom& oom) {
  if (is_host_memory(oom.event)) return host_advice();
  std::vector<Message> all;
  for (const OomAdvice advice : oom.verdict.advice) all.push_back(advice_message(advice, oom));
  return all;
}

const char* oom_command(const OomVerdict& verdict) {
  if (verdict.advice.empty()) return "";
  if (verdict.advice.front() == OomAdvice::expandable_segments) {
    return "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  }
  if (verdict.advice.front() == OomAdvice::max_split_size) {
    return "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512";
  }
  return "";
}

Message where_oom(const ExplainedOom& oom) {
  const Value device = text_value(oom_device(oom.event));
  if (oom.allocator != nullptr) {
    return {N_("{device}, entry {entry} of the log"),
            {{"device", device}, {"entry", {static_cast<std::int64_t>(oom.entry), Unit::none}}}};
  }
  if (oom.event.line == 0) return where_named(oom_device(oom.event));
  const Value line = {oom.event.line, Unit::none};
  if (oom_device(oom.event) == "?") return {N_("line {line}"), {{"line", line}}};
  return {N_("{device}, line {line}"), {{"device", device}, {"line", line}}};
}

}  // namespace vramscope
