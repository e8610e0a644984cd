"""Turns what nvidia-smi -q or -q -x printed of a machine into a script for the stand-in of NVML."""
import re

from stand_in_script import lines_of

BRANDS = ["Unknown", "Quadro", "Tesla", "NVS", "GRID", "GeForce", "Titan", "NVIDIA Virtual Applications",
          "NVIDIA Virtual PC", "NVIDIA Virtual Compute Server", "NVIDIA RTX Virtual Workstation",
          "NVIDIA Cloud Gaming", "Quadro RTX", "NVIDIA RTX", "NVIDIA", "GeForce RTX", "Titan RTX"]
ARCHITECTURES = {"Kepler": 2, "Maxwell": 3, "Pascal": 4, "Volta": 5, "Turing": 6, "Ampere": 7, "Ada Lovelace": 8,
                 "Hopper": 9, "Blackwell": 10}
VIRTUALIZATION = ["None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"]
ATOMICS = ["FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128"]
REASONS = {("Idle", "clocks_event_reason_gpu_idle"): 1,
           ("Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting"): 2,
           ("SW Power Cap", "clocks_event_reason_sw_power_cap"): 4, ("HW Slowdown", "clocks_event_reason_hw_slowdown"): 8,
           ("Sync Boost", "clocks_event_reason_sync_boost"): 0x10,
           ("SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown"): 0x20,
           ("HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown"): 0x40,
           ("HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown"): 0x80,
           ("Display Clock Setting", "clocks_event_reason_display_clocks_setting"): 0x100}

