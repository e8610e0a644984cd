// Errors of the memory, where the fields of nvmlDeviceGetFieldValues do not tell them.
#include "devices/backends/nvml/groups.h"

namespace vramscope::nvml {

namespace {

using M = Metric;
using F = Functions;

constexpr int kCorrected = 0, kUncorrected = 1;  // nvmlMemoryErrorType_t
constexpr int kVolatile = 0, kAggregate = 1;     // nvmlEccCounterType_t
constexpr int kTextureShared = 5, kSram = 7;     // nvmlMemoryLocation_t

template <int type, int counter, Metric metric>
int total(Reading& reading) {
  if (reading.call.ecc_total == nullptr) return kFunctionNotFound;
  unsigned long long count = 0;
  const int code = reading.call.ecc_total(reading.device.handle, type, counter, &count);
  if (code == kSuccess) reading.values.set(metric, static_cast<std::int64_t>(count & ~(1ULL << 63)));
  return code;
}

template <int type, int counter, int place, Metric metric>
int at_place(Reading& reading) {
  if (reading.call.ecc_at == nullptr) return kFunctionNotFound;
  unsigned long long count = 0;
  const int code = reading.call.ecc_at(reading.device.handle, type, counter, place, &count);
  if (code == kSuccess) reading.values.set(metric, static_cast<std::int64_t>(count & ~(1ULL << 63)));
  return code;
}

int sram_errors(Reading& reading) {
  if (reading.call.sram_errors == nullptr) return kFunctionNotFound;
  SramErrors errors{};
  errors.version = version_of<SramErrors>(1);
  const int code = reading.call.sram_errors(reading.device.handle, &errors);
  if (code != kSuccess) return code;
  const auto put = [&](Metric metric, std::uint64_t count) {
    reading.values.set(metric, static_cast<std::int64_t>(count & ~(std::uint64_t{1} << 63)));
  };
  put(M::ecc_errors_uncorrected_volatile_sram_parity, errors.volatile_parity);
  put(M::ecc_errors_uncorrected_volatile_sram_secded, errors.volatile_secded);
  put(M::ecc_errors_uncorrected_aggregate_sram_parity, errors.aggregate_parity);
  put(M::ecc_errors_uncorrected_aggregate_sram_secded, errors.aggregate_secded);
  put(M::ecc_errors_uncorrected_aggregate_sram_threshold_exceeded, errors.is_threshold_exceeded != 0 ? 1 : 0);
  put(M::ecc_errors_uncorrected_aggregate_sram_l2, errors.l2);
  put(M::ecc_errors_uncorrected_aggregate_sram_sm, errors.sm);
  put(M::ecc_errors_uncorrected_aggregate_sram_mcu, errors.mcu);
  put(M::ecc_errors_uncorrected_aggregate_sram_pcie, errors.pcie);
  put(M::ecc_errors_uncorrected_aggregate_sram_other, errors.other);
  return code;
}

// With no room for addresses the driver tells their number.
template <int cause, Metric metric>
int retired(Reading& reading) {
  if (reading.call.retired_pages == nullptr) return kFunctionNotFound;
  unsigned count = 0;
  const int code = reading.call.retired_pages(reading.device.handle, cause, &count, nullptr);
  if (code != kSuccess && code != kInsufficientSize) return code;
  reading.values.set(metric, count);
  return kSuccess;
}

int remapped(Reading& reading) {
  if (reading.call.remapped_rows == nullptr) return kFunctionNotFound;
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned is_pending = 0;
  unsigned has_failed = 0;
  const int code =
      reading.call.remapped_rows(reading.device.handle, &corrected, &uncorrected, &is_pending, &has_failed);
  if (code != kSuccess) return code;
  reading.values.set(M::remapped_rows_correctable, corrected);
  reading.values.set(M::remapped_rows_uncorrectable, uncorrected);
  reading.values.set(M::remapped_rows_pending, is_pending != 0 ? 1 : 0);
  reading.values.set(M::remapped_rows_failure, has_failed != 0 ? 1 : 0);
  return code;
}

int histogram(Reading& reading) {
  if (reading.call.row_histogram == nullptr) return kFunctionNotFound;
  RowHistogram rows{};
  const int code = reading.call.row_histogram(reading.device.handle, &rows);
  if (code != kSuccess) return code;
  reading.values.set(M::remapped_rows_histogram_max, rows.max);
  reading.values.set(M::remapped_rows_histogram_high, rows.high);
  reading.values.set(M::remapped_rows_histogram_partial, rows.partial);
  reading.values.set(M::remapped_rows_histogram_low, rows.low);
  reading.values.set(M::remapped_rows_histogram_none, rows.none);
  return code;
}

// Of a MIG device the driver tells errors of SRAM that were not corrected, since the driver was loaded, alone.
template <int type, int counter, Metric of_all, Metric of_sram, Metric of_textures>
void add_ecc(Groups& groups) {
  constexpr bool kForMig = type == kUncorrected && counter == kVolatile;
  groups.push_back(group<of_all>(total<type, counter, of_all>));
  groups.push_back(group<of_sram>(at_place<type, counter, kSram, of_sram>, kForMig));
  groups.push_back(group<of_textures>(at_place<type, counter, kTextureShared, of_textures>));
}

}  // namespace

void add_health(Groups& groups) {
  add_ecc<kCorrected, kVolatile, M::ecc_errors_corrected_volatile_total, M::ecc_errors_corrected_volatile_sram,
          M::ecc_errors_corrected_volatile_texture_shared>(groups);
  add_ecc<kCorrected, kAggregate, M::ecc_errors_corrected_aggregate_total, M::ecc_errors_corrected_aggregate_sram,
          M::ecc_errors_corrected_aggregate_texture_shared>(groups);
  add_ecc<kUncorrected, kVolatile, M::ecc_errors_uncorrected_volatile_total, M::ecc_errors_uncorrected_volatile_sram,
          M::ecc_errors_uncorrected_volatile_texture_shared>(groups);
  add_ecc<kUncorrected, kAggregate, M::ecc_errors_uncorrected_aggregate_total, M::ecc_errors_uncorrected_aggregate_sram,
          M::ecc_errors_uncorrected_aggregate_texture_shared>(groups);
  groups.push_back(
      group<M::ecc_errors_uncorrected_volatile_sram_parity, M::ecc_errors_uncorrected_volatile_sram_secded,
            M::ecc_errors_uncorrected_aggregate_sram_parity, M::ecc_errors_uncorrected_aggregate_sram_secded,
            M::ecc_errors_uncorrected_aggregate_sram_threshold_exceeded, M::ecc_errors_uncorrected_aggregate_sram_l2,
            M::ecc_errors_uncorrected_aggregate_sram_sm, M::ecc_errors_uncorrected_aggregate_sram_mcu,
            M::ecc_errors_uncorrected_aggregate_sram_pcie, M::ecc_errors_uncorrected_aggregate_sram_other>(
          sram_errors));
  groups.push_back(group<M::retired_pages_single_bit_ecc_count>(retired<0, M::retired_pages_single_bit_ecc_count>));
  groups.push_back(group<M::retired_pages_double_bit_count>(retired<1, M::retired_pages_double_bit_count>));
  groups.push_back(group<M::retired_pages_pending>(one<&F::retired_pending, M::retired_pages_pending>));
  groups.push_back(group<M::remapped_rows_correctable, M::remapped_rows_uncorrectable, M::remapped_rows_pending,
                         M::remapped_rows_failure>(remapped));
  groups.push_back(
      group<M::remapped_rows_histogram_max, M::remapped_rows_histogram_high, M::remapped_rows_histogram_partial,
            M::remapped_rows_histogram_low, M::remapped_rows_histogram_none>(histogram));
}

}  // namespace vramscope::nvml
