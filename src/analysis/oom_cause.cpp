#include "analysis/oom_cause.h"

#include <algorithm>

#include "analysis/memory_sums.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using Bytes = std::optional<std::int64_t>;

// Messages print two decimals of GiB: two such figures are up to 10.3 MiB off their sum.
constexpr std::int64_t kPrintedSlackBytes = 11 << 20;
// By this much a hole can look larger than it is, see holes_after.
constexpr std::int64_t kHoleSlackBytes = 1 << 20;
// A process's context and libraries, which no allocator counts: claims on other processes leave room for them.
constexpr std::int64_t kContextBytes = 1 << 30;
// Others that hold less of the device than this are the desktop and the like, not what ran it full.
constexpr std::int64_t kNotableShare = 10;  // one tenth

constexpr const char* kLent = N_("More is allocated than the device has: system memory is in use too.");
constexpr const char* kFreeOverTotal = N_("More is free than the device has.");
constexpr const char* kTooManyParts =
    N_("What is free, what this process has and what other processes have is more than the device has.");
constexpr const char* kReservedBelowAllocated = N_("Less is reserved than is allocated.");
constexpr const char* kHadRoom =
    N_("The device had room for what was asked when its free memory was read, after the failure.");
constexpr const char* kHadHole = N_("A free piece was large enough for what was asked.");
constexpr const char* kUnreadable = N_("Figures of the message are cut off or make no sense.");
constexpr const char* kOthersTooLarge = N_(
    "A process is said to hold more than is in use beside this one: it may be this process itself, which has another "
    "process ID outside its container.");
constexpr const char* kNothingAsked = N_("Nothing was asked for.");

