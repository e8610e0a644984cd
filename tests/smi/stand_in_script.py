"""Turns what nvidia-smi printed into a script for the stand-in of NVML (tests/stand_ins/nvml/README.md), so that a
program that asks it sees the machine of the capture. Numbers of fields (NVML_FI_…) are those of nvml.h.
"""
import re

MISSING = ("[N/A]", "N/A", "")

CHOICES = {
    "addressing_mode": ("addressing", ("None", "HMM", "ATS")),
    "display_attached": ("display.mode", ("No", "Yes")),
    "display_active": ("display.active", ("Disabled", "Enabled")),
    "persistence_mode": ("persistence", ("Disabled", "Enabled")),
    "accounting.mode": ("accounting", ("Disabled", "Enabled")),
    "driver_model.current": ("driver_model.current", ("WDDM", "TCC", "MCDM")),
    "driver_model.pending": ("driver_model.pending", ("WDDM", "TCC", "MCDM")),
    "compute_mode": ("compute_mode", ("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")),
    "ecc.mode.current": ("ecc.current", ("Disabled", "Enabled")),
    "ecc.mode.pending": ("ecc.pending", ("Disabled", "Enabled")),
    "mig.mode.current": ("mig.current", ("Disabled", "Enabled")),
    "mig.mode.pending": ("mig.pending", ("Disabled", "Enabled")),
    "gsp.mode.current": ("gsp.current", ("Disabled", "Enabled")),
    "gsp.mode.default": ("gsp.default", ("Disabled", "Enabled")),
    "c2c.mode": ("c2c", ("Disabled", "Enabled")),
    "fabric.state": ("fabric.state", ("N/A", "Not Started", "In Progress", "Completed")),
    "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded": ("sram.exceeded", ("No", "Yes")),
}
TEXTS = {"name": "name", "serial": "serial", "uuid": "uuid", "vbios_version": "vbios", "inforom.img": "inforom.img",
         "inforom.oem": "inforom.0", "inforom.ecc": "inforom.1", "inforom.pwr": "inforom.2", "hostname": "hostname"}
# Key of the stand-in and what one of the printed unit is.
NUMBERS = {
    "pci.domain": ("pci.domain", 1), "pci.bus": ("pci.bus", 1), "pci.device": ("pci.device", 1),
    "pci.baseClass": ("pci.class", 1), "pci.subClass": ("pci.subclass", 1), "pci.device_id": ("pci.id", 1),
    "pci.sub_device_id": ("pci.subsystem", 1), "pcie.link.gen.gpucurrent": ("pcie.gen", 1),
    "pcie.link.gen.max": ("pcie.gen.max", 1), "pcie.link.gen.gpumax": ("pcie.gen.gpumax", 1),
    "pcie.link.width.current": ("pcie.width", 1), "pcie.link.width.max": ("pcie.width.max", 1),
    "accounting.buffer_size": ("accounting.size", 1), "fan.speed": ("fan", 1),
    "clocks_event_reasons.supported": ("reasons.supported", 1), "clocks_event_reasons.active": ("reasons", 1),
    "memory.total": ("memory.total", 1 << 20), "memory.reserved": ("memory.reserved", 1 << 20),
    "memory.used": ("memory.used", 1 << 20), "memory.free": ("memory.free", 1 << 20),
    "compute_cap": ("compute_cap", 10), "utilization.gpu": ("utilization.gpu", 1),
    "utilization.memory": ("utilization.memory", 1), "utilization.encoder": ("encoder", 1),
    "utilization.decoder": ("decoder", 1), "utilization.jpeg": ("jpeg", 1), "utilization.ofa": ("ofa", 1),
    "encoder.stats.sessionCount": ("encoder.sessions", 1), "encoder.stats.averageFps": ("encoder.fps", 1),
    "encoder.stats.averageLatency": ("encoder.latency", 1), "temperature.gpu": ("temperature.0", 1),
    "temperature.gpu.tlimit": ("temperature.tlimit", 1), "power.draw": ("power", 1000),
    "power.default_limit": ("power.default", 1000), "power.min_limit": ("power.min", 1000),
    "power.max_limit": ("power.max", 1000), "clocks.current.graphics": ("clock.0", 1),
    "clocks.current.sm": ("clock.1", 1), "clocks.current.memory": ("clock.2", 1), "clocks.current.video": ("clock.3", 1),
    "clocks.max.graphics": ("clock.max.0", 1), "clocks.max.sm": ("clock.max.1", 1),
    "clocks.max.memory": ("clock.max.2", 1), "protected_memory.total": ("protected.total", 1 << 20),
    "protected_memory.used": ("protected.used", 1 << 20), "remapped_rows.histogram.max": ("histogram.max", 1),
    "remapped_rows.histogram.none": ("histogram.none", 1), "fabric.cliqueId": ("fabric.clique", 1),
    "platform.module_id": ("module", 1), "bar1.used": ("bar1.used", 1 << 20),
}
FIELDS = {
    "clocks_event_reasons_counters.sw_power_cap": (74, 1000), "clocks_event_reasons_counters.sync_boost": (76, 1000),
    "clocks_event_reasons_counters.sw_thermal_slowdown": (269, 1000),
    "clocks_event_reasons_counters.hw_thermal_slowdown": (270, 1000),
    "clocks_event_reasons_counters.hw_power_brake_slowdown": (271, 1000),
    "temperature.memory": (82, 1), "power.draw.average": (185, 1000), "power.draw.instant": (186, 1000),
    "power.limit": (192, 1000), "enforced.power.limit": (190, 1000), "edpp_multiplier": (274, 1),
    "retired_pages.single_bit_ecc.count": (29, 1), "retired_pages.double_bit.count": (30, 1),
    "remapped_rows.correctable": (142, 1), "remapped_rows.uncorrectable": (143, 1),
    "remapped_rows.correctable_inactive": (301, 1), "remapped_rows.uncorrectable_inactive": (302, 1),
}
FIELD_CHOICES = {
    "retired_pages.pending": (31, ("No", "Yes")), "remapped_rows.pending": (144, ("No", "Yes")),
    "remapped_rows.failure": (145, ("No", "Yes")),
    "gpu_recovery_action": (230, ("None", "Reset", "Reboot", "Drain P2P", "Drain and Reset")),
}
# NVML_FI_DEV_ECC_…: the first of four, of corrected and uncorrected, volatile and aggregate.
ECC_PLACES = {"total": (3, 4, 5, 6), "l1_cache": (7, 8, 18, 19), "l2_cache": (9, 10, 20, 21),
              "dram": (11, 12, 22, 23), "device_memory": (11, 12, 22, 23), "register_file": (13, 14, 24, 25),
              "texture_memory": (15, 16, 26, 27), "cbu": (None, 17, None, 28)}