# Place in the text, place in the XML, and the field of --query-gpu with this value.
FIELDS = [
    ("Product Name", "product_name", "name"), ("Display Attached", "display_attached", "display_attached"),
    ("Display Active", "display_active", "display_active"),
    ("Persistence Mode", "persistence_mode", "persistence_mode"),
    ("Addressing Mode", "addressing_mode", "addressing_mode"),
    ("MIG Mode/Current", "mig_mode/current_mig", "mig.mode.current"),
    ("MIG Mode/Pending", "mig_mode/pending_mig", "mig.mode.pending"),
    ("Accounting Mode", "accounting_mode", "accounting.mode"),
    ("Accounting Mode Buffer Size", "accounting_mode_buffer_size", "accounting.buffer_size"),
    ("Driver Model/Current", "driver_model/current_dm", "driver_model.current"),
    ("Driver Model/Pending", "driver_model/pending_dm", "driver_model.pending"),
    ("Serial Number", "serial", "serial"), ("GPU UUID", "uuid", "uuid"),
    ("VBIOS Version", "vbios_version", "vbios_version"),
    ("Platform Info/Module Id", "platformInfo/module_id", "platform.module_id"),
    ("Inforom Version/Image Version", "inforom_version/img_version", "inforom.img"),
    ("Inforom Version/OEM Object", "inforom_version/oem_object", "inforom.oem"),
    ("Inforom Version/ECC Object", "inforom_version/ecc_object", "inforom.ecc"),
    ("Inforom Version/Power Management Object", "inforom_version/pwr_object", "inforom.pwr"),
    ("GPU C2C Mode", "c2c_mode", "c2c.mode"), ("GPU Recovery Action", "gpu_recovery_action", "gpu_recovery_action"),
    ("PCI/Bus Id", "pci/pci_bus_id", "pci.bus_id"), ("PCI/Device Id", "pci/pci_device_id", "pci.device_id"),
    ("PCI/Base Classcode", "pci/pci_base_class", "pci.baseClass"),
    ("PCI/Sub Classcode", "pci/pci_sub_class", "pci.subClass"),
    ("PCI/Sub System Id", "pci/pci_sub_system_id", "pci.sub_device_id"),
    ("PCI/GPU Link Info/PCIe Generation/Max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", "pcie.link.gen.max"),
    ("PCI/GPU Link Info/PCIe Generation/Current", "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
     "pcie.link.gen.gpucurrent"),
    ("PCI/GPU Link Info/PCIe Generation/Device Max", "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen",
     "pcie.link.gen.gpumax"),
    ("PCI/GPU Link Info/Link Width/Max", "pci/pci_gpu_link_info/link_widths/max_link_width", "pcie.link.width.max"),
    ("PCI/GPU Link Info/Link Width/Current", "pci/pci_gpu_link_info/link_widths/current_link_width",
     "pcie.link.width.current"),
    ("Fan Speed", "fan_speed", "fan.speed"), ("Performance State", "performance_state", "pstate"),
    ("Clocks Event Reasons Counters/SW Power Capping",
     "clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap",
     "clocks_event_reasons_counters.sw_power_cap"),
    ("Clocks Event Reasons Counters/Sync Boost",
     "clocks_event_reasons_counters/clocks_event_reasons_counters_sync_boost",
     "clocks_event_reasons_counters.sync_boost"),
    ("Clocks Event Reasons Counters/SW Thermal Slowdown",
     "clocks_event_reasons_counters/clocks_event_reasons_counters_sw_therm_slowdown",
     "clocks_event_reasons_counters.sw_thermal_slowdown"),
    ("Clocks Event Reasons Counters/HW Thermal Slowdown",
     "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_therm_slowdown",
     "clocks_event_reasons_counters.hw_thermal_slowdown"),
    ("Clocks Event Reasons Counters/HW Power Braking",
     "clocks_event_reasons_counters/clocks_event_reasons_counters_hw_power_brake",
     "clocks_event_reasons_counters.hw_power_brake_slowdown"),
    ("FB Memory Usage/Total", "fb_memory_usage/total", "memory.total"),
    ("FB Memory Usage/Reserved", "fb_memory_usage/reserved", "memory.reserved"),
    ("FB Memory Usage/Used", "fb_memory_usage/used", "memory.used"),
    ("FB Memory Usage/Free", "fb_memory_usage/free", "memory.free"),
    ("BAR1 Memory Usage/Used", "bar1_memory_usage/used", "bar1.used"),
    ("Conf Compute Protected Memory Usage/Total", "cc_protected_memory_usage/total", "protected_memory.total"),
    ("Conf Compute Protected Memory Usage/Used", "cc_protected_memory_usage/used", "protected_memory.used"),
    ("Compute Mode", "compute_mode", "compute_mode"), ("Utilization/GPU", "utilization/gpu_util", "utilization.gpu"),
    ("Utilization/Memory", "utilization/memory_util", "utilization.memory"),
    ("Utilization/Encoder", "utilization/encoder_util", "utilization.encoder"),
    ("Utilization/Decoder", "utilization/decoder_util", "utilization.decoder"),
    ("Utilization/JPEG", "utilization/jpeg_util", "utilization.jpeg"),
    ("Utilization/OFA", "utilization/ofa_util", "utilization.ofa"),
    ("Encoder Stats/Active Sessions", "encoder_stats/session_count", "encoder.stats.sessionCount"),
    ("Encoder Stats/Average FPS", "encoder_stats/average_fps", "encoder.stats.averageFps"),
    ("Encoder Stats/Average Latency", "encoder_stats/average_latency", "encoder.stats.averageLatency"),
    ("ECC Mode/Current", "ecc_mode/current_ecc", "ecc.mode.current"),
    ("ECC Mode/Pending", "ecc_mode/pending_ecc", "ecc.mode.pending"),
    ("ECC Errors/Aggregate/SRAM Threshold Exceeded", "ecc_errors/aggregate/sram_threshold_exceeded",
     "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded"),
    ("ECC Errors/Volatile/SRAM Uncorrectable Parity", "ecc_errors/volatile/sram_uncorrectable_parity",
     "ecc.errors.uncorrected.volatile.sram.parity"),
    *[(f"ECC Errors/{c.title()}/{m} {k.title()}", f"ecc_errors/{c}/{m.lower()}_{k}",
       f"ecc.errors.{k.replace('correctable', 'corrected')}.{c}.{m.lower()}")
      for c in ("volatile", "aggregate") for m in ("SRAM", "DRAM") for k in ("correctable", "uncorrectable")],
    *[(f"ECC Errors/{c.title()}/{bits} Bit/{text}", f"ecc_errors/{c}/{bits.lower()}_bit/{place}",
       f"ecc.errors.{kind}.{c}.{place}")
      for c in ("volatile", "aggregate") for bits, kind in (("Single", "corrected"), ("Double", "uncorrected"))
      for text, place in (("Device Memory", "device_memory"), ("Register File", "register_file"),
                          ("L1 Cache", "l1_cache"), ("L2 Cache", "l2_cache"), ("Texture Memory", "texture_memory"),
                          ("CBU", "cbu"), ("Total", "total"))],
    ("Retired Pages/Single Bit ECC", "retired_pages/multiple_single_bit_retirement/retired_count",
     "retired_pages.single_bit_ecc.count"),
    ("Retired Pages/Double Bit ECC", "retired_pages/double_bit_retirement/retired_count",
     "retired_pages.double_bit.count"),
    ("Retired Pages/Pending Page Blacklist", "retired_pages/pending_retirement", "retired_pages.pending"),
    ("Remapped Rows/Correctable Error", "remapped_rows/remapped_row_corr", "remapped_rows.correctable"),
    ("-", "remapped_rows/remapped_row_corr_inactive",
     "remapped_rows.correctable_inactive"),
    ("Remapped Rows/Uncorrectable Error", "remapped_rows/remapped_row_unc", "remapped_rows.uncorrectable"),
    ("-", "remapped_rows/remapped_row_unc_inactive",
     "remapped_rows.uncorrectable_inactive"),
    ("Remapped Rows/Pending", "remapped_rows/remapped_row_pending", "remapped_rows.pending"),
    ("Remapped Rows/Remapping Failure Occurred", "remapped_rows/remapped_row_failure", "remapped_rows.failure"),
    ("Remapped Rows/Bank Remap Availability Histogram/Max",
     "remapped_rows/row_remapper_histogram/row_remapper_histogram_max", "remapped_rows.histogram.max"),
    ("Remapped Rows/Bank Remap Availability Histogram/None",
     "remapped_rows/row_remapper_histogram/row_remapper_histogram_none", "remapped_rows.histogram.none"),
    ("Temperature/GPU Current Temp", "temperature/gpu_temp", "temperature.gpu"),
    ("Temperature/GPU T.Limit Temp", "temperature/gpu_temp_tlimit", "temperature.gpu.tlimit"),
    ("Temperature/Memory Current Temp", "temperature/memory_temp", "temperature.memory"),
    ("GPU Power Readings/Average Power Draw", "gpu_power_readings/average_power_draw", "power.draw.average"),
    ("GPU Power Readings/Instantaneous Power Draw", "gpu_power_readings/instant_power_draw", "power.draw.instant"),
    ("GPU Power Readings/Current Power Limit", "gpu_power_readings/current_power_limit", "enforced.power.limit"),
    ("GPU Power Readings/Requested Power Limit", "gpu_power_readings/requested_power_limit", "power.limit"),
    ("GPU Power Readings/Default Power Limit", "gpu_power_readings/default_power_limit", "power.default_limit"),
    ("GPU Power Readings/Min Power Limit", "gpu_power_readings/min_power_limit", "power.min_limit"),
    ("GPU Power Readings/Max Power Limit", "gpu_power_readings/max_power_limit", "power.max_limit"),
    ("EDPp Multiplier", "edpp_multiplier", "edpp_multiplier"),
    ("Clocks/Graphics", "clocks/graphics_clock", "clocks.current.graphics"),
    ("Clocks/SM", "clocks/sm_clock", "clocks.current.sm"),
    ("Clocks/Memory", "clocks/mem_clock", "clocks.current.memory"),
    ("Clocks/Video", "clocks/video_clock", "clocks.current.video"),
    ("Max Clocks/Graphics", "max_clocks/graphics_clock", "clocks.max.graphics"),
    ("Max Clocks/SM", "max_clocks/sm_clock", "clocks.max.sm"),
    ("Max Clocks/Memory", "max_clocks/mem_clock", "clocks.max.memory"),
    ("Fabric/State", "fabric/state", "fabric.state"), ("Fabric/CliqueId", "fabric/cliqueId", "fabric.cliqueId"),
    ("Fabric/ClusterUUID", "fabric/clusterUuid", "fabric.clusterUuid"),
]

