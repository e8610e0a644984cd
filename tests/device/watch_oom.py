#!/usr/bin/env python3
"""A PyTorch program that fills the device: the watch must say that it died of GPU memory, and a snapshot of that moment is
kept for fixtures.

    watch_oom.py PROGRAM OUTPUT SNAPSHOT
"""
import os
import subprocess
import sys

FILL = """
import sys, time, torch
torch.cuda.memory._record_memory_history(max_entries=2000)
kept = []
try:
    while True:
        kept.append(torch.empty(2 << 30, dtype=torch.uint8, device="cuda"))
        time.sleep(0.05)
except torch.cuda.OutOfMemoryError:
    torch.cuda.memory._dump_snapshot(sys.argv[1])
    stats = torch.cuda.memory_stats()
    print("reserved", stats["reserved_bytes.all.current"], "allocated", stats["allocated_bytes.all.current"])
    raise
"""


def main():
    program, output, snapshot = sys.argv[1:]
    done = subprocess.run([program, "watch", "--interval", "500ms", "--", sys.executable, "-c", FILL, snapshot],
                          capture_output=True, text=True, timeout=110, check=False)
    memory = subprocess.run([program, "memory", snapshot, "--json"], capture_output=True, text=True, check=False)
    diagnosis = subprocess.run([program, "diagnose", snapshot], capture_output=True, text=True, check=False)
    with open(output, "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr + "\n" + memory.stdout[:200_000] + "\n" + diagnosis.stdout)
    print(done.stderr)
    print(diagnosis.stdout)
    wrong = [what for what, holds in (
        ("exit status of the program", done.returncode == 1),
        ("the reason is GPU memory", "out of memory" in done.stderr.lower()),
        ("the snapshot can be read", memory.returncode == 0 and os.path.getsize(snapshot) < 16 << 20),
    ) if not holds]
    for what in wrong:
        print(f"DIFFERS: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
