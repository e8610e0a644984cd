#!/usr/bin/env python3
"""Runs `diagnose` over every log of devices in ../shared/real and compares the findings with the table in
docs/device-log-findings.md. The figures in the evidence are compared with an independent reading of the file where one is
written down here; and files of a kind that no real log shows are made here, with figures that are worked out by hand.
Real files lie in ../shared/real or where VRAMSCOPE_REAL says; skips (77) without.

usage: check_log_findings.py [--table]     --table prints the rows as they are now
"""
import csv
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "device-log-findings.md"
MIB = 1024 * 1024


def real_folder():
    chosen = os.environ.get("VRAMSCOPE_REAL")
    folder = pathlib.Path(chosen) if chosen else ROOT.parent / "shared" / "real"
    return folder if folder.is_dir() else None


def diagnose(program, path):
    """The document, or None for a file that is refused."""
    done = subprocess.run([program, "diagnose", "--json", str(path)], capture_output=True, check=False, timeout=120)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None


def rows_now(program, folder):
    """{file: [(rule, severity)]} of the logs of devices."""
    rows, documents = {}, {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not path.parent.name.startswith(("nvidia_smi", "snippets")):
            continue
        document = diagnose(program, path)
        if document is None or "device_logs" not in document:
            continue
        name = f"{path.parent.name}/{path.name}"
        rows[name] = [(finding["id"], finding["severity"]) for finding in document["findings"]]
        documents[name] = document
    return rows, documents


def rows_expected():
    """The same from the table: | file | rule severity, … | why |, and the files without a finding below it."""
    rows = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0].startswith("`"):
            found = re.findall(r"([a-z-]+) \((info|warning|error)\)", cells[1])
            rows[cells[0].strip("`")] = found
        match = re.fullmatch(r"- `([^`]+)`", line.strip())
        if match:
            rows[match.group(1)] = []
    return rows


def evidence_of(document, rule):
    found = [finding for finding in document["findings"] if finding["id"] == rule]
    return {each["what"]: each["value"] for each in found[0]["evidence"]} if found else {}


def unaccounted_of_xml(path):
    """(used, held) bytes of the only GPU in the XML."""
    gpu = xml.etree.ElementTree.parse(path).getroot().find("gpu")
    mib = lambda text: int(text.split()[0]) * MIB
    held = sum(mib(each.text) for each in gpu.iter("used_memory"))
    return mib(gpu.find("fb_memory_usage/used").text), held


def check_real_figures(folder, documents):
    wrong = []
    name = "nvidia_smi_xml/telegraf__rtx-4000-sff-ada-v13.xml"
    used, held = unaccounted_of_xml(folder / name)
    evidence = evidence_of(documents[name], "unaccounted-memory")
    if (evidence.get("memory used"), evidence.get("held by processes that are told")) != (used, held):
        wrong.append(f"{name}: {evidence} instead of {used} and {held}")
    return wrong


# Logs with an illness, made from plain rows; what must be found is worked out from the rows by other means.

def made_rows():
    """3000 s, 1 s apart, two GPUs. GPU 0: grows by 6 MiB each 2 s; throttled by heat in 600 s. GPU 1: at 60 W of 120 W."""
    start = datetime.datetime(2025, 1, 2, 3, 4, 5)
    for second in range(3000):
        time = (start + datetime.timedelta(seconds=second)).strftime("%Y/%m/%d %H:%M:%S.000")
        grown = 2000 + second // 2 * 6
        heat = 0x60 if 1000 <= second < 1600 else 0
        yield (time, 0, 97, grown, 24564, 1100 if heat else 2500, 2520, 300, 450, 450, heat, 4, 4)
        yield (time, 1, 99, 8000, 24564, 1200, 2520, 60 - second % 2 * 0.5, 60, 120, 4, 1, 4)


HEADER = ("timestamp", "index", "utilization.gpu [%]", "memory.used [MiB]", "memory.total [MiB]", "clocks.sm [MHz]",
          "clocks.max.sm [MHz]", "power.draw [W]", "enforced.power.limit [W]", "power.default_limit [W]",
          "clocks_event_reasons.active", "pcie.link.gen.current", "pcie.link.gen.max")


def least_squares(points):
    """Slope of (x, y) pairs."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def check_made(program):
    wrong = []
    rows = list(made_rows())
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "made.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(HEADER)
            writer.writerows(row[:10] + (f"0x{row[10]:016x}",) + row[11:] for row in rows)
        document = diagnose(program, path)
    first = [row for row in rows if row[1] == 0]
    second = [row for row in rows if row[1] == 1]

    def near(rule, what, want, share):
        got = evidence_of(document, rule).get(what)
        if got is None or abs(got - want) > abs(want) * share:
            wrong.append(f"made.csv: {rule}, {what}: {got} instead of {want}")

    slope = least_squares([(i, row[3]) for i, row in enumerate(first)]) * 3600 * MIB
    near("device-memory-growth", "growth", slope, 0.01)
    left = (first[-1][4] - first[-1][3]) * MIB / slope * 3600e9
    near("device-memory-growth", "time until the memory is full", left, 0.02)
    near("throttled", "share of the time", sum(row[10] != 0 for row in first) / len(first), 0.001)
    near("power-capped", "share of the time under full load at the limit", sum(row[10] == 4 for row in second) / len(second),
         0.001)
    near("power-capped", "power limit, W", 60, 0)
    near("power-capped", "power limit by default, W", 120, 0)
    near("power-capped", "median SM clock under full load, MHz", 1200, 0)
    near("pcie-degraded", "highest generation while it works", max(row[11] for row in second), 0)
    found = sorted((finding["id"], finding["severity"]) for finding in document["findings"])
    want = [("device-memory-growth", "warning"), ("pcie-degraded", "warning"), ("power-capped", "warning"),
            ("throttled", "error")]
    if found != want:
        wrong.append(f"made.csv: found {found} instead of {want}")
    return wrong


def main():
    program = os.environ["VRAMSCOPE"]
    wrong = check_made(program)
    folder = real_folder()
    if folder is None and not wrong:
        print("no real files: skipped")
        return 77
    if folder is not None:
        rows, documents = rows_now(program, folder)
        if "--table" in sys.argv:
            for name, found in rows.items():
                print(f"| `{name}` | {', '.join(f'{rule} ({severity})' for rule, severity in found)} | |" if found
                      else f"- `{name}`")
            return 0
        expected = rows_expected()
        for name in sorted(rows.keys() | expected.keys()):
            if rows.get(name) != expected.get(name):
                wrong.append(f"{name}: found {rows.get(name)}, the table says {expected.get(name)}")
        wrong += check_real_figures(folder, documents)
        print(f"{len(rows)} logs, {sum(map(len, rows.values()))} findings")
    print("\n".join(wrong))
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
