#include "tui/setup.h"

#include "text/catalogue.h"

namespace vramscope::tui {

const std::array<CurveInfo, kCurves>& curve_table() {
  static constexpr std::array<CurveInfo, kCurves> kTable{{{"memory", N_("memory")},
                                                          {"utilization", N_("busy")},
                                                          {"temperature", N_("temperature")},
                                                          {"power", N_("power")},
                                                          {"fan", N_("fan")}}};
  return kTable;
}

const std::array<ColumnInfo, kColumns>& column_table() {
  static constexpr std::array<ColumnInfo, kColumns> kTable{
      {{"pid", N_("PID"), N_("process id"), 7, true, 0, false},
       {"user", N_("USER"), N_("user"), 8, false, 3, false},
       {"gpu", N_("GPU"), N_("GPU, and MIG device behind the point"), 4, true, 0, false},
       {"type", N_("TYPE"), N_("compute (C), graphics (G), Multi-Process Service (M)"), 4, false, 10, false},
       {"gpu_share", N_("GPU%"), N_("share of the GPU's time"), 5, true, 2, true},
       {"encoder", N_("ENC%"), N_("share of the encoder's time"), 5, true, 11, true},
       {"decoder", N_("DEC%"), N_("share of the decoder's time"), 5, true, 12, true},
       {"memory", N_("GPU MEM"), N_("memory of the GPU"), 10, true, 0, true},
       {"memory_share", N_("OF GPU"), N_("its share of the GPU's memory, as a bar"), 13, false, 7, true},
       {"trend", N_("HISTORY"), N_("memory over the window of the plots; sorted by growth"), 10, false, 9, true},
       {"cpu", N_("CPU%"), N_("share of one core"), 6, true, 5, true},
       {"host_memory", N_("HOST MEM"), N_("memory of the host (resident)"), 10, true, 8, true},
       {"age", N_("AGE"), N_("time since it was started"), 11, true, 6, true},
       {"state", N_("STATE"), N_("running, sleeping, stuck, stopped, zombie"), 8, false, 4, false},
       {"place", N_("WHERE"), N_("Slurm job, pod, container or unit"), 18, false, 13, false},
       {"command", N_("COMMAND"), N_("command line"), 12, false, 0, false}}};
  return kTable;
}

std::optional<Column> column_named(std::string_view name) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (column_table()[i].name == name) return static_cast<Column>(i);
  }
  return std::nullopt;
}

Setup::Setup() {
  for (const Column column :
       {Column::pid, Column::user, Column::gpu, Column::type, Column::gpu_share, Column::memory, Column::memory_share,
        Column::trend, Column::cpu, Column::host_memory, Column::state, Column::command}) {
    columns[static_cast<std::size_t>(column)] = true;
  }
}

}  // namespace vramscope::tui