# The same, and the key of the stand-in with what one of the printed unit is.
MEBIBYTE = 1 << 20
KEYS = [
    ("GPU PDI", "pdi", "set pdi", None), ("Minor Number", "minor_number", "set minor", 1),
    ("Board ID", "board_id", "set board.id", None), ("BAR1 Memory Usage/Total", "bar1_memory_usage/total",
                                                      "set bar1.total", MEBIBYTE),
    ("Board Part Number", "board_part_number", "text board.part", None),
    ("GSP Firmware Version", "gsp_firmware_version", "text gsp.version", None),
    ("PCI/Replays Since Reset", "pci/replay_counter", "field 94", 1),
    ("PCI/Replay Number Rollovers", "pci/replay_rollover_counter", "field 95", 1),
    ("PCI/Tx Throughput", "pci/tx_util", "set pcie.throughput.0", 1),
    ("PCI/Rx Throughput", "pci/rx_util", "set pcie.throughput.1", 1),
    *[(f"ECC Errors/{c.title()}/{bits} Bit/Texture Shared", f"ecc_errors/{c}/{bits.lower()}_bit/texture_shm",
       f"set ecc.{kind}.{period}.5", 1)
      for period, c in enumerate(("volatile", "aggregate")) for kind, bits in enumerate(("Single", "Double"))],
    ("FBC Stats/Active Sessions", "fbc_stats/session_count", "set fbc.sessions", 1),
    ("FBC Stats/Average FPS", "fbc_stats/average_fps", "set fbc.fps", 1),
    ("FBC Stats/Average Latency", "fbc_stats/average_latency", "set fbc.latency", 1),
    ("Remapped Rows/Bank Remap Availability Histogram/High",
     "remapped_rows/row_remapper_histogram/row_remapper_histogram_high", "set histogram.high", 1),
    ("Remapped Rows/Bank Remap Availability Histogram/Partial",
     "remapped_rows/row_remapper_histogram/row_remapper_histogram_partial", "set histogram.partial", 1),
    ("Remapped Rows/Bank Remap Availability Histogram/Low",
     "remapped_rows/row_remapper_histogram/row_remapper_histogram_low", "set histogram.low", 1),
    ("Temperature/GPU Shutdown Temp", "temperature/gpu_temp_max_threshold", "set threshold.0", 1),
    ("Temperature/GPU Slowdown Temp", "temperature/gpu_temp_slow_threshold", "set threshold.1", 1),
    ("Temperature/Memory Max Operating Temp", "temperature/gpu_temp_max_mem_threshold", "set threshold.2", 1),
    ("Temperature/GPU Max Operating Temp", "temperature/gpu_temp_max_gpu_threshold", "set threshold.3", 1),
    ("Temperature/GPU Target Temperature", "temperature/gpu_target_temperature", "set threshold.5", 1),
    ("-", "supported_gpu_target_temp/gpu_target_temp_min", "set threshold.4", 1),
    ("-", "supported_gpu_target_temp/gpu_target_temp_max", "set threshold.6", 1),
    ("Temperature/GPU Shutdown T.Limit Temp", "temperature/gpu_temp_max_tlimit_threshold", "field 193", 1),
    ("Temperature/GPU Slowdown T.Limit Temp", "temperature/gpu_temp_slow_tlimit_threshold", "field 194", 1),
    ("Temperature/Memory Max Operating T.Limit Temp", "temperature/gpu_temp_max_mem_tlimit_threshold", "field 195", 1),
    ("Temperature/GPU Max Operating T.Limit Temp", "temperature/gpu_temp_max_gpu_tlimit_threshold", "field 196", 1),
    ("GPU Memory Power Readings/Average Power Draw", "gpu_memory_power_readings/average_power_draw", "field 185/2",
     1000),
    ("GPU Memory Power Readings/Instantaneous Power Draw", "gpu_memory_power_readings/instant_power_draw",
     "field 186/2", 1000),
    ("Max Clocks/Video", "max_clocks/video_clock", "set clock.max.3", 1),
    ("Max Customer Boost Clocks/Graphics", "max_customer_boost_clocks/graphics_clock", "set clock.boost.0", 1),
]
WORDS = [
    ("Product Brand", "product_brand", "set brand", BRANDS),
    ("MultiGPU Board", "multigpu_board", "set board.multi", ["No", "Yes"]),
    ("GPU Virtualization Mode/Virtualization Mode", "gpu_virtualization_mode/virtualization_mode",
     "set virtualization", VIRTUALIZATION),
    ("ECC Errors/Channel Repair Pending", "ecc_errors/channel_repair_pending", "set repair.channel", ["No", "Yes"]),
    ("ECC Errors/TPC Repair Pending", "ecc_errors/tpc_repair_pending", "set repair.tpc", ["No", "Yes"]),
    ("ECC Errors/Unrepairable Memory", "ecc_errors/unrepairable_memory", "set unrepairable", ["No", "Yes"]),
    ("Capabilities/EGM", "capabilities/egm", "set capabilities", ["disabled", "enabled"]),
    ("DRAM Encryption Mode/Current", "dram_encryption_mode/current_dram_encryption", "set encryption.current",
     ["Disabled", "Enabled"]),
    ("DRAM Encryption Mode/Pending", "dram_encryption_mode/pending_dram_encryption", "set encryption.pending",
     ["Disabled", "Enabled"]),
]
HEX_IN_XML = ("pci.baseClass", "pci.subClass", "pci.device_id", "pci.sub_device_id")


