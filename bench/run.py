#!/usr/bin/env python3
"""Speed and peak memory on large inputs: `vramscope ops` on the traces of make_corpora.py against json.load of this
Python, `vramscope memory` on the snapshot of make_snapshot.py against its pickle.load.

    bench/run.py                 ratios and peaks, median of 5 paired turns
    bench/run.py --check         exit 1 when a target is missed
    bench/run.py --json          the same for machines
    bench/run.py --instructions  instruction counts on small traces, against baseline.json
    bench/run.py --instructions --update   writes baseline.json

Seconds differ from machine to machine; ratios of two programs run in turns differ much less. A turn is the
whole process of both, start-up included, output thrown away.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CORPORA = ("cpu_heavy", "kernels")
RATIO_PLAIN, RATIO_GZ = 18.0, 12.0  # at least so many times as fast as json.load
SNAPSHOT = "snapshot"
RATIO_SNAPSHOT, PEAK_SHARE_SNAPSHOT = 7.0, 1 / 3  # of pickle.load: speed at least, peak at most
PEAK_BASE, PEAK_PER_EVENT = 64 * 2**20, 100  # bytes
MOST_LOSS = 0.10  # more instructions than the baseline by this share are reported
JSON_LOAD = (
    "import gzip, json, sys\n"
    "name = sys.argv[1]\n"
    "with (gzip.open if name.endswith('.gz') else open)(name) as file: json.load(file)\n"
)
PICKLE_LOAD = "import pickle, sys\nwith open(sys.argv[1], 'rb') as file: pickle.load(file)\n"
SMALL = (
    os.path.join(ROOT, "..", "shared", "real", "kineto_trace", "tracelens__h100_bert.json.gz"),
    os.path.join(ROOT, "examples", "healthy.json.gz"),
)


def run(command):
    """(seconds, peak resident bytes) of a program that must succeed."""
    begin = time.monotonic()
    with open(os.devnull, "w") as nothing:
        process = subprocess.Popen(command, stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss * 1024


def measure(command, baseline, path, events, turns, target, peak_limit):
    """`command` and `baseline` in turns; peak_limit(largest peak of the baseline) in bytes."""
    run([*command, path])  # warms the page cache
    ours, theirs, peaks, their_peaks = [], [], [], []
    for _ in range(turns):
        seconds, peak = run([*command, path])
        ours.append(seconds)
        peaks.append(peak)
        seconds, peak = run([sys.executable, "-c", baseline, path])
        theirs.append(seconds)
        their_peaks.append(peak)
    ratio = statistics.median(their / our for our, their in zip(ours, theirs))
    limit = int(peak_limit(max(their_peaks)))
    return {
        "file": os.path.basename(path),
        "events": events,
        "bytes": os.path.getsize(path),
        "ratio": round(ratio, 2),
        "ratio_target": target,
        "seconds": round(statistics.median(ours), 3),
        "baseline_seconds": round(statistics.median(theirs), 3),
        "peak_bytes": max(peaks),
        "peak_limit_bytes": limit,
        "baseline_peak_bytes": max(their_peaks),
        "ok": ratio >= target and max(peaks) <= limit,
    }


def events_of(options, name):
    try:
        with open(os.path.join(options.data, name + ".meta.json"), encoding="utf-8") as file:
            return json.load(file)["events"]
    except OSError:
        maker = "make_snapshot.py" if name == SNAPSHOT else "make_corpora.py"
        sys.exit(f"The corpus {name} is not there yet: run bench/{maker} first.")


def measurements(options):
    for name in options.corpus or (*CORPORA, SNAPSHOT):
        events = events_of(options, name)
        if name == SNAPSHOT:
            path = os.path.join(options.data, "snapshot.pickle")
            yield measure([options.binary, "memory"], PICKLE_LOAD, path, events, options.turns, RATIO_SNAPSHOT,
                          lambda theirs: theirs * PEAK_SHARE_SNAPSHOT)  # fmt: skip
            continue
        for suffix, target in ((".json", RATIO_PLAIN), (".json.gz", RATIO_GZ)):
            path = os.path.join(options.data, name + suffix)
            limit = PEAK_BASE + PEAK_PER_EVENT * events
            yield measure([options.binary, "ops"], JSON_LOAD, path, events, options.turns, target, lambda _: limit)


def speed(options):
    results = []
    for result in measurements(options):
        results.append(result)
        if not options.json:
            print_result(result, header=len(results) == 1)
    if options.json:
        json.dump({"python": sys.version.split()[0], "turns": options.turns, "results": results}, sys.stdout, indent=2)
        print()
    return all(row["ok"] for row in results)


def print_result(row, header):
    if header:
        print(f"{'file':<20} {'events':>9} {'ratio':>7} {'target':>7} {'seconds':>8} {'Python s':>9} {'peak MiB':>9} {'limit':>6}")
    print(
        f"{row['file']:<20} {row['events']:>9} {row['ratio']:>7.1f} {row['ratio_target']:>7.0f} {row['seconds']:>8.3f} "
        f"{row['baseline_seconds']:>9.2f} {row['peak_bytes'] / 2**20:>9.0f} {row['peak_limit_bytes'] / 2**20:>6.0f}"
        f"{'' if row['ok'] else '  missed'}",
        flush=True,
    )


def count_instructions(binary, path):
    """Instructions of one `ops` run, all threads. Nearly the same in every run, on any load of the machine."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", binary, "ops", path]
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        sys.exit("Instruction counts need valgrind: apt-get install valgrind.")
    match = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode != 0 or not match:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return int(match.group(1).replace(",", ""))


def instructions(options):
    baseline_path = os.path.join(HERE, "baseline.json")
    baseline = {}
    if os.path.exists(baseline_path):
        with open(baseline_path, encoding="utf-8") as file:
            baseline = json.load(file)
    counts = {os.path.basename(p): count_instructions(options.binary, p) for p in SMALL if os.path.exists(p)}
    rows = []
    for name, count in counts.items():
        before = baseline.get(name)
        change = None if before is None else count / before - 1
        rows.append({"file": name, "instructions": count, "baseline": before, "change": change,
                     "ok": change is None or change <= MOST_LOSS})  # fmt: skip
    if options.update:
        with open(baseline_path, "w", encoding="utf-8") as file:
            json.dump({**baseline, **counts}, file, indent=2)
            file.write("\n")
    if options.json:
        json.dump({"results": rows}, sys.stdout, indent=2)
        print()
    else:
        for row in rows:
            change = "no baseline" if row["change"] is None else f"{row['change']:+.1%} against the baseline"
            warning = "" if row["ok"] else "  more than 10 % lost: give the reason with the change"
            print(f"{row['file']:<32} {row['instructions']:>14,} instructions, {change}{warning}")
    return options.update or all(row["ok"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "vramscope"))
    parser.add_argument("--data", default=os.path.join(HERE, "data"))
    parser.add_argument("--corpus", action="append", choices=(*CORPORA, SNAPSHOT))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not os.path.exists(options.binary):
        sys.exit(f"{options.binary} is not there yet: run ./dev build first.")
    ok = instructions(options) if options.instructions else speed(options)
    return 1 if options.check and not ok else 0


if __name__ == "__main__":
    sys.exit(main())
