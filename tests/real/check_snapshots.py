#!/usr/bin/env python3
"""Compares `vramscope memory --json` on the real CUDA memory snapshots with an independent reading
(tests/reference/snapshot_reference.py), and validates each JSON against docs/schemas/. Real files lie in
../shared/real or where VRAMSCOPE_REAL says; skips (77) without.

usage: check_snapshots.py [PART OF A FILE NAME…]
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "reference")]
import snapshot_reference  # noqa: E402
import schema_check  # noqa: E402

FIELDS = ("reserved_bytes", "allocated_bytes", "active_bytes", "free_bytes", "largest_free_block_bytes", "segments",
          "blocks", "end_live_bytes", "peak_live_bytes", "frees_without_alloc", "entries")
REFUSED = "NOT_A_SNAPSHOT"


def top_stacks(device):
    rows = [(row["bytes"], row["count"]) for row in device["live_by_stack"]]
    return sorted(rows, reverse=True)[:5]


def check(program, path):
    done = subprocess.run([program, "memory", "--json", str(path)], capture_output=True, check=False)
    if path.name.startswith(REFUSED):
        return [] if done.returncode == 4 and not done.stdout else [f"not refused, exit {done.returncode}"]
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.decode(errors='replace')}"]
    report = json.loads(done.stdout)
    invalid = schema_check.check(schema_check.load_schema("memory"), done.stdout)
    wrong = [f"does not fit its schema: {invalid}"] if invalid else []
    ours = {device["device"]: device for device in report["devices"]}
    theirs = snapshot_reference.figures(path)
    wrong += [f"{name}: not reported" for name in sorted(set(theirs) - set(ours))]
    for name, want in theirs.items():
        got = ours.get(name)
        if got is None:
            continue
        wrong += [f"{name} {field}: {got.get(field)}, expected {want[field]}"
                  for field in FIELDS if got.get(field) != want[field]]
        end = got.get("replayed_end_bytes", got["end_live_bytes"])
        if want["entries"] and end != want["replayed_end_bytes"]:
            wrong.append(f"{name} end of the replay: {end}, expected {want['replayed_end_bytes']}")
        if top_stacks(got) != [tuple(row) for row in want["top"]]:
            wrong.append(f"{name} largest stacks: {top_stacks(got)}, expected {want['top']}")
        if [oom["asked_bytes"] for oom in got["oom"]] != want["ooms"]:
            wrong.append(f"{name} failed allocations: {got['oom']}, expected {want['ooms']}")
    return wrong


def main(parts):
    chosen = os.environ.get("VRAMSCOPE_REAL")
    folder = (pathlib.Path(chosen) if chosen else ROOT.parent / "shared" / "real") / "cuda_snapshot"
    if not folder.is_dir():
        print("no folder ../shared/real, and VRAMSCOPE_REAL names none")
        return 77
    program = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
    files = [path for path in sorted(folder.iterdir()) if not parts or any(part in path.name for part in parts)]
    failed = 0
    for path in files:
        wrong = check(program, path)
        failed += bool(wrong)
        if wrong:
            print(f"FAIL {path.name}")
            print("\n".join(f"  {line}" for line in wrong[:30]))
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