def is_missing(value):
    return value in (None, "", "N/A") or "[REDACTED]" in value or value.startswith(("Requested functionality", "Not available", "[N/A"))


def number(value, scale):
    if scale is None or value.startswith("0x"):
        return value
    return round(float(re.match(r"-?[\d.]+", value).group()) * scale)


# Places of older layouts that the newest one names otherwise.
RENAMED = {
    "power_readings/enforced_power_limit": "gpu_power_readings/current_power_limit",
    "power_readings/power_limit": "gpu_power_readings/requested_power_limit",
    "power_readings/default_power_limit": "gpu_power_readings/default_power_limit",
    "power_readings/min_power_limit": "gpu_power_readings/min_power_limit",
    "power_readings/max_power_limit": "gpu_power_readings/max_power_limit",
    "power_readings/power_state": "gpu_power_readings/power_state",
    "Utilization/Gpu": "Utilization/GPU", "Module ID": "Platform Info/Module Id",
    "gpu_module_id": "platformInfo/module_id",
}


def newest_path(path):
    """Where the newest layout has this value."""
    place = "/".join(part.strip() for part in path)
    place = place.replace("clocks_throttle", "clocks_event").replace("Clocks Throttle Reasons", "Clocks Event Reasons")
    return RENAMED.get(place, place)


