#!/usr/bin/env python3
"""What it costs a program that writes much to be watched: `vramscope watch cat FILE` beside `cat FILE`, both into a pipe
that is read at once. Two texts: lines that mean nothing, and lines of which each holds a word worth a second look.

    bench/relay.py [--mib N] [--turns N] [--json] [--check]

CPU is that of the watch alone; its share of a second for every mebibyte is what a program's output costs.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_MIB_A_SECOND = 100  # of CPU of the watch; a training writes kilobytes
TEXTS = {
    "plain": "2026-01-01 00:00:00 INFO trainer: epoch 3 step 1200 loss 0.1234 lr 3.0e-04 12.5 it/s\n",
    "telling": "epoch 3 step 1200 loss 0.1234 memory 12.5 GiB reserved 14.0 GiB lr 3.0e-04\n",
}


def run(command):
    """Seconds from start to end, and of CPU, the children's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        while os.read(child.stdout.fileno(), 1 << 20):
            pass
    if child.returncode != 0:
        sys.exit(f"bench/relay.py: {command[0]} failed with {child.returncode}")
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    program = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, line in TEXTS.items():
            path = pathlib.Path(folder) / name
            path.write_text(line * (arguments.mib * 1024 * 1024 // len(line)), encoding="utf-8")
            rows = []
            for _ in range(arguments.turns):
                alone, alone_cpu = run(["cat", str(path)])
                watched, watched_cpu = run([program, "watch", "--device", "sim:healthy", "cat", str(path)])
                rows.append((watched_cpu - alone_cpu, watched, watched / alone))
            cpu, seconds, ratio = (statistics.median(column) for column in zip(*rows))
            figures[f"{name}_mib_a_cpu_second"] = round(arguments.mib / max(cpu, 1e-3))
            figures[f"{name}_mib_a_second"] = round(arguments.mib / seconds)
            figures[f"{name}_times_unwatched"] = round(ratio, 1)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:28} {value}")
        print(f"target: {LEAST_MIB_A_SECOND} MiB a second of the watch's CPU")
    slow = any(figures[f"{name}_mib_a_cpu_second"] < LEAST_MIB_A_SECOND for name in TEXTS)
    return 1 if arguments.check and slow else 0


if __name__ == "__main__":
    sys.exit(main())
