// What the GPU does, and how healthy its memory is.
#include <iterator>
#include <utility>

#include "report/smi_tree_parts.h"

namespace vramscope {

namespace {

using M = Metric;
using P = SmiPrint;

void add_performance(SmiNodes& n) {
  constexpr std::int64_t kDisplayClock = 0x100;  // nvmlClocksEventReasonDisplayClockSetting
  const SmiDisplays shown = bit_of(SmiDisplay::performance);
  add_smi_value(n, 0, "Fan Speed", "fan_speed", M::fan_speed);
  add_smi_value(n, 0, "Performance State", "performance_state", M::pstate).displays = shown;
  add_smi_section(n, 0, "Clocks Event Reasons", "clocks_event_reasons").displays = shown;
  add_smi_value(n, 1, "Idle", "clocks_event_reason_gpu_idle", M::clocks_event_reasons_gpu_idle);
  add_smi_value(n, 1, "Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting",
                M::clocks_event_reasons_applications_clocks_setting);
  add_smi_value(n, 1, "SW Power Cap", "clocks_event_reason_sw_power_cap", M::clocks_event_reasons_sw_power_cap);
  add_smi_value(n, 1, "HW Slowdown", "clocks_event_reason_hw_slowdown", M::clocks_event_reasons_hw_slowdown);
  add_smi_value(n, 1, "HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown",
                M::clocks_event_reasons_hw_thermal_slowdown)
      .is_deeper = true;
  add_smi_value(n, 1, "HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown",
                M::clocks_event_reasons_hw_power_brake_slowdown)
      .is_deeper = true;
  add_smi_value(n, 1, "Sync Boost", "clocks_event_reason_sync_boost", M::clocks_event_reasons_sync_boost);
  add_smi_value(n, 1, "SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown",
                M::clocks_event_reasons_sw_thermal_slowdown);
  add_smi_bit(n, 1, "Display Clock Setting", "clocks_event_reason_display_clocks_setting",
              M::clocks_event_reasons_active, kDisplayClock);
  add_smi_section(n, 0, "Clocks Event Reasons Counters", "clocks_event_reasons_counters").displays = shown;
  add_smi_value(n, 1, "SW Power Capping", "clocks_event_reasons_counters_sw_power_cap",
                M::clocks_event_reasons_counters_sw_power_cap);
  add_smi_value(n, 1, "Sync Boost", "clocks_event_reasons_counters_sync_boost",
                M::clocks_event_reasons_counters_sync_boost);
  add_smi_value(n, 1, "SW Thermal Slowdown", "clocks_event_reasons_counters_sw_therm_slowdown",
                M::clocks_event_reasons_counters_sw_thermal_slowdown);
  add_smi_value(n, 1, "HW Thermal Slowdown", "clocks_event_reasons_counters_hw_therm_slowdown",
                M::clocks_event_reasons_counters_hw_thermal_slowdown);
  add_smi_value(n, 1, "HW Power Braking", "clocks_event_reasons_counters_hw_power_brake",
                M::clocks_event_reasons_counters_hw_power_brake_slowdown);
  add_smi_unavailable(n, 0, "Sparse Operation Mode", "sparse_operation_mode").displays = shown;
}

void add_memory(SmiNodes& n) {
  const SmiDisplays shown = bit_of(SmiDisplay::memory);
  add_smi_section(n, 0, "FB Memory Usage", "fb_memory_usage").displays = shown;
  add_smi_value(n, 1, "Total", "total", M::memory_total);
  add_smi_value(n, 1, "Reserved", "reserved", M::memory_reserved);
  add_smi_value(n, 1, "Used", "used", M::memory_used);
  add_smi_value(n, 1, "Free", "free", M::memory_free);
  add_smi_section(n, 0, "BAR1 Memory Usage", "bar1_memory_usage").displays = shown;
  add_smi_value(n, 1, "Total", "total", M::bar1_total, P::mebibytes);
  add_smi_value(n, 1, "Used", "used", M::bar1_used, P::mebibytes);
  add_smi_value(n, 1, "Free", "free", M::bar1_free, P::mebibytes);
  add_smi_section(n, 0, "Conf Compute Protected Memory Usage", "cc_protected_memory_usage").displays = shown;
  add_smi_value(n, 1, "Total", "total", M::protected_memory_total);
  add_smi_value(n, 1, "Used", "used", M::protected_memory_used);
  add_smi_value(n, 1, "Free", "free", M::protected_memory_free);
}

void add_utilization(SmiNodes& n) {
  constexpr SmiDisplay kShown = SmiDisplay::utilization;
  add_smi_value(n, 0, "Compute Mode", "compute_mode", M::compute_mode).displays = bit_of(SmiDisplay::compute);
  add_smi_section(n, 0, "Utilization", "utilization").displays = bit_of(kShown);
  add_smi_value(n, 1, "GPU", "gpu_util", M::utilization_gpu);
  add_smi_value(n, 1, "Memory", "memory_util", M::utilization_memory);
  add_smi_value(n, 1, "Encoder", "encoder_util", M::utilization_encoder);
  add_smi_value(n, 1, "Decoder", "decoder_util", M::utilization_decoder);
  add_smi_value(n, 1, "JPEG", "jpeg_util", M::utilization_jpeg);
  add_smi_value(n, 1, "OFA", "ofa_util", M::utilization_ofa);
  add_smi_recent(n, "GPU Utilization Samples", RecentKind::gpu, P::percent, kShown);
  add_smi_recent(n, "Memory Utilization Samples", RecentKind::memory, P::percent, kShown);
  add_smi_recent(n, "ENC Utilization Samples", RecentKind::encoder, P::percent, kShown);
  add_smi_recent(n, "DEC Utilization Samples", RecentKind::decoder, P::percent, kShown);
  add_smi_recent(n, "JPG Utilization Samples", RecentKind::jpeg, P::percent, kShown);
  add_smi_recent(n, "OFA Utilization Samples", RecentKind::ofa, P::percent, kShown);
  add_smi_section(n, 0, "Encoder Stats", "encoder_stats").displays = bit_of(SmiDisplay::encoder_stats);
  add_smi_value(n, 1, "Active Sessions", "session_count", M::encoder_stats_session_count);
  add_smi_value(n, 1, "Average FPS", "average_fps", M::encoder_stats_average_fps);
  add_smi_value(n, 1, "Average Latency", "average_latency", M::encoder_stats_average_latency);
  add_smi_section(n, 0, "FBC Stats", "fbc_stats").displays = bit_of(SmiDisplay::fbc_stats);
  add_smi_value(n, 1, "Active Sessions", "session_count", M::capture_stats_session_count, P::integer);
  add_smi_value(n, 1, "Average FPS", "average_fps", M::capture_stats_average_fps, P::integer);
  add_smi_value(n, 1, "Average Latency", "average_latency", M::capture_stats_average_latency, P::integer);
}

struct Place {
  std::string_view text, element;
  Metric errors[2][2];  // volatile and aggregate, corrected and not
};
constexpr Place kPlaces[] = {
    {"Device Memory",
     "device_memory",
     {{M::ecc_errors_corrected_volatile_device_memory, M::ecc_errors_uncorrected_volatile_device_memory},
      {M::ecc_errors_corrected_aggregate_device_memory, M::ecc_errors_uncorrected_aggregate_device_memory}}},
    {"Register File",
     "register_file",
     {{M::ecc_errors_corrected_volatile_register_file, M::ecc_errors_uncorrected_volatile_register_file},
      {M::ecc_errors_corrected_aggregate_register_file, M::ecc_errors_uncorrected_aggregate_register_file}}},
    {"L1 Cache",
     "l1_cache",
     {{M::ecc_errors_corrected_volatile_l1_cache, M::ecc_errors_uncorrected_volatile_l1_cache},
      {M::ecc_errors_corrected_aggregate_l1_cache, M::ecc_errors_uncorrected_aggregate_l1_cache}}},
    {"L2 Cache",
     "l2_cache",
     {{M::ecc_errors_corrected_volatile_l2_cache, M::ecc_errors_uncorrected_volatile_l2_cache},
      {M::ecc_errors_corrected_aggregate_l2_cache, M::ecc_errors_uncorrected_aggregate_l2_cache}}},
    {"Texture Memory",
     "texture_memory",
     {{M::ecc_errors_corrected_volatile_texture_memory, M::ecc_errors_uncorrected_volatile_texture_memory},
      {M::ecc_errors_corrected_aggregate_texture_memory, M::ecc_errors_uncorrected_aggregate_texture_memory}}},
    {"Texture Shared",
     "texture_shm",
     {{M::ecc_errors_corrected_volatile_texture_shared, M::ecc_errors_uncorrected_volatile_texture_shared},
      {M::ecc_errors_corrected_aggregate_texture_shared, M::ecc_errors_uncorrected_aggregate_texture_shared}}},
    {"CBU",
     "cbu",
     {{M::ecc_errors_corrected_volatile_cbu, M::ecc_errors_uncorrected_volatile_cbu},
      {M::ecc_errors_corrected_aggregate_cbu, M::ecc_errors_uncorrected_aggregate_cbu}}},
    {"Total",
     "total",
     {{M::ecc_errors_corrected_volatile_total, M::ecc_errors_uncorrected_volatile_total},
      {M::ecc_errors_corrected_aggregate_total, M::ecc_errors_uncorrected_aggregate_total}}},
};

// Volatile errors (`period` 0) or those of the GPU's life (1), for each kind of memory. nvidia-smi has spaces behind
// the names of the sections.
void add_errors_by_place(SmiNodes& n, std::size_t period) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"Single Bit            ", "single_bit"},
                                                                      {"Double Bit            ", "double_bit"}};
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
    add_smi_section(n, 2, kKinds[kind].first, kKinds[kind].second).when = SmiWhen::by_place;
    for (const Place& place : kPlaces) add_smi_value(n, 3, place.text, place.element, place.errors[period][kind]);
  }
}

