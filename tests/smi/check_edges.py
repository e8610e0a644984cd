#!/usr/bin/env python3
"""`vramscope smi`, `smi -q` and `smi -q -x` over the stand-in where no capture shows what nvidia-smi would print: no GPU
and 16, GPUs that are lost or half dead, MIG without devices, long and foreign names, 1,000 processes, every section of
-d, lists of pages, clocks and samples. Exit status 1 when anything is wrong.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree

import q_reading
from check_captures import LIBRARY, PROGRAM

GPU = """gpu{copies}
text name NVIDIA H100 80GB HBM3
text uuid GPU-00000000-0000-4000-8000-000000000000
set brand 14
set architecture 9
set pci.bus 9
set memory.total 80G
set memory.used 1000M
set memory.reserved 500M
set bar1.total 128G
set temperature.0 40
set pstate 0
set power 70500
set power.enforced 700000
set utilization.gpu 3
set compute_mode 3
set persistence 1
set display.active 0
set ecc.current 1
set ecc.pending 1
field 4 0
"""
SECTIONS = {
    "MEMORY": ["FB Memory Usage", "BAR1 Memory Usage", "Conf Compute Protected Memory Usage"],
    "UTILIZATION": ["Utilization", "GPU Utilization Samples", "Memory Utilization Samples", "ENC Utilization Samples",
                    "DEC Utilization Samples", "JPG Utilization Samples", "OFA Utilization Samples"],
    "ECC": ["ECC Mode", "ECC Errors"], "TEMPERATURE": ["Temperature"],
    "POWER": ["GPU Power Readings", "Power Samples", "GPU Memory Power Readings", "Module Power Readings",
              "EDPp Multiplier"],
    "CLOCK": ["Clocks", "Applications Clocks", "Default Applications Clocks", "Deferred Clocks", "Max Clocks",
              "Max Customer Boost Clocks", "SM Clock Samples", "Memory Clock Samples", "Clock Policy"],
    "COMPUTE": ["Compute Mode"], "PIDS": ["Processes"],
    "PERFORMANCE": ["Performance State", "Clocks Event Reasons", "Clocks Event Reasons Counters",
                    "Sparse Operation Mode"],
    "SUPPORTED_CLOCKS": ["Supported Clocks"], "PAGE_RETIREMENT": ["Retired Pages"],
    "ACCOUNTING": ["Accounting Mode", "Accounting Mode Buffer Size", "Accounted Processes"],
    "ENCODER_STATS": ["Encoder Stats"], "SUPPORTED_GPU_TARGET_TEMP": ["Supported GPU Target Temp"],
    "VOLTAGE": ["Voltage"], "FBC_STATS": ["FBC Stats"], "ROW_REMAPPER": ["Remapped Rows"],
    "GSP_FIRMWARE_VERSION": ["GSP Firmware Version"], "POWER_SMOOTHING": ["Power Smoothing"],
    "POWER_PROFILES": ["Workload Power Profiles"]}
problems = []


def expect(what, is_so, seen=""):
    if not is_so:
        problems.append(f"{what}: {seen}"[:600])


def smi(script, *arguments, code=0):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        environment = {**os.environ, "VRAMSCOPE_NVML": LIBRARY, "VRAMSCOPE_STAND_IN": path, "LC_ALL": "C.UTF-8",
                       "ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run([PROGRAM, "smi", *arguments], capture_output=True, env=environment, timeout=120,
                              check=False)
    expect(f"{arguments}: exit status {done.returncode}", done.returncode == code, done.stdout[:200])
    return done.stdout.decode("utf-8", "strict"), done.stderr.decode("utf-8", "strict")


def gpu(more="", copies=""):
    return GPU.format(copies=copies) + more


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


def check_shape(what, table):
    lines = table.split("\n")[1:]
    wide = {width(line) for line in lines if line}
    expect(f"{what}: every line of the table is 91 columns wide", wide == {91}, wide)


def check_counts():
    out, _ = smi("driver 595.71.05\n", code=6)
    expect("no GPU", out == "No devices were found\n", out)
    out, _ = smi(gpu(copies=" 16"))
    expect("16 GPUs", len(q_reading.read_table(out)["gpus"]) == 16, out)
    check_shape("16 GPUs", out)
    out, _ = smi(gpu(copies=" 16"), "-q")
    machine, gpus = q_reading.read_text(out)
    expect("16 GPUs in -q", len(gpus) == 16 and (("Attached GPUs",), "16") in machine, machine)
    out, _ = smi(gpu(copies=" 16"), "-q", "-i", "3,5")
    machine, gpus = q_reading.read_text(out)
    expect("-q -i 3,5", len(gpus) == 2 and (("Attached GPUs",), "16") in machine, machine)
    out, _ = smi(gpu(copies=" 16"), "-q", "-x", "-i", "15")
    expect("-q -x -i 15", len(q_reading.read_xml(out)[1]) == 1)
    out, _ = smi(gpu(copies=" 16"), "-i", "2")
    expect("-i 2", [g["index"] for g in q_reading.read_table(out)["gpus"]] == ["2"], out)


def check_lost():
    lost = gpu() + gpu(copies="") + "error nvmlDeviceGetHandleByIndex_v2 1 15\n"
    for arguments in ((), ("-q",), ("-q", "-x")):
        out, complaint = smi(lost, *arguments, code=15)
        expect(f"lost GPU {arguments}", complaint == "Unable to determine the device handle for GPU1: GPU is lost.  "
               "Reboot the system to recover this GPU\n", complaint)
        expect(f"the other GPU is shown {arguments}", "H100" in out, out)
    dying = gpu("lost 70\n")
    out, _ = smi(dying, "-q", code=15)
    values = q_reading.read_text(out)[1][0]
    expect("lost while it is asked", q_reading.first(values, "FB Memory Usage", "Used") == "GPU is lost", out[:3000])
    root = ElementTree.fromstring(re.sub("<!DOCTYPE.*", "", smi(dying, "-q", "-x", code=15)[0]))
    expect("lost, in XML", root.findtext("gpu/remapped_rows") == "GPU is lost")
    half_dead = gpu("".join(f"error {f} 0 999\n" for f in (
        "nvmlDeviceGetFanSpeed", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetPerformanceState",
        "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMigMode")) +
        "error field:190 0 999\nerror field:186 0 999\nerror field:4 0 999\n")
    out, _ = smi(half_dead)
    check_shape("half dead", out)
    expect("ERR! where nvidia-smi has it", "|ERR!  ERR! ERR!             ERR! /  ERR! |" in out, out)
    expect("ERR! of the third line", re.search(r"\|    ERR!   E. Process \|\n\|.{41}\|.{24}\| +ERR! \|", out), out)


def check_mig():
    out, _ = smi(gpu("set mig.current 1\nset mig.pending 0\n"))
    check_shape("MIG", out)
    expect("MIG without devices", "|  No MIG devices found  " in out and "Enabled* |" in out, out)
    expect("no device in XML", "\t\t<mig_devices>\n\t\t\tNone\n\t\t</mig_devices>\n" in smi(
        gpu("set mig.current 1\nset mig.pending 1\n"), "-q", "-x")[0])
    devices = "".join(f"mig\ntext name H100 MIG 1g.10gb\nset gpu_instance {7 + i}\nset compute_instance 0\n"
                      f"set memory.total 10G\nset memory.used {i}M\n" for i in range(7))
    script = gpu("set mig.current 1\nset mig.pending 1\nprocess C 10 5M 9 0\n" + devices)
    out, _ = smi(script)
    check_shape("7 MIG devices", out)
    expect("unknown figures of a MIG device", "|N/A    N/A |N/A N/A  N/A  N/A  N/A |" in out and " N/A /      N/A " in out, out)
    values = q_reading.read_text(smi(script, "-q")[0])[1][0]
    expect("7 MIG devices in -q", sum(path == ("MIG Device", "Index") for path, _ in values) == 7)
    xml = ElementTree.fromstring(re.sub("<!DOCTYPE.*", "", smi(script, "-q", "-x")[0]))
    expect("7 MIG devices in XML", len(xml.findall("gpu/mig_devices/mig_device")) == 7)
    expect("instance of a process", xml.findtext("gpu/processes/process_info/gpu_instance_id") == "9")


def check_names():
    names = {10: "/opt/模型/训练/python" + "很长" * 30, 11: "a<b>&\"c\"", 12: "/usr/bin/" + "x" * 300, 13: "café", 14: "é" * 32,
             15: "tab\there", 16: "esc\x1b[31m"}
    script = gpu("".join(f"process C {pid} 1M\nname {pid} {name}\n" for pid, name in names.items()) + "process G 17 -\n")
    script = script.replace("NVIDIA H100 80GB HBM3", "NVIDIA 非常长的图形处理器的名字 with more behind")
    out, _ = smi(script)
    check_shape("names", out)
    rows = {row["pid"]: row for row in q_reading.read_table(out)["processes"]}
    expect("a long name keeps its end", rows["12"]["name"] == "..." + "x" * 29, rows["12"])
    expect("a foreign name keeps its end", re.fullmatch(r"\.\.\.[很长]{14}", rows["10"]["name"]), rows["10"])
    expect("a name that just fits", rows["14"]["name"] == "é" * 32, rows["14"])
    expect("no name is known", rows["17"]["name"] == "[Not Found]" and rows["17"]["memory"] == "N/A", rows["17"])
    expect("control characters are written out", "\x1b" not in out and "\t" not in out, out)
    xml = ElementTree.fromstring(re.sub("<!DOCTYPE.*", "", smi(script, "-q", "-x")[0]))
    have = {p.findtext("pid"): p.findtext("process_name") for p in xml.iter("process_info")}
    expect("names in XML", all(have[str(pid)] == names[pid] for pid in (10, 11, 12, 13, 14)), have)
    values = q_reading.read_text(smi(script, "-q")[0])[1][0]
    have = {g["Process ID"]: g for g in q_reading.groups(values, "Processes", "GPU instance ID")}
    expect("processes in -q", list(have) == [str(pid) for pid in (*names, 17)], list(have))


def check_many_processes():
    script = gpu("".join(f"process {'CG'[pid % 2]} {pid} {pid}M\nname {pid} /usr/bin/python3\n"
                         for pid in range(2000, 1000, -1)))
    rows = q_reading.read_table(smi(script)[0])["processes"]
    expect("1,000 processes", [int(r["pid"]) for r in rows] == list(range(1001, 2001)), len(rows))
    xml = ElementTree.fromstring(re.sub("<!DOCTYPE.*", "", smi(script, "-q", "-x")[0]))
    expect("1,000 processes in XML", [int(p.text) for p in xml.iter("pid")] == list(range(1001, 2001)))
    out, _ = smi(script, "-q", "-d", "PIDS")
    expect("1,000 processes in -q", out.count("Process ID") == 1000)


def check_sections():
    """The sections at the outermost level, of each name and of all together."""
    def titles(out):
        found = re.findall(r"^    (\S.*?) *(?::.*)?$", out, re.M)
        return [title for title in found]
    for name, want in SECTIONS.items():
        out, _ = smi(gpu(), "-q", "-d", name)
        expect(f"-d {name}", titles(out) == want, titles(out))
        expect(f"-d {name.lower()}", titles(smi(gpu(), "-q", "-d", name.lower())[0]) == want)
    out, _ = smi(gpu(), "-q", "-d", "ECC,POWER")
    expect("-d ECC,POWER", titles(out) == SECTIONS["ECC"] + SECTIONS["POWER"], titles(out))
    whole = titles(smi(gpu(), "-q")[0])
    for absent in ("Supported Clocks", "Power Samples", "Accounted Processes", "Voltage", "Supported GPU Target Temp"):
        expect(f"-q has no {absent}", absent not in whole)
    text, _ = smi(gpu(), "-q")
    by_display = {title: smi(gpu(), "-q", "-d", name)[0] for name, names in SECTIONS.items() for title in names}
    for title in ("FB Memory Usage", "Temperature", "Remapped Rows", "ECC Errors"):
        section = re.search(rf"^    {title}.*\n(?:     .*\n)*", text, re.M).group()
        expect(f"{title} is the same in -q and with -d", section in by_display[title], section)


def check_lists():
    script = gpu("samples 0 16480 10430 11000\nsamples 1\nclocks 2619 1980 1965\nclocks 1593 1980\naccounting 0\n"
                 .replace("accounting 0\n", "set accounting 1\naccounted 42 90 40 8G 1500 0\naccounted 43 1 0 - 5 1\n")
                 + "set retired.0 2\nset retired.1 0\nset retired.pending 0\nset threshold.4 65\nset threshold.6 90\n")
    samples = dict(q_reading.read_text(smi(script, "-q", "-d", "POWER,UTILIZATION")[0])[1][0])
    of = lambda name: samples[("Power Samples", name)]
    expect("samples", [of(n) for n in ("Duration", "Number of Samples", "Max", "Min", "Avg")] ==
           ["0.04 sec", "3", "16.48 W", "10.43 W", "12.64 W"], samples)
    expect("no samples yet", samples[("GPU Utilization Samples", "Max")] == "Not Found", samples)
    expect("no such samples", samples[("Memory Utilization Samples", "Avg")] == "N/A", samples)
    out, _ = smi(script, "-q", "-d", "SUPPORTED_CLOCKS")
    expect("clocks", re.findall(r"(Memory|Graphics) +: (\d+) MHz", out) ==
           [("Memory", "2619"), ("Graphics", "1980"), ("Graphics", "1965"), ("Memory", "1593"), ("Graphics", "1980")], out)
    out, _ = smi(script, "-q", "-d", "ACCOUNTING")
    accounted = q_reading.groups(q_reading.read_text(out)[1][0], "Accounted Processes", "Process ID")
    expect("accounted", [a["Max memory usage"] for a in accounted] == ["8192 MiB", "N/A"], accounted)
    xml = ElementTree.fromstring(re.sub("<!DOCTYPE.*", "", smi(script, "-q", "-x")[0]))
    pages = [p.text for p in xml.findall("gpu/retired_pages/multiple_single_bit_retirement//retired_page_address")]
    expect("pages", pages == ["0x0000000000001000", "0x0000000000002000"], pages)
    expect("clocks in XML", [v.text for v in xml.findall("gpu/supported_clocks/supported_mem_clock/value")] ==
           ["2619 MHz", "1593 MHz"])
    expect("accounted in XML", [p.text for p in xml.findall("gpu/accounted_processes//time")] == ["1500 ms", "5 ms"])


def check_types():
    """The document against its own type, by another program."""
    alone, _ = smi(gpu(), "--dtd")
    expect("--dtd", "<!ELEMENT nvidia_smi_log" in alone, alone[:200])
    script = gpu("set mig.current 1\nset mig.pending 1\nprocess C 10 5M 9 0\nmig\nset gpu_instance 9\n")
    out, _ = smi(script + gpu("set architecture 6\nset retired.0 2\nset threshold.0 90\n"), "-q", "-x", "--dtd")
    checker = shutil.which("xmllint")
    if checker is None:
        print("xmllint is not installed: documents are not checked against their type")
        return
    done = subprocess.run([checker, "--valid", "--noout", "-"], input=out.encode(), capture_output=True, check=False)
    expect("the document is of its type", done.returncode == 0, done.stderr.decode())
    broken = out.replace("<fan_speed>", "<fan_sped>").replace("</fan_speed>", "</fan_sped>")
    done = subprocess.run([checker, "--valid", "--noout", "-"], input=broken.encode(), capture_output=True, check=False)
    expect("another element is not", done.returncode != 0)


def check_loops():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.xml")
        smi(gpu(), "-q", "-x", "-f", path)
        with open(path, encoding="utf-8") as file:
            expect("-f", file.read().endswith("</nvidia_smi_log>\n"))
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(gpu())
        environment = {**os.environ, "VRAMSCOPE_NVML": LIBRARY, "VRAMSCOPE_STAND_IN": script,
                       "ASAN_OPTIONS": "detect_leaks=0"}
        with subprocess.Popen([PROGRAM, "smi", "-lms", "20"], stdout=subprocess.PIPE, env=environment) as program:
            heads = 0
            for line in program.stdout:
                heads += line.startswith(b"| NVIDIA-SMI")
                if heads == 3:
                    break
            program.terminate()
            program.stdout.read()
        expect("-lms prints table after table", heads == 3)


def check_new_head():
    for driver, want in (("610.57.04", "| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD "
                          "Version: 13.3     |"),
                         ("595.71.05", "| NVIDIA-SMI 595.71.05              Driver Version: 595.71.05      CUDA "
                          "Version: 13.3     |")):
        out, _ = smi(f"driver {driver}\ncuda 13030\n" + gpu())
        expect(f"first line of {driver}", want in out, out)
    out, _ = smi("driver 610.57.04\ncuda 13030\n" + GPU.format(copies="").replace("set memory.total 80G\n", ""))
    expect("a GPU without memory of its own", "|     Not Supported      |" in out, out)


def main():
    for check in (check_counts, check_lost, check_mig, check_names, check_many_processes, check_sections, check_lists,
                  check_types, check_loops, check_new_head):
        check()
    for problem in problems:
        print(f"FAIL {problem}")
    print(f"{len(problems)} wrong" if problems else "all as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
