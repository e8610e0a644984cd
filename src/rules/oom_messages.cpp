#include "rules/oom_messages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

const char* summary_of_host(const OutOfMemory& event) {
  if (event.framework == "ray") {
    return event.free_bytes && event.total_bytes
               ? N_("Ray killed a process of the program, since the machine's own memory was nearly full: "
                    "{free} of {total} was free. The GPU is not involved.")
               : N_("Ray killed a process of the program, since the machine's own memory was nearly full. "
                    "The GPU is not involved.");
  }
  if (event.asked_bytes) return N_("{asked} of the machine's own memory was asked for. The GPU is not involved.");
  return N_("The system ran out of the machine's own memory and killed a process. The GPU is not involved.");
}

bool is_library_status(const OutOfMemory& event) {
  return event.text.find("_STATUS_ALLOC_FAILED") != std::string::npos;
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
  if (event.program_bytes && event.total_bytes && verdict.missing_bytes) {
    return N_("The compiled program needs {program} in all and the device has {total}: {missing} too much.");
  }
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
  if (event.largest_hole_bytes && verdict.unallocated_bytes && event.free_bytes) {
    return N_(
        "{asked} was asked for. The allocator had {unallocated} reserved and unused, and {free} was free on the "
        "device, but the largest free piece was {hole}.");
  }
  if (event.largest_hole_bytes && verdict.unallocated_bytes) {
    return N_(
        "{asked} was asked for. The allocator had {unallocated} reserved and unused, but the largest free piece was "
        "{hole}. What was free on the device is not told.");
  }
  if (event.free_bytes && verdict.unallocated_bytes) {
    return N_(
        "{asked} was asked for. The allocator had {unallocated} reserved and unused, and {free} was free on the "
        "device: together enough, but no single piece of it.");
  }
  return N_("{asked} was asked for. As much was free in sum, but no single piece of it.");
}

const char* summary_others(const OutOfMemory& event, const OomVerdict& verdict) {
  if (!event.free_bytes) return N_("Other processes held what was missing.");
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
  if (event.asked_tokens && event.fitting_tokens) {
    return N_(
        "A request of {asked_tokens} tokens, as the model allows, has to fit into the cache, and the cache holds "
        "{fitting_tokens}.");
  }
  if (event.asked_bytes && event.allowed_bytes && event.free_bytes) {
    return N_("{asked} was asked for. The device had {free} free, but the program may use {allowed} at most.");
  }
  if (event.asked_bytes && event.allowed_bytes) {
    return N_("{asked} was asked for, and the program may use {allowed} at most.");
  }
  return N_("The program may not use more of the device, by a limit of its own.");
}

const char* summary_unknown(const ExplainedOom& oom) {
  const OutOfMemory& event = oom.event;
  if (event.asked_bytes && event.free_bytes) {
    return N_("{asked} was asked for and {free} was free. These figures do not tell why the request failed.");
  }
  if (event.asked_bytes) {
    return N_("{asked} was asked for. The message does not tell what was free or in use, so the cause cannot be told.");
  }
  if (oom.allocator != nullptr) {
    return N_("The entry of the log does not tell what was asked for, so the cause cannot be told.");
  }
  if (event.framework == "nccl") {
    return N_(
        "NCCL found no room for its buffers. It takes them from the device itself: what PyTorch keeps reserved is "
        "not free for it.");
  }
  if (is_library_status(event)) {
    return N_(
        "A library of CUDA could not get its working memory. Mostly the device is full; sometimes a kernel before "
        "it failed, as by an index out of range, which CUDA_LAUNCH_BLOCKING=1 shows.");
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
  return summary_unknown(oom);
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
  add("program", oom.event.program_bytes);
  if (oom.event.asked_tokens) all.push_back({"asked_tokens", count_value(*oom.event.asked_tokens)});
  if (oom.event.fitting_tokens) all.push_back({"fitting_tokens", count_value(*oom.event.fitting_tokens)});
  return all;
}

}  // namespace

bool is_out_of_host_memory(const OutOfMemory& event) {
  const auto says = [&](const char* part) { return event.text.find(part) != std::string::npos; };
  return event.framework == "linux" || event.framework == "ray" || event.framework == "numpy" || event.device == -1 ||
         says("CPUAllocator") || says("alloc_cpu.cpp") || says("device:CPU");
}

std::string oom_device(const OutOfMemory& event) {
  if (is_out_of_host_memory(event)) return "host";
  if (!event.device) return "?";
  return *event.device < 0 ? "host" : event.device_type + ":" + std::to_string(*event.device);
}

const char* oom_title(const ExplainedOom& oom) {
  if (is_out_of_host_memory(oom.event)) return N_("Out of host memory");
  const Titles titles = titles_of(oom.verdict.cause);
  return oom.event.device ? titles.with_device : titles.alone;
}

Message oom_summary(const ExplainedOom& oom) {
  return {is_out_of_host_memory(oom.event) ? summary_of_host(oom.event) : summary_of(oom), figures(oom)};
}

double oom_confidence(const ExplainedOom& oom) {
  if (oom.verdict.cause != OomCause::unknown) return bounded_confidence(oom.verdict.confidence);
  if (is_library_status(oom.event)) return 0.6;
  return oom.verdict.contradictions.empty() ? 0.9 : 0.5;
}

Message where_oom(const ExplainedOom& oom) {
  const Value device = text_value(oom_device(oom.event));
  if (oom.allocator != nullptr) {
    // From 1, as `vramscope memory --at entry:1` counts.
    return {N_("{device}, entry {entry} of the log"),
            {{"device", device}, {"entry", {static_cast<std::int64_t>(oom.entry) + 1, Unit::none}}}};
  }
  if (oom.event.line == 0) return where_named(oom_device(oom.event));
  const Value line = {oom.event.line, Unit::none};
  if (oom_device(oom.event) == "?") return {N_("line {line}"), {{"line", line}}};
  return {N_("{device}, line {line}"), {{"device", device}, {"line", line}}};
}

}  // namespace vramscope
