#!/usr/bin/env python3
"""Comparison of `vramscope smi`, `smi -q` and `smi -q -x` with what nvidia-smi printed on real machines.

Each capture in ../shared/real (or $VRAMSCOPE_REAL) is read by q_reading.py and turned into a script for the stand-in of
NVML; the program, which $VRAMSCOPE names, then sees that machine. Captures of the newest layouts (drivers 590 and 595)
must be printed again line by line; of older ones, which are only read, every value that the newest layout still has.
What cannot be equal is listed by name below. Exit status 1 when anything else differs, 77 without captures.
"""
import difflib
import re
import sys

import q_reading
from check_captures import REAL, compare
from q_script import is_missing, newest_path, script_of
from stand_in_script import gpu_lines

NO_CALL = "no public function of NVML tells it"
# Lines (in text by name, in XML by element) that may differ, with the reason.
UNTOLD = {"GPU Part Number": NO_CALL, "gpu_part_number": NO_CALL, "Sparse Operation Mode": NO_CALL,
          "sparse_operation_mode": NO_CALL, "Relaxed Ordering Mode": NO_CALL}
MOMENTS = {"Timestamp": "the moment", "timestamp": "the moment"}
# Lines of the newest layout that came after 590.
SINCE_595 = {"Partition Assigned": "since 595", "partition_assigned": "since 595"}
# Values of older captures that another driver tells in other words, by file ("" for all) and path.
OLDER = {
    ("", "display_mode"): "deprecated since 580", ("", "Display Mode"): "deprecated since 580",
    ("", "applications_clocks/graphics_clock"): "deprecated since 580",
    ("", "applications_clocks/mem_clock"): "deprecated since 580",
    ("", "default_applications_clocks/graphics_clock"): "deprecated since 580",
    ("", "default_applications_clocks/mem_clock"): "deprecated since 580",
    ("", "Applications Clocks/Graphics"): "deprecated since 580",
    ("", "Applications Clocks/Memory"): "deprecated since 580",
    ("", "Default Applications Clocks/Graphics"): "deprecated since 580",
    ("", "Default Applications Clocks/Memory"): "deprecated since 580",
    ("", "gpu_power_readings/power_state"): "deprecated since 575",
    ("", "module_power_readings/power_state"): "deprecated since 575",
    ("", "GPU Part Number"): NO_CALL, ("", "gpu_part_number"): NO_CALL,
}
# Places of older captures that the newest layout does not have, with the reason.
GONE = [
    (r"(?i)ecc.errors/(volatile|aggregate)/sram.uncorrectable", "in two parts since 550, where ECC has parts"),
    (r"gpu_power_readings/power_draw|(GPU|Module) Power Readings/Power Draw|(module_)?power_readings/power_draw",
     "average and instantaneous since 545"),
    (r"power_readings/power_management", "left out since 535"),
    (r"(?i)gpu.reset.status/(drain.and.)?reset.(required|recommended)", "GPU Recovery Action since 560"),
    (r"(?i)voltage/graphics(_volt)?", "left out since 580"),
]
FEW = {"telegraf__gtx-1070-ti.xml": 20}  # cut down by its authors


def name_of(line):
    element = re.match(r"\s*<(\w+)>", line)
    return element.group(1) if element else line.split(" :")[0].strip()


