#!/usr/bin/env python3
"""Reads every log of nvidia-smi in ../shared/real a second time, with csv, xml.etree and small patterns over the raw
text, and compares the figures with those of the readers (tests/logs/probe.cpp, named by LOG_PROBE): GPUs, moments, sums
of memory in use and of processes over all moments, first and last time. Skips (77) without the folder.

usage: check_logs.py [PART OF A FILE NAME…]
"""
import csv
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
SNIPPETS = {  # excerpts that are such logs: what they hold, counted by eye
    "ctrl_c_not_freed_pytorch4031.txt": {"gpus": 1, "moments": 1, "used_sum": 7829 * MIB},
    "gpu_requires_reset.txt": {"gpus": 1, "moments": 1, "used_sum": 0, "used_count": 1},
    "jetson_table_not_supported.txt": {"gpus": 1, "moments": 2, "used_count": 0},
    "mig_table_old_layout_nvitop8.txt": {"migs": 3, "moments": 1, "mig_used_sum": (14366 + 9826 + 13) * MIB},
    "vgpu_host_q_cubecos903.txt": {"gpus": 1, "moments": 1, "used_count": 0},
    "vllm_wont_release_verifiers85.txt": {"gpus": 1, "moments": 1, "used_sum": 46867 * MIB},
    "zombie_not_listed_nvtop70.txt": {"gpus": 2, "moments": 1, "used_sum": 644 * MIB},
}


def nanoseconds(text):
    """Unix time of a time as the files have it; without a zone it is UTC."""
    text = text.strip()
    for form in ("%Y/%m/%d %H:%M:%S.%f", "%m-%d-%Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%Y-%m-%dT%H:%M:%S%z"):
        try:
            when = datetime.datetime.strptime(text, form)
        except ValueError:
            continue
        if when.tzinfo is None:
            when = when.replace(tzinfo=datetime.timezone.utc)
        passed = when - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return (passed.days * 86400 + passed.seconds) * 10**9 + passed.microseconds * 1000
    return None


def mebibytes(text):
    found = re.fullmatch(r"\s*(\d+)\s*(MiB)?\s*", text)
    return int(found[1]) * MIB if found else None


class Figures:
    def __init__(self):
        self.gpus, self.migs, self.times = set(), set(), []
        self.data = dict.fromkeys(("moments", "used_count", "used_sum", "mig_used_sum", "uses", "uses_known", "uses_sum",
                                   "pid_sum", "lists"), 0)

    def used(self, text, is_mig=False):
        value = mebibytes(text)
        if value is None:
            return
        if is_mig:
            self.data["mig_used_sum"] += value
        else:
            self.data["used_count"] += 1
            self.data["used_sum"] += value

    def use(self, pid, text):
        self.data["uses"] += 1
        self.data["pid_sum"] += int(pid)
        value = mebibytes(text)
        if value is not None:
            self.data["uses_known"] += 1
            self.data["uses_sum"] += value

    def result(self):
        made = dict(self.data, gpus=len(self.gpus), migs=len(self.migs))
        if self.times:
            made.update(first_ns=self.times[0], last_ns=self.times[-1])
        return made


def read_csv(text, figures):
    header, seen = None, None
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        row = [cell.strip() for cell in row]
        if row and (row[0] in ("timestamp", "pid", "uuid")):
            header, seen = [cell.split(" [")[0] for cell in row], None
            if "pid" in header and "max_memory_usage" not in header:
                figures.data["lists"] += 1
                figures.data["moments"] += 1  # taken back when the first row opens one
                is_bare = True
            continue
        if not row or header is None or len(row) != len(header):
            continue
        cells = dict(zip(header, row))
        pid = cells.get("pid")
        name = cells.get("gpu") or cells.get("index") or cells.get("uuid") or ""
        key = (name, pid or "")
        if seen is None or key in seen:
            seen = set()
            if pid and is_bare:
                is_bare = False
            else:
                figures.data["moments"] += 1
                figures.data["lists"] += 1 if pid else 0
        seen.add(key)
        figures.gpus.add(name)
        if cells.get("timestamp"):
            figures.times.append(nanoseconds(cells["timestamp"]))
        if pid:
            figures.use(pid, cells["used_gpu_memory"])
        elif "memory.used" in cells:
            figures.used(cells["memory.used"])


def read_xml(text, figures):
    for document in re.findall(r"<nvidia_smi_log>.*?</nvidia_smi_log>", text, re.S):
        root = xml.etree.ElementTree.fromstring(document)
        figures.data["moments"] += 1
        if root.findtext("timestamp"):
            figures.times.append(nanoseconds(root.findtext("timestamp")))
        has_list = False
        for gpu in root.iter("gpu"):
            figures.gpus.add(gpu.get("id"))
            figures.used(gpu.findtext("fb_memory_usage/used"))
            for mig in gpu.iter("mig_device"):
                figures.migs.add((gpu.get("id"), mig.findtext("gpu_instance_id"), mig.findtext("compute_instance_id")))
                figures.used(mig.findtext("fb_memory_usage/used"), True)
            processes = gpu.find("processes")
            has_list = has_list or (processes is not None and (processes.text or "").strip() != "N/A")
            for process in gpu.iter("process_info"):
                figures.use(process.findtext("pid"), process.findtext("used_memory"))
        figures.data["lists"] += has_list


