#pragma once
// The one description of what `nvidia-smi -q` tells of a GPU: each line with its name in the text, its element in the
// XML, where its value comes from and when it is there. Text, XML and DTD are walks over it. Never translated.
// Sources: captures of -q of drivers 590.48 and 595.71, of -q -x of 590.44 and 595.84, of -q -d POWER, PERFORMANCE and
// ROW_REMAPPER of 595, of other -d sections of 525 to 580, and the help of 590 and 595.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "devices/backend.h"

namespace vramscope {

// Sections that -d can ask for.
enum class SmiDisplay : std::uint8_t {
  memory,
  utilization,
  ecc,
  temperature,
  power,
  clock,
  compute,
  pids,
  performance,
  supported_clocks,
  page_retirement,
  accounting,
  encoder_stats,
  supported_gpu_target_temp,
  voltage,
  fbc_stats,
  row_remapper,
  gsp_firmware_version,
  power_smoothing,
  power_profiles
};
using SmiDisplays = std::uint32_t;  // a bit for each
constexpr SmiDisplays bit_of(SmiDisplay display) {
  return SmiDisplays{1} << static_cast<unsigned>(display);
}
// "MEMORY", whatever the case; nullopt for a name that there is not.
std::optional<SmiDisplay> smi_display_named(std::string_view name);

enum class SmiForm : std::uint8_t {
  section,
  collapsing,   // a section that is one line, "N/A", while nothing of it is known
  value,        // of `metric`; with nodes below it a section in XML
  bit,          // of the mask `metric`: the bit `number`
  words,        // always `words`
  unavailable,  // "N/A": NVML has no public function that tells
  item,         // of what a list runs over: `item`
  list          // the nodes below it, once for each of `list`; when it is empty "None" in text, `words` in XML
};

enum class SmiList : std::uint8_t {
  mig_devices,
  processes,
  accounted,
  supported_clocks,
  graphics_clocks,
  single_bit_pages,
  double_bit_pages,
  recent  // one, of the kind `number`; its items tell when it cannot be had
};

enum class SmiItem : std::uint8_t {
  device_index,
  gpu_instance,
  compute_instance,
  pid,
  process_type,
  process_name,
  process_memory,
  accounted_pid,
  accounted_gpu,
  accounted_memory,
  accounted_most,
  accounted_time,
  accounted_running,
  memory_clock,
  graphics_clock,
  page,
  duration,
  count,
  most,
  least,
  mean
};

// When a node is there.
enum class SmiWhen : std::uint8_t {
  always,
  known,         // its value is
  by_place,      // up to Volta: errors of memory are told for each kind of it
  since_turing,  // and since then of SRAM and of DRAM
  sram_total,    // on Turing: those of SRAM that were not corrected are one number
  sram_parts,    // since Ampere
  below_limit,   // the GPU tells degrees left to its limits,
  to_limit,      // or degrees of its limits
  when_asked     // in text only when -d asks for it
};

struct SmiNode {
  std::uint8_t depth = 0;    // of nesting in XML; 0 below the GPU
  std::string_view text;     // empty: not in text
  std::string_view element;  // empty: not in XML
  SmiForm form = SmiForm::section;
  Metric metric = Metric::index;
  SmiPrint print = SmiPrint::none;      // `none`: that of the metric
  SmiPrint xml_print = SmiPrint::none;  // `none`: as in text
  SmiWhen when = SmiWhen::always;
  SmiDisplays displays = 0;  // of nodes at depth 0
  bool is_deeper = false;    // in text one level more than in XML
  bool is_narrow = false;    // in text its lines have the colon where older drivers had it
  bool needs_rack = false;   // "N/A" for a board that no rack has told its place
  std::string_view words;
  SmiList list = SmiList::mig_devices;
  SmiItem item = SmiItem::pid;
  std::int64_t number = 0;
};

// The lines of the machine, above those of the GPUs: names in text and XML.
struct SmiHeaderLine {
  std::string_view text, element;
};
inline constexpr SmiHeaderLine kSmiTime{"Timestamp", "timestamp"}, kSmiDriver{"Driver Version", "driver_version"},
    kSmiCuda{"CUDA Version", "cuda_version"}, kSmiAttached{"Attached GPUs", "attached_gpus"};

// Parents before children, in the order of output.
const std::vector<SmiNode>& smi_tree();
// One past the last node below `at`.
std::size_t smi_tree_end(const std::vector<SmiNode>& tree, std::size_t at);
// Whether a node of depth 0, with all below it, is asked for. `displays` 0: all are.
bool is_taken(const SmiNode& node, SmiDisplays displays, bool is_xml);
// What a walk needs to be fetched. `is_xml`: XML rather than text.
Wanted smi_tree_wanted(SmiDisplays displays, bool is_xml);

}  // namespace vramscope