def compare_lines(tally, want, got, allowed):
    """Equal as a whole, but for lines whose names are allowed to differ."""
    matcher = difflib.SequenceMatcher(None, want, got, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        tally.cells += b - a
        if kind == "equal":
            tally.equal += b - a
            continue
        for side, lines in (("nvidia-smi", want[a:b]), ("printed", got[c:d])):
            for line in lines:
                reason = allowed.get(name_of(line))
                if reason is None:
                    tally.problems.append(f"{side}: {line!r}")
                elif "moment" not in reason:
                    tally.excused.append(f"{name_of(line)}: {reason}")


def run(machine, arguments, values, is_xml=False):
    whole, gpus = values
    machine.forget_root_ports()
    ports = {}
    for gpu in gpus:
        host = q_reading.first(gpu, "max_host_link_gen" if is_xml else "Host Max")
        if not is_missing(host):
            ports[dict(gpu)[("id",)]] = host
    return machine.run(arguments, script_of(whole, gpus, is_xml), ports)


def check_newest_text(machine, path, tally):
    want = path.read_text(encoding="utf-8")
    values = q_reading.read_text(want)
    got = run(machine, ["-q"], values)
    allowed = {**UNTOLD, **MOMENTS, **(SINCE_595 if "590" in path.name else {})}
    # The capture's last empty line was cut off with the end of its section.
    compare_lines(tally, want.rstrip("\n").split("\n"), got.rstrip("\n").split("\n"), allowed)
    if not got.endswith("\n\n"):
        tally.problems.append("no empty line behind the last GPU")


def check_newest_xml(machine, path, tally):
    want = path.read_text(encoding="utf-8")
    values = q_reading.read_xml(want)
    got = run(machine, ["-q", "-x"], values, True)
    driver = dict(values[0])[("driver_version",)]
    allowed = {**UNTOLD, **MOMENTS, **(SINCE_595 if driver < "595" else {})}
    compare_lines(tally, want.rstrip("\n").split("\n"), got.rstrip("\n").split("\n"), allowed)


def check_older(machine, path, tally, read, is_xml):
    """Value by value; what the newest layout has no place for is counted."""
    want = read(path.read_text(encoding="utf-8"))
    got = read(run(machine, ["-q", *(["-x"] if is_xml else [])], want, is_xml))
    if len(want[1]) != len(got[1]):
        tally.problems.append(f"{len(got[1])} GPUs, nvidia-smi {len(want[1])}")
    gone = []
    for want_gpu, got_gpu in zip(want[1], got[1]):
        have = {}
        for at, value in got_gpu:
            have.setdefault(newest_path(at), []).append(value)
        seen = {}
        for at, value in want_gpu:
            place = newest_path(at)
            number = seen[place] = seen.get(place, -1) + 1
            if number >= len(have.get(place, [])):
                gone.append(place)
                continue
            compare_value(tally, path.name, place, value, have[place][number])
    for place in sorted(set(gone)):
        reason = next((why for pattern, why in GONE if re.fullmatch(pattern, place)), None)
        (tally.excused if reason else tally.problems).append(f"{place}: not in the newest layout: {reason}")
    if tally.cells < FEW.get(path.name, 100):
        tally.problems.append(f"only {tally.cells} values compared")


def compare_value(tally, file, place, want, got):
    tally.cells += 1
    if want.strip() == got.strip() or (is_missing(want) and is_missing(got)):
        tally.equal += 1
        return
    reason = OLDER.get((file, place)) or OLDER.get(("", place)) or ("made unreadable" if "REDACTED" in want else None)
    if reason:
        tally.excused.append(f"{place}: {want!r}: {reason}")
    else:
        tally.problems.append(f"{place}: printed {got!r}, nvidia-smi {want!r}")


DISPLAY = {"On": "Enabled", "Off": "Disabled", "N/A": "N/A"}
COMPUTE = {"Default": "Default", "E. Process": "Exclusive_Process", "Prohibited": "Prohibited"}


def table_script(table):
    script = [f"driver {table['driver']}"]
    major, minor = table["cuda"].split(".")
    script.append(f"cuda {int(major) * 1000 + int(minor) * 10}")
    for gpu in table["gpus"]:
        name = gpu["name"].strip()
        # The name was cut: anything behind its beginning that is long enough is cut to the same.
        name = name[:-3] + "WITH MORE BEHIND IT" if name.endswith("...") else name
        mig = (gpu["mig"] or "N/A").rstrip("*")
        ecc = {"Off": "Disabled", "N/A": "N/A"}.get(gpu["ecc"], "Enabled")
        values = {"name": name, "persistence_mode": DISPLAY.get(gpu["persistence"], "N/A"), "pci.bus_id": gpu["bus"],
                  "display_active": DISPLAY[gpu["display"]], "ecc.mode.current": ecc, "ecc.mode.pending": ecc,
                  "ecc.errors.uncorrected.volatile.total": gpu["ecc"] if gpu["ecc"].isdigit() else "N/A",
                  "fan.speed": gpu["fan"].rstrip("%"), "temperature.gpu": gpu["temperature"].rstrip("C"),
                  "pstate": gpu["state"], "power.draw": gpu["power"].rstrip("W"),
                  "enforced.power.limit": gpu["cap"].rstrip("W"), "memory.used": gpu["used"] + " MiB",
                  "memory.total": gpu["total"] + " MiB", "utilization.gpu": gpu["util"].rstrip("%"),
                  "utilization.memory": "0",  # told by the same call
                  "compute_mode": COMPUTE[gpu["compute"].strip()], "mig.mode.current": mig, "mig.mode.pending": mig}
        script += gpu_lines(values)
        for process in table["processes"]:
            if process["gpu"] != gpu["index"]:
                continue
            used = "-" if process["memory"] == "N/A" else process["memory"].replace("MiB", "M")
            ids = "" if process["gi"] == "N/A" else f" {process['gi']} {process['ci']}"
            script += [f"process {letter} {process['pid']} {used}{ids}" for letter in process["type"].split("+")]
            long_name = process["name"].replace("...", "/somewhere/else", 1) if process["name"].startswith("...") else None
            script.append(f"name {process['pid']} {long_name or process['name']}")
        for mig_device in table["migs"]:
            if mig_device["gpu"] != gpu["index"]:
                continue
            script += ["mig", f"text uuid MIG-{mig_device['index']}", f"set gpu_instance {mig_device['gi']}",
                       f"set compute_instance {mig_device['ci']}", f"set mig.multiprocessors {mig_device['sm']}",
                       "set mig.slices 1", f"set ecc.1.0.7 {mig_device['ecc']}", f"set mig.copy {mig_device['ce']}",
                       f"set mig.encoders {mig_device['enc']}", f"set mig.decoders {mig_device['dec']}",
                       f"set mig.ofas {mig_device['ofa']}", f"set mig.jpegs {mig_device['jpg']}"]
            script += [f"set memory.{key} {mig_device[key]}M" for key in ("used", "total")]
            script += [f"set bar1.{key} {mig_device['bar1_' + key]}M" for key in ("used", "total")]
    return script


def is_cut_alike(one, other):
    """Two cuts of one text: "…/train.py" of "/home/user/train.py"; "NVIDIA GeForce RTX 3060 L…" of a longer one."""
    one, other = (text.replace("/somewhere/else", "...") for text in (one, other))
    if one.endswith("..."):
        return one[:-3].startswith(other[:-3]) or other[:-3].startswith(one[:-3])
    return one[3:].endswith(other[3:]) or other[3:].endswith(one[3:])


NEW_TABLES = re.compile(r"NVIDIA-SMI (58\d|59\d)\.")


def check_table(machine, path, tally):
    text = path.read_text(encoding="utf-8-sig")
    first = re.search(r".*\n\+-+\+\n\| NVIDIA-SMI (?:.*\n)*?(?=\w{3} \w{3} +\d+ |\Z)", text).group()
    table = q_reading.read_table(first)
    if not table["gpus"]:
        tally.problems.append("no GPU was read")
        return
    got = machine.run([], table_script(table))
    is_windows = "Driver-Model" in first
    if NEW_TABLES.search(first) and not is_windows:
        moment = re.compile(r"^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} {7}$")
        for want, have in zip(first.rstrip("\n").split("\n"), got.rstrip("\n").split("\n"), strict=True):
            same = bool(moment.match(want) and moment.match(have))
            tally.line(want, want if same else have, "line")
        return
    have = q_reading.read_table(got)
    for key in ("gpus", "migs", "processes"):
        if len(table[key]) != len(have[key]):
            tally.problems.append(f"{len(have[key])} {key}, nvidia-smi {len(table[key])}")
        for want_row, got_row in zip(table[key], have[key]):
            for field, want in want_row.items():
                if is_windows and field == "persistence":
                    tally.excused.append("Driver-Model: Windows alone")
                    continue
                want, shown = (want or "N/A").strip(), got_row[field].strip()
                # Where a long text is cut changed with the widths.
                is_same = "..." in want and is_cut_alike(want, shown)
                tally.compare(path.name, f"{key}.{field}", want, want if is_same else shown)


def checks():
    for path in sorted((REAL / "nvidia_smi_q_text").iterdir()):
        is_newest = re.search(r"__59\d", path.name) and not path.name.startswith("windows")
        yield path, check_newest_text if is_newest else (
            lambda machine, file, tally: check_older(machine, file, tally, q_reading.read_text, False))
    for path in sorted((REAL / "nvidia_smi_xml").iterdir()):
        yield path, check_newest_xml if "-v13" in path.name else (
            lambda machine, file, tally: check_older(machine, file, tally, q_reading.read_xml, True))
    for path in sorted((REAL / "nvidia_smi_table").iterdir()):
        yield path, check_table


def main():
    if not (REAL / "nvidia_smi_q_text").is_dir():
        print(f"no captures at {REAL}")
        return 77
    return compare(checks())


if __name__ == "__main__":
    sys.exit(main())
