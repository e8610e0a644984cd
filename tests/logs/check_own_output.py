#!/usr/bin/env python3
"""What `vramscope smi` prints of a scenario must be read again by our own readers, in every layout and scenario, with the
figures that stand in the text of its CSV queries. $VRAMSCOPE names the program. Exit status 1 when anything differs.
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
SCENARIOS = ("healthy", "leak", "fragmentation", "starving", "zombie", "hot", "node8")
LAYOUTS = {
    "csv": ["--query-gpu=timestamp,index,memory.used,memory.total,utilization.gpu,temperature.gpu", "--format=csv"],
    "bare csv": ["--query-gpu=index,memory.used,utilization.gpu,temperature.gpu", "--format=csv,nounits"],
    "apps": ["--query-compute-apps=pid,gpu_uuid,used_memory", "--format=csv"],
    "q": ["-q"],
    "xml": ["-q", "-x"],
    "table": [],
    "dmon": ["dmon", "-s", "pum", "-c", "1"],
    "pmon": ["pmon", "-s", "um", "-c", "1"],
}
# What a layout tells of GPUs, and whether it lists processes.
TELLS = {
    "csv": ({"used", "total", "busy", "heat"}, False), "bare csv": ({"used", "busy", "heat"}, False), "apps": (set(), True),
    "q": ({"used", "total", "busy", "heat"}, True), "xml": ({"used", "total", "busy", "heat"}, True),
    "table": ({"used", "total", "busy", "heat"}, True), "dmon": ({"used", "busy", "heat"}, False), "pmon": (set(), True),
}
program = os.environ["VRAMSCOPE"]


def run(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60).stdout


def smi(scenario, arguments):
    return run("smi", "--device", f"sim:{scenario}", *arguments)


def rows(scenario, query):
    text = smi(scenario, [query, "--format=csv,noheader,nounits"]).decode()
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text))]


def number(cell, factor=1):
    return int(cell) * factor if cell.isdigit() else None


def expected(scenario):
    """Of each GPU by index: figures, and bytes by pid, from the text of two queries."""
    gpus, places = {}, {}
    for index, uuid, used, total, busy, heat in rows(
            scenario, "--query-gpu=index,uuid,memory.used,memory.total,utilization.gpu,temperature.gpu"):
        places[uuid] = int(index)
        gpus[int(index)] = {"used": number(used, MIB), "total": number(total, MIB), "busy": number(busy),
                            "heat": number(heat), "processes": {}}
    for pid, uuid, used in rows(scenario, "--query-compute-apps=pid,gpu_uuid,used_memory"):
        gpus[places[uuid]]["processes"][int(pid)] = number(used, MIB)
    return gpus


def read_again(path):
    gpus = {}
    for gpu in json.loads(run("status", "--from", str(path), "--json"))["gpus"]:
        gpus[gpu["index"]] = {
            "used": gpu["memory"].get("used_bytes"), "total": gpu["memory"].get("total_bytes"),
            "busy": gpu.get("utilization_percent"), "heat": gpu.get("temperature_c"),
            "processes": {each["pid"]: each.get("used_bytes") for each in gpu.get("processes", [])}}
    return gpus


def main():
    checked, problems = 0, []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log"
        for scenario in SCENARIOS:
            want = expected(scenario)
            for layout, arguments in LAYOUTS.items():
                path.write_bytes(smi(scenario, arguments))
                got = read_again(path)
                figures, has_processes = TELLS[layout]
                if figures and set(got) != set(want):
                    problems.append(f"{scenario}, {layout}: GPUs {sorted(got)}, not {sorted(want)}")
                for index, gpu in want.items():
                    compared = [(name, gpu[name], got.get(index, {}).get(name)) for name in sorted(figures)]
                    if has_processes:
                        compared.append(("processes", gpu["processes"], got.get(index, {}).get("processes", {})))
                    for name, right, read in compared:
                        checked += len(right) if isinstance(right, dict) else 1
                        if read != right:
                            problems.append(f"{scenario}, {layout}, GPU {index}: {name} read as {read}, printed as {right}")
    for problem in problems[:40]:
        print(problem)
    print(f"{checked} figures, {len(problems)} problems")
    return 1 if problems or checked < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
