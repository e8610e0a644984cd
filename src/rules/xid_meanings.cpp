// Meanings: NVIDIA, "XID Errors" (docs.nvidia.com/deploy/xid-errors), in own words.
#include "rules/xid_meanings.h"

#include "text/catalogue.h"

namespace vramscope {

namespace {

constexpr XidMeaning kMeanings[] = {
    {13, Severity::warning,
     N_("A kernel made an invalid access or ran into an exception: nearly always a fault in the "
        "program.")},
    {31, Severity::warning,
     N_("A program touched memory of the GPU that is not its own: nearly always a fault in the "
        "program.")},
    {43, Severity::warning, N_("A program's work on the GPU was stopped after an error; others are not touched.")},
    {45, Severity::info, N_("A program's work was cut off, for it was ended or another error came before.")},
    {48, Severity::error, N_("Two bits of the memory were wrong at once: results are lost and the GPU needs a reset.")},
    {62, Severity::error, N_("The GPU's own controller stopped; it needs a reset.")},
    {63, Severity::warning, N_("A bad row or page of the memory was marked to be replaced at the next reset.")},
    {64, Severity::error, N_("A bad row or page of the memory could not be marked.")},
    {74, Severity::error, N_("NVLink reported an error: a link, a connector or the switch.")},
    {79, Severity::error, N_("The GPU fell off the bus: power, heat, the slot, or the card.")},
    {92, Severity::warning, N_("Many single-bit errors of the memory were corrected.")},
    {94, Severity::warning, N_("A memory error was contained: only the program that used that memory ended.")},
    {95, Severity::error,
     N_("A memory error was not contained: every program on the GPU is hit, and it needs a reset.")},
    {119, Severity::error, N_("The GPU's system processor does not answer the driver.")},
    {120, Severity::error, N_("The GPU's system processor reported an error.")},
    {122, Severity::warning, N_("The driver could not write the card's information ROM.")},
    {137, Severity::warning, N_("A kernel touched another GPU's memory over NVLink that is not its own.")},
};

}  // namespace

XidMeaning meaning_of_xid(std::int64_t xid) {
  for (const XidMeaning& known : kMeanings) {
    if (known.xid == xid) return known;
  }
  return {xid, Severity::warning, N_("The number is listed in NVIDIA's document \"XID Errors\".")};
}

}  // namespace vramscope
