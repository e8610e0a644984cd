#!/usr/bin/env python3
"""The long test: fuzzing, then every real file and example, whole, cut and with flipped bits, through every verb of
a program built with sanitizers. Writes a report (date, machine, what ran, what came of it).

usage: soak.py [--seconds N] [--build FOLDER] [--out FILE] [--files PART]
"""
import argparse
import concurrent.futures
import datetime
import gzip
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = ("info", "ops", "memory", "diagnose")
MOST_SECONDS = 300  # for one verb on one file
DAMAGED_BYTES = 12_000_000  # of text: larger files are read whole only
FINE = (0, 1, 4)


def inputs(part):
    real = pathlib.Path(os.environ.get("VRAMSCOPE_REAL") or ROOT.parent / "shared" / "real")
    files = sorted((ROOT / "examples").glob("*.json.gz"))
    for kind in ("kineto_trace", "cuda_snapshot", "memory_timeline", "snippets"):
        files += sorted((real / kind).iterdir()) if (real / kind).is_dir() else []
    return [path for path in files if part in path.name]


def damaged(path, seed):
    """Ten cuts and ten sets of flipped bits, half of them in the compressed bytes, always the same ones."""
    data = path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if len(text) > DAMAGED_BYTES:
        return
    chance = random.Random(seed)
    for number in range(20):
        content = bytearray(data if number % 2 else text)
        if number < 10:
            del content[chance.randrange(len(content)):]
        else:
            for _ in range(chance.randrange(1, 30)):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        yield f"{'cut' if number < 10 else 'flipped'} {number}", bytes(content)


def run_verb(program, verb, path, what):
    begin = time.monotonic()
    try:
        done = subprocess.run([program, verb, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return f"{verb} {what}: no end after {MOST_SECONDS} s"
    if done.returncode in FINE:
        return None
    return f"{verb} {what}: exit status {done.returncode} after {time.monotonic() - begin:.0f} s\n" + \
        done.stderr.decode("utf-8", "replace")[-3000:]


def check_file(program, path):
    """(runs, what went wrong) of one file in all its states."""
    runs, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        states = [("whole", path)]
        for name, content in damaged(path, path.name):
            state = pathlib.Path(folder) / name.replace(" ", "-")
            state.write_bytes(content)
            states.append((name, state))
        for name, state in states:
            for verb in VERBS:
                runs += 1
                problem = run_verb(program, verb, state, f"{path.name} {name}")
                if problem:
                    wrong.append(problem)
    return runs, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--build", default=str(ROOT / "build" / "fuzz"))
    parser.add_argument("--out")
    parser.add_argument("--files", default="")
    options = parser.parse_args()
    program = str(pathlib.Path(options.build) / "vramscope")
    begin = time.monotonic()
    fuzzed = subprocess.run([str(ROOT / "fuzz" / "run.sh"), options.build, str(options.seconds)], capture_output=True,
                            text=True, check=False)
    print(fuzzed.stdout, end="")
    runs, wrong, files = 0, [], inputs(options.files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for count, problems in pool.map(lambda path: check_file(program, path), files):
            runs += count
            wrong += problems
    print("\n".join(wrong))
    passed = fuzzed.returncode == 0 and not wrong
    if options.out:
        lines = ["# The long test", "",
                 "`./dev soak` fuzzes the readers and analyses, then runs every verb, built with clang's address and undefined",
                 "behaviour sanitizers, on every real trace, snapshot, timeline, log and example: whole, ten times cut,",
                 f"ten times with flipped bits (files above {DAMAGED_BYTES // 1_000_000} MB of text: whole only).", "",
                 f"- Date: {datetime.date.today().isoformat()}",
                 f"- Machine: {os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}",
                 f"- Command: `./dev soak {options.seconds}`",
                 f"- Fuzzing: {'; '.join(fuzzed.stdout.strip().splitlines()[-3:]) or 'no output'}",
                 f"- Files: {len(files)}; runs: {runs}; crashes, hangs, wrong exit codes: {len(wrong)}",
                 f"- Time: {(time.monotonic() - begin) / 60:.0f} minutes",
                 f"- Result: {'passed' if passed else 'FAILED'}", ""]
        pathlib.Path(options.out).write_text("\n".join(lines), encoding="utf-8")
    print(f"{runs - len(wrong) + (fuzzed.returncode == 0)} passed, {len(wrong) + (fuzzed.returncode != 0)} failed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