class Capture:
    """One GPU of a capture."""

    def __init__(self, values, is_xml):
        self.is_xml = is_xml
        self.values = values
        self.known = {}
        for path, value in values:
            self.known.setdefault(newest_path(path), value)

        self.known.setdefault("pci/pci_bus_id", self.known.get("id"))

    def get(self, text, xml):
        return self.known.get(xml if self.is_xml else text)

    def lines(self):
        script = ["gpu"]
        for text, xml, field in FIELDS:
            value = self.get(text, xml)
            if is_missing(value):
                continue
            if self.is_xml and field in HEX_IN_XML:
                value = "0x" + value
            script += lines_of(field, value.rstrip("x%") if not value.startswith("0x") else value)
        for text, xml, key, scale in KEYS:
            value = self.get(text, xml)
            if not is_missing(value):
                script.append(f"{key} {value if key.startswith('text') else number(value, scale)}")
        for text, xml, key, words in WORDS:
            value = self.get(text, xml)
            if value in words:
                script.append(f"{key} {words.index(value)}")
        architecture = self.get("Product Architecture", "product_architecture")
        if architecture is None and "ecc_errors/volatile/single_bit/total" in self.known:
            architecture = "Pascal"  # older drivers did not say it
        if architecture in ARCHITECTURES:
            script.append(f"set architecture {ARCHITECTURES[architecture]}")
        for (side, text, xml), field in zip((("out", "PCI/Atomic Caps Outbound", "pci/atomic_caps_outbound"),
                                             ("in", "PCI/Atomic Caps Inbound", "pci/atomic_caps_inbound")), (228, 229)):
            value = self.get(text, xml)
            if not is_missing(value):
                script.append(f"field {field} {sum(1 << ATOMICS.index(word) for word in value.split())}")
        return script + self.reasons() + self.clocks() + self.migs() + self.processes()

    def reasons(self):
        mask, is_known = 0, False
        for (text, xml), bit in REASONS.items():
            nested = f"HW Slowdown/{text}" if text.startswith("HW ") and text != "HW Slowdown" else text
            value = self.get(f"Clocks Event Reasons/{nested}", f"clocks_event_reasons/{xml}")
            is_known = is_known or value in ("Active", "Not Active")
            mask |= bit if value == "Active" else 0
        return [f"set reasons {mask}"] if is_known else []

    def clocks(self):
        lines = []
        for path, value in self.values:
            if not self.is_xml or path[0] != "supported_clocks" or len(path) < 3:
                continue
            if path[-1] == "value":
                lines.append(f"clocks {number(value, 1)}")
            else:
                lines[-1] += f" {number(value, 1)}"
        return lines

    def groups(self, *names):
        """Dictionaries of what comes several times; `names`: the first of a group, in text and XML."""
        out, last = [], None
        begin = names[1 if self.is_xml else 0]
        for path, value in self.values:
            at = "/".join(path)
            if at == begin:
                out.append({})
            if out and at.startswith(begin.rsplit("/", 1)[0] + "/"):
                out[-1]["/".join(path[begin.count("/"):])] = value
        return out

    def migs(self):
        """MIG devices come first in a GPU's script: what follows `mig` is of that device."""
        lines = []
        for mig in self.groups("MIG Device/Index", "mig_devices/mig_device/index"):
            get = lambda text, xml: mig[xml if self.is_xml else text]
            shared = ("Device Attributes/Shared", "device_attributes/shared")
            lines += ["mig", "text name GPU MIG 1g.10gb", f"text uuid MIG-{get('Index', 'index')}",
                      f"set gpu_instance {get('GPU Instance ID', 'gpu_instance_id')}",
                      f"set compute_instance {get('Compute Instance ID', 'compute_instance_id')}", "set mig.slices 1"]
            for text, xml, key in (("Multiprocessor", "multiprocessor", "multiprocessors"), ("Copy Engine",
                                   "copy_engine", "copy"), ("Encoder", "encoder", "encoders"), ("Decoder", "decoder",
                                   "decoders"), ("OFA", "ofa", "ofas"), ("JPG", "jpg", "jpegs")):
                value = get(f"{shared[0]}/{text} count", f"{shared[1]}/{xml}_count")
                lines.append(f"set mig.{key} {value}")
            errors = get("ECC Errors/Volatile/SRAM Uncorrectable", "ecc_error_count/volatile_count/sram_uncorrectable")
            lines.append(f"set ecc.1.0.7 {errors}")
            memory = "Shared FB Memory Usage" if "Shared FB Memory Usage/Used" in mig else "FB Memory Usage"
            bar1 = "Shared BAR1 Memory" if "Shared BAR1 Memory/Used" in mig else "BAR1 Memory Usage"
            for text, xml, key in (("Total", "total", "total"), ("Reserved", "reserved", "reserved"),
                                   ("Used", "used", "used"), ("Free", "free", "free")):
                value = mig.get(f"fb_memory_usage/{xml}" if self.is_xml else f"{memory}/{text}")
                if value is not None:
                    lines.append(f"set memory.{key} {number(value, MEBIBYTE)}")
                if key in ("total", "used"):
                    lines.append(f"set bar1.{key} {number(get(f'{bar1}/{text}', f'bar1_memory_usage/{xml}'), MEBIBYTE)}")
        return lines

    def processes(self):
        lines = []
        first = ("Processes/GPU instance ID", "processes/process_info/gpu_instance_id")
        for process in self.groups(*first):
            get = lambda text, xml: process.get(xml if self.is_xml else text)
            pid = get("Process ID", "pid")
            used = get("Process ID/Used GPU Memory", "used_memory")
            bytes_ = "-" if is_missing(used) else number(used, MEBIBYTE)
            ids = [get("GPU instance ID", "gpu_instance_id"), get("Compute instance ID", "compute_instance_id")]
            ids = [] if is_missing(ids[0]) else ids
            for letter in get("Process ID/Type", "type").split("+"):
                lines.append(f"process {letter} {pid} {bytes_} {' '.join(ids)}".rstrip())
            lines.append(f"name {pid} {get('Process ID/Name', 'process_name')}")
        return lines


def script_of(machine, gpus, is_xml):
    known = {path[-1]: value for path, value in machine}
    script = []
    driver = known.get("driver_version" if is_xml else "Driver Version")
    cuda = known.get("cuda_version" if is_xml else "CUDA Version")
    if not is_missing(driver):
        script.append(f"driver {driver}")
    if not is_missing(cuda):
        major, minor = cuda.split(".")
        script.append(f"cuda {int(major) * 1000 + int(minor) * 10}")
    for values in gpus:
        lines = Capture(values, is_xml).lines()
        # Processes belong to the GPU, and stand before its MIG devices.
        of_processes = [line for line in lines if line.startswith(("process ", "name "))]
        rest = [line for line in lines if line not in of_processes]
        at = rest.index("mig") if "mig" in rest else len(rest)
        script += rest[:at] + of_processes + rest[at:]
    return script
