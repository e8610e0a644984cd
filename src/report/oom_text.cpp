#include "report/oom_text.h"

#include <algorithm>

#include "report/fact_lines.h"
#include "report/phrases.h"
#include "rules/oom_messages.h"
#include "text/terminal.h"
#include "text/wrap.h"

namespace vramscope {

namespace {

// Which share of what is allocated would have to go for the request to fit; empty where that cannot be told, is nothing
// (the free memory alone would do, were it one piece), or is all.
std::string share_to_go(const OutOfMemory& event, const OomVerdict& verdict) {
  if (!verdict.must_go_bytes || !event.allocated_bytes || *event.allocated_bytes <= 0) return {};
  if (*verdict.must_go_bytes <= 0 || *verdict.must_go_bytes >= *event.allocated_bytes) return {};
  return format_share(static_cast<double>(*verdict.must_go_bytes) / static_cast<double>(*event.allocated_bytes));
}

std::string process_list(const OomVerdict& verdict) {
  constexpr std::size_t kMost = 4;
  std::string list;
  std::vector<ProcessMemory> others = verdict.others;
  std::stable_sort(others.begin(), others.end(),
                   [](const ProcessMemory& a, const ProcessMemory& b) { return a.bytes > b.bytes; });
  for (std::size_t i = 0; i < std::min(kMost, others.size()); ++i) {
    list += fmt::format("{}{}: {}", i == 0 ? "" : ", ", others[i].pid, format_bytes(others[i].bytes));
  }
  if (others.size() > kMost) list += terminal().utf8 ? ", …" : ", ...";
  return list;
}

std::string smaller_batch(const OutOfMemory& event, const OomVerdict& verdict, Wording wording) {
  const std::string share = share_to_go(event, verdict);
  if (share.empty()) return worded(N_("Use a smaller batch."), wording);
  return filled(worded(N_("Use a smaller batch: about {share} of what is allocated has to go ({missing})."), wording),
                fmt::arg("share", share), fmt::arg("missing", format_bytes(verdict.must_go_bytes.value_or(0))));
}

std::string stop_others(const OomVerdict& verdict, Wording wording) {
  const std::string list = process_list(verdict);
  if (list.empty()) {
    return worded(N_("Stop the other processes on this device (nvidia-smi lists them), or use another device."),
                  wording);
  }
  return filled(
      worded(N_("Stop other processes on this device (process and memory: {list}), or use another device."), wording),
      fmt::arg("list", list));
}

std::string advice_sentence(OomAdvice advice, const OutOfMemory& event, const OomVerdict& verdict, Wording wording) {
  const bool is_general = event.framework.empty() || event.framework == "pytorch";
  if (advice == OomAdvice::smaller_batch && is_general) return smaller_batch(event, verdict, wording);
  if (advice == OomAdvice::stop_other_processes) return stop_others(verdict, wording);
  const Message message = oom_advice_message(advice, {event, verdict, nullptr, 0});
  return sentence(message.id, message.arguments, wording);
}

// What the figures of the event are, the known ones.
std::string figures(const OutOfMemory& event, const OomVerdict& verdict) {
  FactLines lines(Align::right);
  const auto add = [&](const char* label, const std::optional<std::int64_t>& bytes, std::string remark = {}) {
    if (bytes) lines.add(label, format_bytes(*bytes), std::move(remark));
  };
  add(tr("Asked for"), event.asked_bytes);
  add(tr("Free on the device"), event.free_bytes,
      event.total_bytes ? filled(tr("of {total}"), fmt::arg("total", format_bytes(*event.total_bytes)))
                        : std::string());
  add(tr("Allocated"), event.allocated_bytes);
  add(tr("Reserved, not allocated"), verdict.unallocated_bytes,
      event.reserved_bytes
          ? filled(tr("of {reserved} reserved"), fmt::arg("reserved", format_bytes(*event.reserved_bytes)))
          : std::string());
  add(tr("In private pools"), event.private_pool_bytes);
  add(tr("Needed by the program"), event.program_bytes,
      event.total_bytes ? filled(tr("of {total}"), fmt::arg("total", format_bytes(*event.total_bytes)))
                        : std::string());
  add(tr("Largest free piece"), event.largest_hole_bytes);
  add(tr("Outside this allocator"), verdict.held_outside_bytes);
  add(tr("Other processes"), verdict.others_bytes, process_list(verdict));
  add(tr("Limit"), event.allowed_bytes);
  return lines.text();
}

}  // namespace

std::string oom_cause_sentence(OomCause cause, Wording wording) {
  switch (cause) {
    case OomCause::exhausted:
      return worded(N_("Exhausted: this process needs more than the device has left."), wording);
    case OomCause::fragmented:
      return worded(N_("Fragmented: enough is free in sum, but no free piece is large enough."), wording);
    case OomCause::held_by_others:
      return worded(N_("Held by others: what is missing is in use outside this process's allocator."), wording);
    case OomCause::capped:
      return worded(N_("Capped: the device had room, a limit stopped the allocation."), wording);
    case OomCause::unknown:
      break;
  }
  return worded(N_("The cause cannot be told from these figures."), wording);
}

std::vector<std::string> oom_advice_sentences(const OutOfMemory& event, const OomVerdict& verdict, Wording wording) {
  std::vector<std::string> sentences;
  for (const OomAdvice advice : verdict.advice) {
    sentences.push_back(advice_sentence(advice, event, verdict, wording));
  }
  return sentences;
}

const char* oom_advice_name(OomAdvice advice) {
  switch (advice) {
    case OomAdvice::smaller_batch:
      return "smaller_batch";
    case OomAdvice::expandable_segments:
      return "expandable_segments";
    case OomAdvice::max_split_size:
      return "max_split_size";
    case OomAdvice::stop_other_processes:
      return "stop_other_processes";
    case OomAdvice::raise_cap:
      return "raise_cap";
    case OomAdvice::lower_framework_share:
      return "lower_framework_share";
    case OomAdvice::checkpoint_activations:
      return "checkpoint_activations";
    case OomAdvice::shorter_sequences:
      return "shorter_sequences";
    case OomAdvice::another_device:
      return "another_device";
    case OomAdvice::free_cache:
      return "free_cache";
    case OomAdvice::windows_shared_memory:
      return "windows_shared_memory";
    case OomAdvice::fewer_graphs:
      return "fewer_graphs";
  }
  return "unknown";
}

std::string oom_text(const OutOfMemory& event, const OomVerdict& verdict) {
  std::string text = figures(event, verdict);
  text += wrap(paint(oom_cause_sentence(verdict.cause, Wording::chosen_language), Colour::red), line_columns(), 2, 2);
  for (const char* contradiction : verdict.contradictions) {
    text += wrap(paint(tr(contradiction), Colour::yellow), line_columns(), 2, 2);
  }
  std::size_t number = 0;
  for (const std::string& sentence : oom_advice_sentences(event, verdict, Wording::chosen_language)) {
    text += wrap(fmt::format("{}. {}", ++number, sentence), line_columns(), 2, 3);
  }
  return text;
}

void write_oom(JsonWriter& json, const OutOfMemory& event, const OomVerdict& verdict) {
  if (event.device) {
    json.member("device", std::string_view(fmt::format("{}:{}", event.device_type, *event.device)));
  }
  json.member("asked_bytes", event.asked_bytes).member("free_bytes", event.free_bytes);
  json.member("total_bytes", event.total_bytes).member("allocated_bytes", event.allocated_bytes);
  json.member("reserved_bytes", event.reserved_bytes).member("unallocated_bytes", verdict.unallocated_bytes);
  json.member("process_bytes", verdict.process_bytes).member("allowed_bytes", event.allowed_bytes);
  json.member("private_pool_bytes", event.private_pool_bytes).member("program_bytes", event.program_bytes);
  json.member("asked_tokens", event.asked_tokens).member("fitting_tokens", event.fitting_tokens);
  json.member("largest_hole_bytes", event.largest_hole_bytes).member("missing_bytes", verdict.missing_bytes);
  json.member("held_outside_bytes", verdict.held_outside_bytes).member("others_bytes", verdict.others_bytes);
  if (!verdict.others.empty()) {
    json.key("processes").begin_array();
    for (const ProcessMemory& other : verdict.others) {
      json.begin_object().member("pid", other.pid).member("bytes", other.bytes).end_object();
    }
    json.end_array();
  }
  json.member("cause", cause_name(verdict.cause)).member("confidence", verdict.confidence);
  std::string advice;
  for (const std::string& sentence : oom_advice_sentences(event, verdict, Wording::english)) {
    advice += (advice.empty() ? "" : " ") + sentence;
  }
  json.member("advice", std::string_view(advice));
  json.key("advice_ids").begin_array();
  for (const OomAdvice each : verdict.advice) json.value(oom_advice_name(each));
  json.end_array();
  json.key("contradictions").begin_array();
  for (const char* contradiction : verdict.contradictions) json.value(contradiction);
  json.end_array();
}

}  // namespace vramscope
