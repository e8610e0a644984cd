#!/usr/bin/env python3
"""A PyTorch loop that keeps one more tensor each step, under `vramscope watch`: the rise must be told and recorded.

    watch_leak.py PROGRAM RECORDING OUTPUT
"""
import subprocess
import sys

LEAK = """
import time, torch
kept = []
x = torch.randn(2048, 2048, device="cuda")
for step in range(450):
    kept.append(torch.empty(32 << 20, dtype=torch.uint8, device="cuda"))
    (x @ x).sum().item()
    time.sleep(0.1)
print("steps done")
"""


def main():
    program, recording, output = sys.argv[1:]
    done = subprocess.run([program, "watch", "--interval", "1s", "--record", recording, "--replace", "--", sys.executable,
                           "-c", LEAK], capture_output=True, text=True, timeout=110, check=False)
    replay = subprocess.run([program, "watch", "--replay", recording, "--speed", "max"], capture_output=True, text=True,
                            check=False)
    info = subprocess.run([program, "info", recording], capture_output=True, text=True, check=False)
    with open(output, "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr + "\n" + replay.stdout + replay.stderr + "\n" + info.stdout)
    text = done.stdout + done.stderr
    wrong = [what for what, holds in (
        ("exit status of the program", done.returncode == 0),
        ("its output is passed on", "steps done" in done.stdout),
        ("growing so far is told", "growing so far" in text),
        ("the recording tells it too", "growing so far" in replay.stdout),
    ) if not holds]
    print(text)
    for what in wrong:
        print(f"DIFFERS: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
