#!/usr/bin/env python3
"""CPU of a sample of `vramscope watch` on this driver, and of starting `smi`. Figures alone; nothing can fail but a crash."""
import pathlib
import statistics
import subprocess
import sys
import time


def cpu_seconds(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="utf-8").split()[0]) / 1e9


def main():
    program = sys.argv[1]
    child = subprocess.Popen([program, "watch", "--interval", "100ms", "--duration", "12s"], stdout=subprocess.DEVNULL)
    time.sleep(2)
    before, begin = cpu_seconds(child.pid), time.monotonic()
    time.sleep(9)
    cost = (cpu_seconds(child.pid) - before) / (time.monotonic() - begin) * 0.1
    status = pathlib.Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8")
    print(f"a sample: {cost * 1000:.2f} ms of CPU;", [line for line in status.splitlines() if "VmHWM" in line][0])
    child.wait()
    for name, command in (("vramscope smi", [program, "smi"]), ("nvidia-smi", ["nvidia-smi"])):
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            subprocess.run(command + ["--query-gpu=memory.used,memory.total", "--format=csv"], check=True,
                           stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - begin) * 1000)
        print(f"{name}: {statistics.median(times):.1f} ms from start to exit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
