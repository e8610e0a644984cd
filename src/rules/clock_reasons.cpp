#include "rules/clock_reasons.h"

#include <iterator>

#include "analysis/clock_reason_bits.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace clock_reason;

constexpr ClockReason kReasons[] = {
    {kPowerBrake, Severity::error, N_("GPU {gpu} is slowed down by the power supply"),
     N_("The power brake is active: a supply or the rack asks for less power."),
     N_("Look at power supplies and cables, and at the power limits of the machine."),
     N_("Look at power supplies and cables, and at the power limits of the machine.")},
    {kHwThermal, Severity::error, N_("GPU {gpu} is too hot and slowed down by its hardware"),
     N_("The hardware lowers the clocks to save itself."),
     N_("Look at fans, dust and air flow now; lower the power limit until then: `sudo nvidia-smi -i {gpu} -pl "
        "WATTS`."),
     N_("Look at fans, dust and air flow now; lower the power limit until then (power1_cap or power1_max of the card's "
        "hwmon).")},
    {kSwThermal, Severity::warning, N_("GPU {gpu} is hot and slowed down"),
     N_("The driver lowers the clocks to keep the temperature at its target."),
     N_("Better cooling, or a lower power limit, gives steadier clocks: `sudo nvidia-smi -i {gpu} -pl WATTS`."),
     N_("Better cooling, or a lower power limit (power1_cap or power1_max of the card's hwmon), gives steadier "
        "clocks.")},
    {kHwSlowdown, Severity::warning, N_("GPU {gpu} is slowed down by its hardware"),
     N_("The hardware lowers the clocks, for heat, for power, or at the wish of the machine."),
     N_("`vramscope smi --query-gpu=clocks_event_reasons.active,temperature.gpu,power.draw --format=csv -l 1` shows "
        "with "
        "what it goes."),
     N_("`vramscope watch` shows with what it goes.")},
    {kSwPowerCap, Severity::info, N_("GPU {gpu} is at its power limit"),
     N_("Clocks are lowered to stay below the power limit. Under full load that is normal."),
     N_("If the limit is below what the card can take, it can be raised: `sudo nvidia-smi -i {gpu} -pl WATTS`."),
     N_("If the limit is below what the card can take, it can be raised (power1_cap or power1_max of the card's "
        "hwmon).")},
};

}  // namespace

ClockReasons clock_reasons() {
  return {std::begin(kReasons), std::end(kReasons)};
}

}  // namespace vramscope