// The same of SRAM and DRAM, as Turing and later GPUs tell them.
struct SramErrors {
  Metric sram_corrected, sram, parity, secded, dram_corrected, dram;
};
void add_errors_of(SmiNodes& n, const SramErrors& of) {
  constexpr SmiWhen kSince = SmiWhen::since_turing, kTotal = SmiWhen::sram_total, kParts = SmiWhen::sram_parts;
  add_smi_value(n, 2, "SRAM Correctable", "sram_correctable", of.sram_corrected).when = kSince;
  add_smi_value(n, 2, "SRAM Uncorrectable", "sram_uncorrectable", of.sram).when = kTotal;
  add_smi_value(n, 2, "SRAM Uncorrectable Parity", "sram_uncorrectable_parity", of.parity).when = kParts;
  add_smi_value(n, 2, "SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", of.secded).when = kParts;
  add_smi_value(n, 2, "DRAM Correctable", "dram_correctable", of.dram_corrected).when = kSince;
  add_smi_value(n, 2, "DRAM Uncorrectable", "dram_uncorrectable", of.dram).when = kSince;
}

void add_errors(SmiNodes& n) {
  add_smi_section(n, 0, "ECC Mode", "ecc_mode").displays = bit_of(SmiDisplay::ecc);
  add_smi_value(n, 1, "Current", "current_ecc", M::ecc_mode_current);
  add_smi_value(n, 1, "Pending", "pending_ecc", M::ecc_mode_pending);
  add_smi_section(n, 0, "ECC Errors", "ecc_errors").displays = bit_of(SmiDisplay::ecc);
  add_smi_section(n, 1, "Volatile", "volatile");
  add_errors_by_place(n, 0);
  add_errors_of(n, {M::ecc_errors_corrected_volatile_sram, M::ecc_errors_uncorrected_volatile_sram,
                    M::ecc_errors_uncorrected_volatile_sram_parity, M::ecc_errors_uncorrected_volatile_sram_secded,
                    M::ecc_errors_corrected_volatile_dram, M::ecc_errors_uncorrected_volatile_dram});
  add_smi_section(n, 1, "Aggregate", "aggregate");
  add_errors_by_place(n, 1);
  add_errors_of(n, {M::ecc_errors_corrected_aggregate_sram, M::ecc_errors_uncorrected_aggregate_sram,
                    M::ecc_errors_uncorrected_aggregate_sram_parity, M::ecc_errors_uncorrected_aggregate_sram_secded,
                    M::ecc_errors_corrected_aggregate_dram, M::ecc_errors_uncorrected_aggregate_dram});
  add_smi_value(n, 2, "SRAM Threshold Exceeded", "sram_threshold_exceeded",
                M::ecc_errors_uncorrected_aggregate_sram_threshold_exceeded)
      .when = SmiWhen::sram_parts;
}