def read_q(text, figures):
    for log in re.split(r"^=+NVSMI LOG=+$", text, flags=re.M)[1:]:
        figures.data["moments"] += 1
        figures.times.append(nanoseconds(re.search(r"^Timestamp\s*: (.*)$", log, re.M)[1]))
        for part in re.split(r"^GPU (?=[0-9A-F]{8}:)", log, flags=re.M)[1:]:
            figures.gpus.add(part.split()[0])
            for indent, prefix, used in re.findall(r"^( +)(Shared )?FB Memory Usage\n(?:.*\n){1,3}? +Used +: (.*)$", part,
                                                   re.M):
                figures.used(used, bool(prefix))
            figures.migs.update(re.findall(r"GPU Instance ID +: (\d+)\n +Compute Instance ID +: (\d+)", part))
            for pid, used in re.findall(r"Process ID +: (\d+)\n(?:.*\n)*?.*Used GPU Memory +: (.*)$", part, re.M):
                figures.use(pid, used)
        figures.data["lists"] += "\n    Processes" in log


def read_table(text, figures):
    last = None
    for line in text.splitlines():
        when = nanoseconds(line)
        last = when or last
        if "NVIDIA-SMI" in line:
            figures.data["moments"] += 1
            if last:
                figures.times.append(last)
        elif gpu := re.match(r"\|\s+(\d+)\s+\S.*\|\s*([0-9A-F]{8}:\S+) ", line):
            figures.gpus.add(gpu[1])
        elif mig := re.match(r"\|\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+\|\s*(\d+MiB) /", line):
            figures.migs.add(mig.groups()[:3])
            figures.used(mig[5], True)
        elif used := re.match(r"\|[^|]*[CWA] +\|\s*(\d+MiB) /|\|[^|]*/[^|]*\|\s*(\d+MiB) /", line):
            figures.used(used[1] or used[2])
        elif process := re.match(r"\|\s+\d+\s+(?:\S+\s+\S+\s+)?(\d+)\s+[CGM+]+\s.*\s(\d+MiB|N/A)\s*\|", line):
            figures.use(process[1], process[2])
        elif "Processes:" in line:
            figures.data["lists"] += 1


def read_monitor(text, figures):
    names, seen = [], set()
    for line in text.splitlines():
        if line.startswith("# gpu"):
            names = line[1:].split()  # repeated every screen, also within a moment
            continue
        if not line.strip() or line.startswith("#") or not names:
            continue
        cells = dict(zip(names, line.split()))
        key = (cells["gpu"], cells.get("pid"))
        if not seen or key in seen:
            figures.data["moments"] += 1
            figures.data["lists"] += "pid" in cells
            seen = set()
        seen.add(key)
        figures.gpus.add(cells["gpu"])
        if cells.get("pid", "-") != "-":
            figures.use(cells["pid"], "")


def read_bundle(text, figures):
    """By its sections: each has the name of what it ran, and its output."""
    parts = re.split(r"^#{20,}\n# (.*)\n# \$.*\n(?:# .*\n)*#{20,}\n", text, flags=re.M)
    for name, output in zip(parts[1::2], parts[2::2]):
        output = re.split(r"^#{20,}$", output, flags=re.M)[0]
        for mark, read in (("query (-q)", read_q), ("default table", read_table), ("query-gpu", read_csv),
                           ("query-compute-apps", read_csv), ("pmon", read_monitor), ("dmon", read_monitor)):
            if mark in name and "help" not in name and "query-gpu fields" not in name:
                part = Figures()
                read(output, part)
                figures.migs |= {tuple(mig[-2:]) for mig in part.migs}
                figures.times += part.times
                for key, value in part.data.items():
                    figures.data[key] += value
                break
    figures.gpus = {"0"}


READERS = {"nvidia_smi_csv": ("nvidia_smi_csv", read_csv), "nvidia_smi_xml": ("nvidia_smi_xml", read_xml),
           "nvidia_smi_q_text": ("nvidia_smi_q", read_q), "nvidia_smi_table": ("nvidia_smi_table", read_table),
           "nvidia_smi_dmon_pmon": ("nvidia_smi_monitor", read_monitor),
           "nvidia_smi_capture_bundle": ("nvidia_smi_bundle", read_bundle)}


def expected(path):
    if path.parent.name == "snippets":
        return SNIPPETS[path.name]
    name, read = READERS[path.parent.name]
    figures = Figures()
    read(path.read_bytes().decode("utf-8-sig"), figures)
    return dict(figures.result(), format=name)


def main(parts):
    chosen = os.environ.get("VRAMSCOPE_REAL")
    folder = pathlib.Path(chosen) if chosen else ROOT.parent / "shared" / "real"
    if not folder.is_dir():
        print("no folder ../shared/real, and VRAMSCOPE_REAL names none")
        return 77
    files = [path for kind in READERS for path in sorted((folder / kind).iterdir())]
    files += [folder / "snippets" / name for name in sorted(SNIPPETS)]
    files = [path for path in files if not parts or any(part in str(path) for part in parts)]
    done = subprocess.run([os.environ["LOG_PROBE"], *map(str, files)], capture_output=True, check=True, text=True)
    failed = 0
    for path, line in zip(files, done.stdout.splitlines(), strict=True):
        ours, theirs = json.loads(line), expected(path)
        wrong = [f"{key}: {ours.get(key)}, expected {value}" for key, value in theirs.items() if ours.get(key) != value]
        failed += bool(wrong)
        if wrong:
            print(f"FAIL {path.parent.name}/{path.name}", *wrong, ours.get("error", ""), sep="\n  ")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
