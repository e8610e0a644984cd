// The driver, the device, and the libraries that use it.
#include <algorithm>
#include <cctype>

#include "monitor/end_reason_parts.h"
#include "rules/arguments.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

// What an Xid is about, by NVIDIA's catalogue ("XID Errors", r560).
enum class XidKind { program, aftermath, memory, lost, link, firmware, other };

XidKind xid_kind(std::int64_t number) {
  switch (number) {
    case 13:  // graphics engine exception
    case 31:  // memory page fault
    case 68:
    case 69:
      return XidKind::program;
    case 43:  // the channel was stopped
    case 45:  // what the program had open is cleaned up, whatever ended it
      return XidKind::aftermath;
    case 48:  // double bit error
    case 63:  // row remapping or page retirement
    case 64:
    case 94:  // contained
    case 95:  // uncontained
    case 92:
    case 140:
      return XidKind::memory;
    case 79:  // has fallen off the bus
      return XidKind::lost;
    case 74:  // NVLink
      return XidKind::link;
    case 61:
    case 62:  // microcontroller
    case 119:
    case 120:  // GSP
      return XidKind::firmware;
    default:
      return XidKind::other;
  }
}

// "0000:3b:00" and "00000000:3B:00.0" are one place: domains have four or eight digits, the function may be left out.
std::string bare_pci(std::string pci) {
  std::transform(pci.begin(), pci.end(), pci.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const std::size_t point = pci.find('.'); point != std::string::npos) pci.resize(point);
  const std::size_t colon = pci.find(':');
  if (colon != std::string::npos && colon > 4) pci.erase(0, colon - 4);
  return pci;
}

const UsedDevice* device_at(const EndFacts& facts, const std::string& pci) {
  for (const UsedDevice& device : facts.devices) {
    if (!device.pci.empty() && bare_pci(device.pci) == bare_pci(pci)) return &device;
  }
  return nullptr;
}

struct FoundXid {
  std::int64_t number = 0;
  std::optional<int> gpu;
  bool names_process = false;
  const KernelEvent* event = nullptr;  // null: told by the driver's library
};

// The first that is a cause, of its processes or of a device that they used.
std::optional<FoundXid> find_xid(const EndView& view) {
  const EndFacts& facts = view.facts;
  for (const KernelEvent& event : facts.kernel) {
    const auto* xid = std::get_if<Xid>(&event.message);
    if (xid == nullptr || xid_kind(xid->number) == XidKind::aftermath) continue;
    const bool is_named = facts.are_pids_the_kernels && view.has_process(xid->pid);
    const UsedDevice* device = device_at(facts, xid->pci);
    if (!is_named && (device == nullptr || (xid->pid && facts.are_pids_the_kernels))) continue;
    FoundXid found{xid->number, std::nullopt, is_named, &event};
    if (device != nullptr) found.gpu = device->index;
    return found;
  }
  for (const UsedDevice& device : facts.devices) {
    if (device.xid && device.xid != device.xid_before && xid_kind(*device.xid) != XidKind::aftermath) {
      return FoundXid{*device.xid, device.index, false, nullptr};
    }
  }
  return std::nullopt;
}

std::vector<Message> advice_for(XidKind kind) {
  switch (kind) {
    case XidKind::program:
      return {{N_("The program made an access that the GPU refused. Run it with CUDA_LAUNCH_BLOCKING=1 to get the call "
                  "that failed, or under compute-sanitizer."),
               {}}};
    case XidKind::memory:
      return {
          {N_("The GPU's memory has a defect: reset the GPU (nvidia-smi -r) or restart the machine, so that the rows "
              "are replaced; look at nvidia-smi -q -d ECC,ROW_REMAPPER. If it comes again, have the card "
              "exchanged."),
           {}}};
    case XidKind::lost:
      return {{N_("The GPU does not answer on its bus any more: restart the machine, then check power supply, cooling "
                  "and the seat of the card. If it comes again, have it exchanged."),
               {}}};
    case XidKind::link:
      return {
          {N_("A link between GPUs failed (NVLink): look at nvidia-smi nvlink -e and the bridges or the baseboard."),
           {}}};
    case XidKind::firmware:
      return {
          {N_("The GPU's own processor stopped: restart the machine, and use a newer driver if it comes again."), {}}};
    case XidKind::aftermath:
    case XidKind::other:
      break;
  }
  return {{N_("Look the number up in NVIDIA's list of Xid errors, and keep the output of nvidia-bug-report.sh."), {}}};
}

std::vector<Message> advice_for(DeviceFault fault) {
  switch (fault) {
    case DeviceFault::assertion:
      return {{N_("A check in a kernel failed, most often an index or a label outside of its range. Run it with "
                  "CUDA_LAUNCH_BLOCKING=1, or the same batch on the CPU, to get the line."),
               {}}};
    case DeviceFault::illegal_access:
    case DeviceFault::launch_failure:
      return {{N_("The line that is shown may be a later one: run it with CUDA_LAUNCH_BLOCKING=1, or under "
                  "compute-sanitizer, to get the call that failed."),
               {}}};
    case DeviceFault::ecc:
      return advice_for(XidKind::memory);
    case DeviceFault::lost:
      return advice_for(XidKind::lost);
    case DeviceFault::no_kernel:
      return {{N_("Install a build of the framework that was made for this GPU (torch.cuda.get_arch_list() tells for "
                  "which)."),
               {}}};
    case DeviceFault::busy:
      return {{N_("Another process has the GPU for itself (compute mode): end it, or set nvidia-smi -c DEFAULT."), {}}};
    case DeviceFault::library:
      return {{N_("Run it with CUDA_LAUNCH_BLOCKING=1: a status of a library often follows an error, or a lack of "
                  "memory, that came before it."),
               {}}};
    case DeviceFault::other:
      break;
  }
  return {{N_("Run it with CUDA_LAUNCH_BLOCKING=1 to get the call that failed."), {}}};
}