void add_error_sources(SmiNodes& n) {
  constexpr SmiWhen kParts = SmiWhen::sram_parts;
  add_smi_section(n, 1, "Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources").when = kParts;
  add_smi_value(n, 2, "SRAM L2", "sram_l2", M::ecc_errors_uncorrected_aggregate_sram_l2);
  add_smi_value(n, 2, "SRAM SM", "sram_sm", M::ecc_errors_uncorrected_aggregate_sram_sm);
  add_smi_value(n, 2, "SRAM Microcontroller", "sram_microcontroller", M::ecc_errors_uncorrected_aggregate_sram_mcu);
  add_smi_value(n, 2, "SRAM PCIE", "sram_pcie", M::ecc_errors_uncorrected_aggregate_sram_pcie);
  add_smi_value(n, 2, "SRAM Other", "sram_other", M::ecc_errors_uncorrected_aggregate_sram_other);
  add_smi_value(n, 1, "Channel Repair Pending", "channel_repair_pending", M::ecc_repair_channel_pending, P::yes_no)
      .when = kParts;
  add_smi_value(n, 1, "TPC Repair Pending", "tpc_repair_pending", M::ecc_repair_tpc_pending, P::yes_no).when = kParts;
  add_smi_value(n, 1, "Unrepairable Memory", "unrepairable_memory", M::ecc_unrepairable_memory, P::yes_no).when =
      kParts;
}

