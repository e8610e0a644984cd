#!/usr/bin/env python3
"""Compares the program's figures on the real traces with an independent reading (tests/reference/), and validates
each JSON against docs/schemas/. Real files lie in ../shared/real or where VRAMSCOPE_REAL says; skips (77) without.

usage: check_real.py [PART OF A FILE NAME…]
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "reference")]
import kineto_reference  # noqa: E402
import schema_check  # noqa: E402

INFO_FIELDS = ("events", "events_by_category", "start_ns", "end_ns", "steps")
DEVICE_FIELDS = ("kernels", "kernel_ns", "memcpy_bytes", "busy_ns", "span_ns")
MEMORY_FIELDS = ("allocs", "frees", "alloc_bytes", "free_bytes", "frees_without_alloc", "max_allocated_bytes",
                 "max_reserved_bytes")
OP_FIELDS = ("count", "total_cpu_ns", "self_device_ns")


def real_folder():
    chosen = os.environ.get("VRAMSCOPE_REAL")
    folder = pathlib.Path(chosen) if chosen else ROOT.parent / "shared" / "real"
    return folder if folder.is_dir() else None


class Check:
    """Collects what is wrong with one file."""

    def __init__(self, program, path):
        self.program, self.path, self.wrong = program, path, []

    def run(self, verb):
        done = subprocess.run([self.program, verb, "--json", str(self.path)], capture_output=True, check=False,
                              timeout=300)
        text = done.stdout.decode("utf-8", "strict")
        if done.returncode != 0:
            self.wrong.append(f"{verb}: exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
            return None
        invalid = schema_check.check(schema_check.load_schema(verb), text)
        if invalid:
            self.wrong.append(f"{verb}: against its schema: {invalid}")
        return json.loads(text)

    def same(self, what, got, want):
        if got != want:
            self.wrong.append(f"{what} is {got}, expected {want}")

    def info(self, truth):
        document = self.run("info")
        if document is None:
            return
        source = document["sources"][0]
        for field in INFO_FIELDS:
            self.same(f"info: {field}", source.get(field), truth[field])
        # The program also lists devices of the file's head on which nothing ran.
        got = {device["id"]: device for device in source["devices"]}
        for want in truth["devices"]:
            for field in DEVICE_FIELDS:
                self.same(f"info: device {want['id']} {field}", got.get(want["id"], {}).get(field), want[field])
        for number in set(got) - {want["id"] for want in truth["devices"]}:
            self.same(f"info: device {number} kernels", got[number]["kernels"], 0)

    def memory(self, truth):
        document = self.run("memory")
        if document is None:
            return
        got = {device["device"] + (f" (process {device['process']})" if "process" in device else ""): device
               for device in document["devices"]}
        self.same("memory: devices", sorted(got), sorted(truth["memory"]))
        for name, want in truth["memory"].items():
            for field in MEMORY_FIELDS:
                self.same(f"memory: {name} {field}", got.get(name, {}).get(field), want.get(field))

    def ops(self, truth):
        document = self.run("ops")
        if document is None:
            return
        rows = {row["name"]: row for row in document["rows"]}
        for name, want in truth["ops"].items():
            for field in OP_FIELDS:
                self.same(f"ops: {name} {field}", rows.get(name, {}).get(field), want[field])


def check_file(program, path):
    check = Check(program, path)
    truth = kineto_reference.read(str(path))
    if "refused" in truth:
        done = subprocess.run([program, "info", str(path)], capture_output=True, check=False, timeout=300)
        check.same("exit status", done.returncode, 4)
    else:
        check.info(truth)
        check.memory(truth)
        check.ops(truth)
        check.run("diagnose")
    return check.wrong


def main(parts):
    folder = real_folder()
    if folder is None:
        print("no folder ../shared/real, and VRAMSCOPE_REAL names none")
        return 77
    program = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
    files = sorted((folder / "kineto_trace").iterdir())
    files = [path for path in files if not parts or any(part in path.name for part in parts)]
    failed = 0
    # One file at a time in a fresh process: the reading in Python takes a gigabyte for the largest ones.
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        for path, wrong in zip(files, pool.map(check_file, [program] * len(files), files)):
            failed += bool(wrong)
            if wrong:
                print(f"FAIL {path.name}")
                print("\n".join(f"  {line}" for line in wrong[:30]))
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