// Devices of the program that do not answer any more.
const DeviceHistory* lost_device(const EndFacts& facts) {
  if (facts.monitor == nullptr) return nullptr;
  for (const UsedDevice& used : facts.devices) {
    const DeviceHistory* device = facts.monitor->find_device(used.uuid);
    if (device != nullptr && device->is_lost) return device;
  }
  return nullptr;
}

Value plain(std::int64_t number) {
  return {number, Unit::none};
}

}  // namespace

std::optional<EndReason> driver_failed(const EndView& view) {
  const auto xid = find_xid(view);
  const DeviceHistory* lost = lost_device(view.facts);
  const OutputSign* words = view.first(SignKind::device_error);
  if (!xid && lost == nullptr) return std::nullopt;
  // The program's own fault, which its own words tell better; the driver's are added there.
  if (lost == nullptr && xid_kind(xid->number) == XidKind::program && words != nullptr) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::driver;
  if (lost != nullptr) {
    reason.summary = {N_("GPU {gpu} is lost: it does not answer any more."), {{"gpu", plain(lost->index)}}};
    reason.evidence.push_back(
        {N_("state of the device"), text_value("lost"), {N_("GPU {gpu}"), {{"gpu", plain(lost->index)}}}});
  } else if (xid->names_process) {
    reason.summary = {N_("The driver reported Xid {number} for it."), {{"number", plain(xid->number)}}};
  } else {
    reason.certainty = Certainty::likely;
    reason.summary = {N_("The driver reported Xid {number} on GPU {gpu}, which it used."),
                      {{"number", plain(xid->number)}, {"gpu", plain(xid->gpu.value_or(0))}}};
  }
  if (xid && xid->event != nullptr) reason.evidence.push_back(from_kernel(xid->event->text));
  if (xid && xid->event == nullptr) {
    reason.evidence.push_back(
        {N_("Xid"), plain(xid->number), {N_("GPU {gpu}"), {{"gpu", plain(xid->gpu.value_or(0))}}}});
  }
  if (words != nullptr) reason.evidence.push_back(from_output(N_("its own words"), words->text, words->line));
  reason.fixes = advice_for(lost != nullptr ? XidKind::lost : xid_kind(xid->number));
  return reason;
}

std::optional<EndReason> device_error(const EndView& view) {
  // The first: what follows is told of a context that is broken by then.
  const OutputSign* first = nullptr;
  for (const OutputSign* sign : view.signs) {
    if (sign->kind != SignKind::device_error) continue;
    const bool is_of_end = view.has_ranks || view.exception == nullptr || sign->fault == DeviceFault::assertion ||
                           sign->line >= view.exception->first_line || sign->stream != view.exception->stream;
    if (is_of_end && (first == nullptr || first->fault == DeviceFault::other)) first = sign;
  }
  if (first == nullptr) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::device_error;
  reason.summary = {N_("An error of the GPU ended it: {error}"), {{"error", text_value(first->detail)}}};
  reason.evidence.push_back(from_output(N_("its own words"), first->text, first->line));
  if (view.exception != nullptr && !view.exception->frame.empty()) {
    reason.evidence.push_back(from_output(N_("place in the program"), view.exception->frame, view.exception->line));
  }
  if (const auto xid = find_xid(view); xid && xid->event != nullptr) {
    reason.evidence.push_back(from_kernel(xid->event->text));
  }
  reason.fixes = advice_for(first->fault);
  if (first->rank) {
    reason.worker.emplace();
    reason.worker->rank = first->rank;
  }
  return reason;
}

std::optional<EndReason> communication_failed(const EndView& view) {
  const OutputSign* first = view.first(SignKind::communication);
  if (first == nullptr) return std::nullopt;
  EndReason reason;
  reason.kind = EndKind::communication;
  // Why a rank did not answer may have been told elsewhere.
  reason.certainty = Certainty::likely;
  reason.summary = {first->is_timeout
                        ? N_("The ranks waited for one of them, or for the network, until their time was up.")
                        : N_("The connection between the ranks broke."),
                    {}};
  reason.evidence.push_back(from_output(N_("its own words"), first->text, first->line));
  reason.fixes = {{N_("Look at the output of the other ranks and machines for an error that came before: the one that "
                      "failed first is the cause."),
                   {}},
                  {N_("If none failed, set NCCL_DEBUG=INFO and check the network, and that all ranks make the same "
                      "calls."),
                   {}}};
  if (first->rank) {
    reason.details.push_back({N_("Rank {rank} told it first."), {{"rank", plain(*first->rank)}}});
  }
  return reason;
}

}  // namespace vramscope