// In text one line for what is a section in XML.
void add_retired_pages(SmiNodes& n) {
  add_smi_section(n, 0, "Retired Pages", "retired_pages").displays = bit_of(SmiDisplay::page_retirement);
  add_smi_value(n, 1, "Single Bit ECC", "multiple_single_bit_retirement", M::retired_pages_single_bit_ecc_count);
  add_smi_value(n, 2, "", "retired_count", M::retired_pages_single_bit_ecc_count);
  add_smi_list(n, 2, "", "retired_pagelist", SmiList::single_bit_pages);
  add_smi_item(n, 3, "", "retired_page_address", SmiItem::page);
  add_smi_value(n, 1, "Double Bit ECC", "double_bit_retirement", M::retired_pages_double_bit_count);
  add_smi_value(n, 2, "", "retired_count", M::retired_pages_double_bit_count);
  add_smi_list(n, 2, "", "retired_pagelist", SmiList::double_bit_pages);
  add_smi_item(n, 3, "", "retired_page_address", SmiItem::page);
  add_smi_value(n, 1, "Pending Page Blacklist", "pending_blacklist", M::retired_pages_pending);
  add_smi_value(n, 1, "", "pending_retirement", M::retired_pages_pending);
}

// Inactive rows came to the XML with 595, and not to the text.
void add_remapped_rows(SmiNodes& n) {
  SmiNode& rows = add_smi_section(n, 0, "Remapped Rows", "remapped_rows");
  rows.form = SmiForm::collapsing;
  rows.displays = bit_of(SmiDisplay::row_remapper);
  add_smi_value(n, 1, "Correctable Error", "remapped_row_corr", M::remapped_rows_correctable);
  add_smi_value(n, 1, "", "remapped_row_corr_inactive", M::remapped_rows_correctable_inactive).when = SmiWhen::known;
  add_smi_value(n, 1, "Uncorrectable Error", "remapped_row_unc", M::remapped_rows_uncorrectable);
  add_smi_value(n, 1, "", "remapped_row_unc_inactive", M::remapped_rows_uncorrectable_inactive).when = SmiWhen::known;
  add_smi_value(n, 1, "Pending", "remapped_row_pending", M::remapped_rows_pending);
  add_smi_value(n, 1, "Remapping Failure Occurred", "remapped_row_failure", M::remapped_rows_failure);
  add_smi_section(n, 1, "Bank Remap Availability Histogram", "row_remapper_histogram");
  add_smi_value(n, 2, "Max", "row_remapper_histogram_max", M::remapped_rows_histogram_max, P::banks);
  add_smi_value(n, 2, "High", "row_remapper_histogram_high", M::remapped_rows_histogram_high, P::banks);
  add_smi_value(n, 2, "Partial", "row_remapper_histogram_partial", M::remapped_rows_histogram_partial, P::banks);
  add_smi_value(n, 2, "Low", "row_remapper_histogram_low", M::remapped_rows_histogram_low, P::banks);
  add_smi_value(n, 2, "None", "row_remapper_histogram_none", M::remapped_rows_histogram_none, P::banks);
}

}  // namespace

void add_smi_recent(SmiNodes& n, std::string_view text, RecentKind kind, SmiPrint print, SmiDisplay display) {
  SmiNode& list = add_smi_list(n, 0, text, "", SmiList::recent);
  list.when = SmiWhen::when_asked;
  list.displays = bit_of(display);
  list.number = static_cast<std::int64_t>(kind);
  add_smi_item(n, 1, "Duration", "", SmiItem::duration);
  add_smi_item(n, 1, "Number of Samples", "", SmiItem::count);
  add_smi_item(n, 1, "Max", "", SmiItem::most).print = print;
  add_smi_item(n, 1, "Min", "", SmiItem::least).print = print;
  add_smi_item(n, 1, "Avg", "", SmiItem::mean).print = print;
}

void add_smi_activity(SmiNodes& n) {
  add_performance(n);
  add_memory(n);
  add_utilization(n);
}

void add_smi_health(SmiNodes& n) {
  add_smi_section(n, 0, "DRAM Encryption Mode", "dram_encryption_mode");
  add_smi_value(n, 1, "Current", "current_dram_encryption", M::dram_encryption_mode_current);
  add_smi_value(n, 1, "Pending", "pending_dram_encryption", M::dram_encryption_mode_pending);
  add_errors(n);
  add_error_sources(n);
  add_retired_pages(n);
  add_remapped_rows(n);
}

}  // namespace vramscope