def whole(text, scale):
    """The printed number, in the stand-in's unit: "631.95 W" with 1000 is 631950."""
    word = text.split()[0]
    if word.startswith("0x"):
        return int(word, 16) * scale
    return round(float(word) * scale)


def ecc_lines(field, value):
    parts = field.split(".")
    if parts[:2] != ["ecc", "errors"]:
        return []
    uncorrected, aggregate = parts[2] == "uncorrected", parts[3] == "aggregate"
    place = ".".join(parts[4:])
    if place == "sram":
        return [f"set ecc.{int(uncorrected)}.{int(aggregate)}.7 {value}"]
    if place.startswith("sram."):
        return [f"set sram {value}", "set sram.step 0"]  # all are equal in the captures
    number = ECC_PLACES[place][int(uncorrected) + 2 * int(aggregate)]
    return [] if number is None else [f"field {number} {value}"]


def lines_of(field, value):
    """The lines of the script that make the stand-in say this value of this field."""
    if value in MISSING or value.startswith("[Requested functionality"):
        return []
    if field == "pci.bus_id":
        domain, bus, device = re.match(r"(\w+):(\w+):(\w+)\.0", value).groups()
        return [f"set pci.domain 0x{domain}", f"set pci.bus 0x{bus}", f"set pci.device 0x{device}"]
    if field == "pstate":
        return [f"set pstate {value[1:]}"]
    if field == "fabric.clusterUuid":
        return ["set fabric.plain 1"] if set(value) <= set("0-") else []
    if field in TEXTS:
        return [f"text {TEXTS[field]} {value}"]
    if field in CHOICES:
        key, words = CHOICES[field]
        return [f"set {key} {words.index(value)}"] if value in words else []  # a word that no GPU says
    if field in NUMBERS:
        key, scale = NUMBERS[field]
        return [f"set {key} {whole(value, scale)}"]
    if field in FIELDS:
        number, scale = FIELDS[field]
        return [f"field {number} {whole(value, scale)}"]
    if field in FIELD_CHOICES:
        number, words = FIELD_CHOICES[field]
        return [f"field {number} {words.index(value)}"]
    return ecc_lines(field, value)


def gpu_lines(values):
    """A GPU with these values, by name of field."""
    lines = ["gpu"] + [line for field, value in values.items() for line in lines_of(field, value)]
    if "memory.used" in values and "memory.total" not in values:
        lines.append("set memory.total 64G")  # the driver tells both at once
    return lines