Bytes known(const Bytes& bytes) {
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

class Judge {
 public:
  Judge(const OutOfMemory& event, const std::map<std::string, std::string>& settings)
      : event_(event), settings_(settings) {
    if (!event.allocator_settings.empty()) settings_["PYTORCH_CUDA_ALLOC_CONF"] = event.allocator_settings;
  }

  OomVerdict run() {
    take_figures();
    find_own_process();
    leave_out_impossible();
    derive();
    check();
    decide();
    const bool doubts = !verdict_.contradictions.empty() && !is_lent();
    if (doubts) verdict_.confidence = std::min(verdict_.confidence, 0.5);
    return std::move(verdict_);
  }

 private:
  void take_figures() {
    slack_ = event_.text.empty() ? 0 : kPrintedSlackBytes;
    asked_ = known(event_.asked_bytes);
    total_ = known(event_.total_bytes);
    free_ = known(event_.free_bytes);
    allocated_ = known(event_.allocated_bytes);
    reserved_ = known(event_.reserved_bytes);
    process_ = known(event_.process_bytes);
    allowed_ = known(event_.allowed_bytes);
    if (total_ && *total_ == 0) total_.reset();
    for (const ProcessMemory& other : event_.others) {
      if (other.bytes < 0) continue;
      verdict_.others.push_back(other);
      named_bytes_ = add_bytes(named_bytes_, other.bytes);
    }
    // Frameworks that take their memory at the start and share it out themselves.
    is_arena_ = event_.framework == "tensorflow" || event_.framework == "jax";
    // cudaMallocAsync has no segments of PyTorch's.
    is_pytorch_ = (event_.framework.empty() || event_.framework == "pytorch") &&
                  (event_.device_type == "cuda" || !event_.settings_variable.empty()) &&
                  !contains(event_.text, "CPUAllocator") && !contains(event_.text, "according to CUDA");
  }

  // In a container PyTorch cannot tell its own process from others: then one of those named is this one, if all of
  // them together are what the device has in use.
  void find_own_process() {
    verdict_.process_bytes = process_;
    const Bytes least = reserved_ ? reserved_ : allocated_;
    if (process_ || !least || !total_ || !free_ || verdict_.others.empty()) return;
    const std::int64_t used = subtract_bytes(*total_, *free_);
    const std::int64_t with_own = add_bytes(named_bytes_, *least);
    if (with_own <= add_bytes(used, slack_)) return;  // there is room for this process beside them
    auto own = verdict_.others.end();
    for (auto other = verdict_.others.begin(); other != verdict_.others.end(); ++other) {
      if (other->bytes < subtract_bytes(*least, slack_)) continue;
      if (own == verdict_.others.end() || other->bytes < own->bytes) own = other;
    }
    if (own == verdict_.others.end()) return;
    process_ = own->bytes;
    verdict_.process_bytes = process_;
    named_bytes_ = subtract_bytes(named_bytes_, own->bytes);
    verdict_.others.erase(own);
  }

  // No other process holds what the device cannot have in use beside this one.
  void leave_out_impossible() {
    if (!total_ || !free_ || verdict_.others.empty() || is_lent()) return;
    const std::int64_t own = std::max(process_.value_or(0), reserved_.value_or(allocated_.value_or(0)));
    const std::int64_t beside = subtract_bytes(subtract_bytes(*total_, *free_), own);
    const std::int64_t most = std::max<std::int64_t>(add_bytes(beside, add_bytes(slack_, *total_ / 100)), 0);
    const auto first = std::stable_partition(verdict_.others.begin(), verdict_.others.end(),
                                             [&](const ProcessMemory& other) { return other.bytes <= most; });
    if (first == verdict_.others.end()) return;
    verdict_.others.erase(first, verdict_.others.end());
    contradict(kOthersTooLarge);
    named_bytes_ = 0;
    for (const ProcessMemory& other : verdict_.others) named_bytes_ = add_bytes(named_bytes_, other.bytes);
  }

  void derive() {
    if (reserved_ && allocated_ && *reserved_ >= *allocated_) verdict_.unallocated_bytes = *reserved_ - *allocated_;
    if (is_arena_ && allowed_ && allocated_ && !reserved_ && *allowed_ >= *allocated_) {
      verdict_.unallocated_bytes = *allowed_ - *allocated_;
    }
    if (total_ && free_ && reserved_ && !is_lent()) {
      const std::int64_t outside = subtract_bytes(subtract_bytes(*total_, *free_), *reserved_);
      if (outside >= 0) verdict_.held_outside_bytes = outside;
    }
    if (!verdict_.others.empty() || (!event_.others.empty() && process_ && !event_.process_bytes)) {
      verdict_.others_bytes = named_bytes_;
    } else if (total_ && free_ && process_) {
      verdict_.others_bytes = std::max<std::int64_t>(subtract_bytes(subtract_bytes(*total_, *free_), *process_), 0);
    }
    set_room(free_);
  }

  // Of the driver: the allocator takes whole segments. asked_ is there.
  std::int64_t needed() const { return std::max(known(event_.driver_bytes).value_or(*asked_), *asked_); }

  // Free pieces in one, or together with what the driver gives.
  bool fits_when_joined(std::int64_t unallocated, std::int64_t room) const {
    return unallocated >= *asked_ || add_bytes(unallocated, room) >= needed();
  }

  // What a request could have taken of the device, or of the cap; sets what depends on it.
  void set_room(const Bytes& room) {
    room_ = room;
    if (!asked_ || !room_) return;
    verdict_.missing_bytes = std::max<std::int64_t>(subtract_bytes(needed(), *room_), 0);
    const std::int64_t unallocated = verdict_.unallocated_bytes.value_or(0);
    // A hole of what was asked, or room for a segment.
    const std::int64_t of_driver = subtract_bytes(subtract_bytes(needed(), *room_), unallocated);
    const bool is_segment = needed() > *asked_;
    const std::int64_t must_go = is_segment ? std::min(subtract_bytes(*asked_, unallocated), of_driver) : of_driver;
    verdict_.must_go_bytes = std::max<std::int64_t>(must_go, 0);
    if (!allocated_) return;
    const double fits =
        static_cast<double>(*allocated_) + static_cast<double>(unallocated) + static_cast<double>(*room_);
    const double needs = static_cast<double>(*allocated_) + static_cast<double>(*asked_);
    if (needs > 0 && fits < needs) verdict_.batch_factor = fits / needs;
  }

  bool is_lent() const {
    return total_ && ((allocated_ && *allocated_ > add_bytes(*total_, slack_)) ||
                      (reserved_ && *reserved_ > add_bytes(*total_, slack_)));
  }

  void contradict(const char* what) { verdict_.contradictions.push_back(what); }

  void check() {
    if (asked_ && *asked_ == 0) contradict(kNothingAsked);
    if (!asked_ && contains(event_.text, "ried to allocate")) contradict(kUnreadable);
    if (reserved_ && allocated_ && *reserved_ < subtract_bytes(*allocated_, slack_))
      contradict(kReservedBelowAllocated);
    if (!total_) return;
    if (is_lent()) {
      contradict(kLent);
      return;
    }
    if (free_ && *free_ > add_bytes(*total_, slack_)) {
      contradict(kFreeOverTotal);
      return;
    }
    const std::int64_t own = std::max(process_.value_or(0), reserved_.value_or(allocated_.value_or(0)));
    const std::int64_t parts = add_bytes(add_bytes(free_.value_or(0), own), named_bytes_);
    if (parts > add_bytes(*total_, add_bytes(slack_, *total_ / 100))) contradict(kTooManyParts);
  }

  void decide() {
    if (event_.framework == "ray") return;  // the host's memory
    if (known(event_.program_bytes)) return decide_program();
    if (!asked_ || *asked_ == 0) return decide_without_request();
    if (total_ && *asked_ > add_bytes(*total_, slack_)) {
      conclude(OomCause::exhausted, 0.95);
      return advise({OomAdvice::shorter_sequences, OomAdvice::smaller_batch});
    }
    if (is_arena_ && allowed_ && allocated_) return decide_arena();
    if (event_.framework == "vllm" && allowed_ && !allocated_ && *asked_ > *allowed_) {
      // The KV cache gets what the share of the device leaves for it.
      conclude(OomCause::capped, 0.8);
      return advise({OomAdvice::raise_cap, OomAdvice::shorter_sequences});
    }
    if (is_capped()) {
      conclude(OomCause::capped, 0.9);
      return advise({OomAdvice::raise_cap, OomAdvice::expandable_segments, OomAdvice::smaller_batch});
    }
    if (is_lent()) {
      conclude(OomCause::exhausted, 0.7);
      return advise({OomAdvice::smaller_batch, OomAdvice::checkpoint_activations});
    }
    const Bytes hole = known(event_.largest_hole_bytes);
    if (hole && subtract_bytes(*hole, kHoleSlackBytes) >= *asked_) {
      contradict(kHadHole);
      return advise({OomAdvice::smaller_batch});
    }
    if (is_arena_ && hole && free_ && *free_ >= *asked_) {
      conclude(OomCause::fragmented, 0.9);
      return advise({OomAdvice::smaller_batch});
    }
    if (free_ && *free_ >= needed()) return decide_with_room();
    const Bytes unallocated = verdict_.unallocated_bytes;
    if (unallocated && fits_when_joined(*unallocated, free_.value_or(0))) {
      // PyTorch gives wholly free segments back before it fails, so what is left lies beside live blocks. Free memory
      // of the device can be joined with it by expandable segments alone.
      double confidence = free_ && (hole || *unallocated >= *asked_) ? 0.9 : 0.75;
      // Then what is left are pieces of pages, or memory of other streams and pools: not for certain.
      if (!hole && has_expandable_segments(settings_)) confidence = 0.6;
      conclude(OomCause::fragmented, confidence);
      return advise({OomAdvice::expandable_segments, OomAdvice::max_split_size, OomAdvice::smaller_batch});
    }
    if (others_hold_enough()) return advise_others();
    decide_exhausted();
  }

  // A compiler's message: what the program needs in all, before it runs.
  void decide_program() {
    const std::int64_t needs = *known(event_.program_bytes);
    if (!total_ || needs <= *total_) return advise({OomAdvice::smaller_batch});
    verdict_.missing_bytes = needs - *total_;
    verdict_.batch_factor = static_cast<double>(*total_) / static_cast<double>(needs);
    conclude(OomCause::exhausted, 0.95);
    advise({OomAdvice::smaller_batch, OomAdvice::checkpoint_activations});
  }

  void decide_without_request() {
    // vLLM at its start: the share that it wants is more than what is free.
    if (allowed_ && free_ && total_ && *allowed_ > *free_ && *allowed_ <= *total_) {
      conclude(OomCause::held_by_others, 0.8);
      return advise({OomAdvice::stop_other_processes, OomAdvice::lower_framework_share});
    }
    if (event_.framework == "vllm") {
      conclude(OomCause::capped, 0.6);
      return advise({OomAdvice::raise_cap, OomAdvice::shorter_sequences});
    }
    if (event_.framework == "linux") return;  // the host's memory: nothing here is about it
    if (event_.framework == "nccl") return advise({OomAdvice::free_cache, OomAdvice::smaller_batch});
    advise({OomAdvice::smaller_batch});
  }

  void decide_arena() {
    const std::int64_t left = std::max<std::int64_t>(subtract_bytes(*allowed_, *allocated_), 0);
    set_room(free_.value_or(0));
    if (left >= *asked_) {
      conclude(OomCause::fragmented, 0.7);
      return advise({OomAdvice::smaller_batch});
    }
    if (free_ && *free_ >= *asked_) {
      conclude(OomCause::capped, 0.8);
      return advise({OomAdvice::raise_cap, OomAdvice::smaller_batch});
    }
    decide_exhausted();
  }

  // The allocator asks for the cap before it asks the driver.
  bool is_capped() {
    if (!allowed_ || is_arena_) return false;
    // MPS tells what the process has outside the allocator, and its cap is for both.
    const Bytes used = reserved_ ? reserved_ : (process_ ? process_ : allocated_);
    if (!used) return false;
    const std::int64_t room = std::max<std::int64_t>(subtract_bytes(*allowed_, *used), 0);
    const bool is_over = add_bytes(*used, *asked_) > subtract_bytes(*allowed_, slack_);
    if (!is_over || (free_ && *free_ < *asked_)) return false;
    set_room(room);
    return true;
  }

  void decide_with_room() {
    contradict(kHadRoom);
    const bool is_full = total_ && *free_ < *total_ / kNotableShare;
    if (is_full && verdict_.others_bytes && *verdict_.others_bytes >= *total_ / kNotableShare) {
      conclude(OomCause::held_by_others, 0.5);
      return advise({OomAdvice::stop_other_processes, OomAdvice::smaller_batch});
    }
    advise({});
  }

  bool others_hold_enough() const {
    if (!total_ || !verdict_.missing_bytes) return false;
    const Bytes others = surely_others();
    return others && *others >= *verdict_.missing_bytes && *others >= *total_ / kNotableShare;
  }

  // What is other processes' for sure: named ones, or what no context can explain.
  Bytes surely_others() const {
    if (verdict_.others_bytes) return verdict_.others_bytes;
    if (!verdict_.held_outside_bytes) return std::nullopt;
    return subtract_bytes(*verdict_.held_outside_bytes, kContextBytes);
  }

  void advise_others() {
    conclude(OomCause::held_by_others, verdict_.others_bytes ? 0.9 : 0.6);
    advise({OomAdvice::stop_other_processes, OomAdvice::smaller_batch});
  }

  void decide_exhausted() {
    if (!room_ && !(total_ && (reserved_ || allocated_))) return advise({OomAdvice::smaller_batch});
    conclude(OomCause::exhausted, total_ || allocated_ ? 0.9 : 0.5);
    std::vector<OomAdvice> all = {OomAdvice::smaller_batch, OomAdvice::checkpoint_activations};
    if (total_ && *asked_ >= *total_ / 2) all.insert(all.begin(), OomAdvice::shorter_sequences);
    // What graphs keep would do. Less of them first costs speed alone.
    const Bytes pools = known(event_.private_pool_bytes);
    if (pools && *pools > 0 && verdict_.must_go_bytes && *pools >= *verdict_.must_go_bytes) {
      all.push_back(OomAdvice::fewer_graphs);
    }
    // Not enough alone, but it saves more than half of what has to go.
    const std::int64_t unallocated = verdict_.unallocated_bytes.value_or(0);
    if (unallocated > 0) all.push_back(OomAdvice::expandable_segments);
    const Bytes others = surely_others();
    if (others && verdict_.missing_bytes && *others >= *verdict_.missing_bytes) {
      all.push_back(OomAdvice::stop_other_processes);
    }
    advise(all);
  }

  void conclude(OomCause cause, double confidence) {
    verdict_.cause = cause;
    verdict_.confidence = confidence;
  }

  // Leaves out what is in force and what this framework does not have.
  void advise(const std::vector<OomAdvice>& all) {
    for (const OomAdvice advice : all) {
      if (is_possible(advice)) verdict_.advice.push_back(advice);
    }
    if (is_lent()) verdict_.advice.push_back(OomAdvice::windows_shared_memory);
  }

  bool is_possible(OomAdvice advice) const {
    // PyTorch before 2.1 has no expandable segments; its messages say "already allocated".
    const bool is_old = contains(event_.text, "already allocated");
    if (advice == OomAdvice::expandable_segments) {
      return is_pytorch_ && !is_old && !has_expandable_segments(settings_) && joining_helps();
    }
    if (advice == OomAdvice::max_split_size) {
      return is_pytorch_ && !has_expandable_segments(settings_) && !has_split_limit(settings_) && asked_ &&
             split_limit_mib(*asked_) > 0;
    }
    if (advice == OomAdvice::checkpoint_activations) {
      const std::string& name = event_.framework;
      return name.empty() || name == "pytorch" || name == "tensorflow" || name == "jax" || name == "cuda" ||
             name == "paddle";
    }
    return true;
  }

  // Free pieces joined with what the device, or the limit, has left: all that was asked for, or at least half of what
  // is missing.
  bool joining_helps() const {
    const Bytes unallocated = verdict_.unallocated_bytes;
    if (!asked_ || !unallocated || *unallocated <= 0) return false;
    if (fits_when_joined(*unallocated, room_.value_or(0))) return true;
    return verdict_.missing_bytes && *unallocated >= *verdict_.missing_bytes / 2;
  }

  const OutOfMemory& event_;
  std::map<std::string, std::string> settings_;
  OomVerdict verdict_;
  std::int64_t slack_ = 0;  // by which figures may be off
  Bytes asked_, total_, free_, allocated_, reserved_, process_, allowed_, room_;
  std::int64_t named_bytes_ = 0;  // of other processes that the message names
  bool is_arena_ = false;
  bool is_pytorch_ = false;
};

}  // namespace

OomVerdict explain_oom(const OutOfMemory& event, const std::map<std::string, std::string>& settings) {
  return Judge(event, settings).run();
}

}  // namespace vramscope
