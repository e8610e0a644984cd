#include "cli/commands/smi/option_table.h"

#include <algorithm>
#include <iterator>

namespace vramscope {

namespace {

using Name = SmiName;
using Takes = SmiTakes;

constexpr SmiOption kOptions[] = {
    {"", "--query-gpu", Name::query_gpu, Takes::value},
    {"", "--query-compute-apps", Name::query_compute, Takes::value},
    {"", "--query-accounted-apps", Name::query_accounted, Takes::value},
    {"", "--help-query-gpu", Name::help_gpu, Takes::nothing},
    {"", "--help-query-compute-apps", Name::help_compute, Takes::nothing},
    {"", "--help-query-accounted-apps", Name::help_accounted, Takes::nothing},
    {"-L", "--list-gpus", Name::list, Takes::nothing},
    {"", "--version", Name::version, Takes::nothing},
    {"-h", "--help", Name::help, Takes::nothing},
    {"", "--format", Name::format, Takes::value},
    {"-i", "--id", Name::id, Takes::value},
    {"-f", "--filename", Name::file, Takes::value},
    {"-l", "--loop", Name::loop, Takes::maybe_number},
    {"-lms", "--loop-ms", Name::loop_ms, Takes::value},
    {"", "--device", Name::device, Takes::value},
    {"", "--lang", Name::language, Takes::value},
    {"-q", "--query", Name::full_query, Takes::nothing},
    {"-x", "--xml-format", Name::xml, Takes::nothing},
    {"-u", "--unit", Name::not_here, Takes::nothing},
    {"-d", "--display", Name::display, Takes::value},
    {"", "--dtd", Name::dtd, Takes::nothing},
    {"-col", "--columns", Name::not_here, Takes::nothing},
    {"-B", "--list-excluded-gpus", Name::not_here, Takes::nothing},
    {"", "--query-supported-clocks", Name::not_here, Takes::value},
    {"", "--query-retired-pages", Name::not_here, Takes::value},
    {"", "--query-remapped-rows", Name::not_here, Takes::value},
    {"", "--help-query-supported-clocks", Name::not_here, Takes::nothing},
    {"", "--help-query-retired-pages", Name::not_here, Takes::nothing},
    {"", "--help-query-remapped-rows", Name::not_here, Takes::nothing},
    {"", "--debug", Name::not_here, Takes::value},
    {"-eow", "--error-on-warning", Name::not_here, Takes::nothing},
    {"", "--get-hostname", Name::not_here, Takes::nothing},
    {"", "--set-hostname", Name::setting, Takes::value},
    {"-pm", "--persistence-mode", Name::setting, Takes::value},
    {"-e", "--ecc-config", Name::setting, Takes::value},
    {"-p", "--reset-ecc-errors", Name::setting, Takes::value},
    {"-c", "--compute-mode", Name::setting, Takes::value},
    {"", "--gom", Name::setting, Takes::value},
    {"-r", "--gpu-reset", Name::setting, Takes::nothing},
    {"-vm", "--virt-mode", Name::setting, Takes::value},
    {"-lgc", "--lock-gpu-clocks", Name::setting, Takes::value},
    {"-rgc", "--reset-gpu-clocks", Name::setting, Takes::nothing},
    {"-lmc", "--lock-memory-clocks", Name::setting, Takes::value},
    {"-rmc", "--reset-memory-clocks", Name::setting, Takes::nothing},
    {"-lmcd", "--lock-memory-clocks-deferred", Name::setting, Takes::value},
    {"-rmcd", "--reset-memory-clocks-deferred", Name::setting, Takes::nothing},
    {"-ac", "--applications-clocks", Name::setting, Takes::value},
    {"-rac", "--reset-applications-clocks", Name::setting, Takes::nothing},
    {"-pl", "--power-limit", Name::setting, Takes::value},
    {"-cc", "--cuda-clocks", Name::setting, Takes::value},
    {"-am", "--accounting-mode", Name::setting, Takes::value},
    {"-caa", "--clear-accounted-apps", Name::setting, Takes::nothing},
    {"-mig", "--multi-instance-gpu", Name::setting, Takes::value},
    {"-gtt", "--gpu-target-temp", Name::setting, Takes::value},
    {"-den", "--dram-encryption", Name::setting, Takes::value},
    {"-t", "--toggle-led", Name::setting, Takes::value},
};

// Of dmon and pmon.
constexpr SmiOption kTableOptions[] = {
    {"-h", "--help", Name::help, Takes::nothing},        {"-i", "--id", Name::id, Takes::value},
    {"-f", "--filename", Name::file, Takes::value},      {"-d", "--delay", Name::delay, Takes::value},
    {"-c", "--count", Name::count, Takes::value},        {"-s", "--select", Name::select, Takes::value},
    {"-o", "--options", Name::moment, Takes::value},     {"", "--format", Name::format, Takes::value},
    {"", "--device", Name::device, Takes::value},        {"", "--lang", Name::language, Takes::value},
    {"", "--gpm-metrics", Name::not_here, Takes::value}, {"", "--gpm-options", Name::not_here, Takes::value},
};

constexpr std::string_view kSubcommands[] = {
    "daemon",          "replay",          "topo",        "drain",        "nvlink", "c2c",
    "clocks",          "encodersessions", "fbcsessions", "vgpu",         "mig",    "compute-policy",
    "boost-slider",    "power-hint",      "base-clocks", "conf-compute", "gpm",    "pci",
    "power-smoothing", "power-profiles",  "rusd",        "prm",          "soc",    "stats"};

}  // namespace

const SmiOption* find_smi_option(std::string_view word, bool of_table) {
  const auto search = [&](const auto& table) -> const SmiOption* {
    for (const SmiOption& option : table) {
      if ((!option.short_name.empty() && word == option.short_name) || word == option.long_name) return &option;
    }
    return nullptr;
  };
  return of_table ? search(kTableOptions) : search(kOptions);
}

bool is_smi_subcommand(std::string_view word) {
  return std::find(std::begin(kSubcommands), std::end(kSubcommands), word) != std::end(kSubcommands);
}

}  // namespace vramscope
