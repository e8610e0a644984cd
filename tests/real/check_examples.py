#!/usr/bin/env python3
"""Compares `vramscope ops --json` on examples/*.json.gz with the sums of PyTorch's own event tree
(examples/*.truth.json): every operator, every figure, exact. Skips (77) when there is no example.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ("count", "self_cpu_ns", "total_cpu_ns", "self_cpu_bytes", "total_cpu_bytes")


def differences(program, truth_path):
    truth = json.loads(truth_path.read_text(encoding="utf-8"))
    recording = truth_path.parent / truth["trace"]
    done = subprocess.run([program, "ops", "--json", str(recording)], capture_output=True, check=False, timeout=120)
    if done.returncode != 0:
        return [f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}"]
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    wrong = []
    for want in truth["rows"]:
        got = rows.pop(want["name"], None)
        if got is None:
            wrong.append(f"{want['name']}: no row")
            continue
        wrong += [f"{want['name']}: {field} is {got[field]}, PyTorch says {want[field]}"
                  for field in FIELDS if got[field] != want[field]]
    return wrong + [f"{name}: a row that PyTorch does not have" for name in rows]


def main():
    program = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
    truths = sorted((ROOT / "examples").glob("*.truth.json"))
    if not truths:
        print("no examples with a truth file")
        return 77
    failed = 0
    for path in truths:
        wrong = differences(program, path)
        failed += bool(wrong)
        if wrong:
            print(f"FAIL {path.name}")
            print("\n".join(f"  {line}" for line in wrong[:40]))
    print(f"{len(truths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
