#!/usr/bin/env python3
"""What live looks cost, over the stand-in of NVIDIA's library (tests/stand_ins/nvml) with 8 GPUs and 160 processes that
are really there.

    bench/live.py            CPU and calls of a sample, memory of `watch`, a refresh of `top`, start of `smi`
    bench/live.py --drm      the cost of the backend drm alone
    bench/live.py --long     memory over 100,000 samples instead of 10,000
    bench/live.py --check    exit 1 when a target is missed
    bench/live.py --json     the same for machines

Then what a look through the kernel's DRM drivers costs, where all descriptors of all processes are to be known: over a
generated /proc and /sys with 300 processes of 50 descriptors, 20 of them a card's, and over the machine's own /proc with
300 processes of 50 descriptors more, none of them a card's.

`top` is measured in a terminal of 200x60 at ten looks a second, which is the most that nvtop does; nvtop beside it where it
is installed. Its CPU is that of the whole process divided by its refreshes: looking at devices and processes included.

Two runs more at 500 Hz have values that change from look to look, as on a machine at work; one of them keeps a recording.
How many looks were taken is counted by the stand-in: a tick that was missed is none.

The CPU of a sample is that of the whole `vramscope watch` process divided by its samples: devices, /proc, history, growth
and verdicts of change together.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build"
GPUS, PROCESSES = 8, 20
CPU_MS, CALLS, CORE_SHARE, PEAK_MB, START_MS = 0.6, 12, 0.001, 12, 5.0  # targets, at most; a MB is 10^6 bytes
SLOW_LOOKS = 60  # at 1 Hz, at least
FAST_S = 10  # seconds of the runs with values that change
DRM_PROCESSES, DRM_LINKS, DRM_USERS, DRM_CPU_MS = 300, 50, 20, 2.0
TOP_CPU_MS, TOP_PEAK_MIB, TOP_SIZE, TOP_REFRESHES = 0.8, 12, (60, 200), 10  # rows and columns; refreshes a second
MOST_GROWN_KIB = 168 * 16  # every series with all that is ever remembered of it
GPU = """gpu
text name NVIDIA H100 80GB HBM3
text uuid GPU-00000000-0000-4000-8000-{index:012d}
set index {index}
set memory.total 80G
set memory.reserved 600M
set memory.used 61G
set memory.free 18G
set utilization.gpu 93
set utilization.memory 41
set temperature.0 62
set clock.1 1755
set clock.2 2619
set clock.max.1 1980
set power 520000
set power.limit 700000
"""


# What changes from look to look on a machine at work.
MOVING = """sway memory.used 20M 50
sway utilization.gpu 1 7
sway temperature.0 1 9
sway clock.1 15 8
sway power 1000 90
"""


def script_text(pids, is_moving):
    text = "driver 590.48.01\ncuda 13010\n"
    for index in range(GPUS):
        text += GPU.format(index=index) + (MOVING if is_moving else "")
        for pid in pids[index * PROCESSES:(index + 1) * PROCESSES]:
            text += f"process C {pid} 3G\nshare {pid} 4 2 0 0\n"
            if is_moving:
                text += f"sway {pid} 1M 50\n"
    return text


class Machine:
    """The stand-in with live processes."""

    def __init__(self, folder):
        self.sleepers = [subprocess.Popen(["sleep", "3600"]) for _ in range(GPUS * PROCESSES)]
        self.script = folder / "script"
        self.use(is_moving=False)
        self.counts = folder / "counts"
        self.environment = dict(os.environ, VRAMSCOPE_STAND_IN=str(self.script), VRAMSCOPE_STAND_IN_COUNTS=str(self.counts),
                                VRAMSCOPE_NVML=str(BUILD / "stand_ins" / "nvml" / "new" / "libnvidia-ml.so.1"))

    def use(self, is_moving):
        self.script.write_text(script_text([sleeper.pid for sleeper in self.sleepers], is_moving), encoding="utf-8")

    def close(self):
        for sleeper in self.sleepers:
            sleeper.kill()
        for sleeper in self.sleepers:
            sleeper.wait()


FDINFO = """pos:\t0
flags:\t02100002
mnt_id:\t26
ino:\t685
drm-driver:\tamdgpu
drm-client-id:\t{client}
drm-pdev:\t0000:03:00.0
pasid:\t32771
drm-total-vram:\t524288 KiB
drm-shared-vram:\t0
drm-resident-vram:\t524288 KiB
drm-total-gtt:\t65536 KiB
drm-shared-gtt:\t0
drm-resident-gtt:\t65536 KiB
drm-memory-vram:\t524288 KiB
drm-memory-gtt: \t65536 KiB
drm-memory-cpu: \t0 KiB
amd-evicted-vram:\t0 KiB
amd-requested-vram:\t524288 KiB
amd-requested-gtt:\t65536 KiB
drm-engine-gfx:\t912345678 ns
drm-engine-compute:\t12345678 ns
"""


def drm_root(folder):
    """A machine with one card; every fifteenth process uses it."""
    sys.path.insert(0, str(ROOT / "tests" / "roots" / "drm"))
    import build_tree
    build_tree.build(ROOT / "tests" / "roots" / "drm" / "amd_discrete.tree", folder)
    for number in range(DRM_PROCESSES):
        process = folder / "proc" / str(10_000 + number)
        (process / "fd").mkdir(parents=True)
        (process / "fdinfo").mkdir()
        (process / "stat").write_text(f"{10_000 + number} (work) S 900 900 900 0 -1 4194304 0 0 0 0 1200 340 0 0 20 0 8 0 "
                                      "90000000 0 5000 18446744073709551615 0 0 1 0\n", encoding="utf-8")
        for descriptor in range(DRM_LINKS):
            (process / "fd" / str(descriptor)).symlink_to(f"socket:[{number * 100 + descriptor}]")
        if number % (DRM_PROCESSES // DRM_USERS) == 0:
            (process / "fd" / str(DRM_LINKS)).symlink_to("/dev/dri/renderD128")
            (process / "fdinfo" / str(DRM_LINKS)).write_text(FDINFO.format(client=100 + number), encoding="utf-8")
    return folder


def watch_drm(program, device, environment, interval_ms=10, seconds=12):
    """Milliseconds of CPU a sample, after the first, which reads every link."""
    command = [program, "watch", "--device", device, "--interval", f"{interval_ms}ms", "--duration", f"{seconds}s"]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(2)
    cpu_early, time_early = cpu_seconds(child.pid), time.monotonic()
    time.sleep(seconds - 3)
    cpu_late, time_late = cpu_seconds(child.pid), time.monotonic()
    if child.wait() != 0:
        sys.exit("bench/live.py: vramscope watch failed")
    return (cpu_late - cpu_early) / (time_late - time_early) * interval_ms


def drm_cost(program):
    """Of the generated machine, and of the real /proc."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # as /proc is: no disk
    with tempfile.TemporaryDirectory(dir=memory) as name:
        root = drm_root(pathlib.Path(name))
        generated = watch_drm(program, f"drm:{root}", os.environ)
        files = [open(os.devnull, "rb") for _ in range(DRM_LINKS)]
        numbers = [file.fileno() for file in files]
        sleepers = [subprocess.Popen(["sleep", "3600"], pass_fds=numbers) for _ in range(DRM_PROCESSES)]
        try:
            real = watch_drm(program, "drm", dict(os.environ, VRAMSCOPE_SYS=str(root / "sys")))
        finally:
            for sleeper in sleepers:
                sleeper.kill()
            for sleeper in sleepers:
                sleeper.wait()
            for file in files:
                file.close()
    return generated, real


def rss_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)), int(re.search(r"VmHWM:\s+(\d+)", status).group(1))


def cpu_seconds(pid):
    """Of all its threads."""
    threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text(encoding="utf-8").split()[0]) for thread in threads) / 1e9


def watch(machine, program, interval_ms, seconds, more=()):
    """CPU seconds a second after the start is over, memory in KiB at a tenth and near the end, peak, looks taken."""
    command = [program, "watch", "--device", "nvml", "--interval", f"{interval_ms}ms", "--duration", f"{seconds}s", *more]
    machine.counts.unlink(missing_ok=True)
    child = subprocess.Popen(command, env=machine.environment, stdout=subprocess.DEVNULL)
    time.sleep(max(seconds * 0.1, 0.5))
    early, _ = rss_kib(child.pid)
    cpu_early, time_early = cpu_seconds(child.pid), time.monotonic()
    time.sleep(seconds * 0.85)
    late, peak = rss_kib(child.pid)
    cpu_late, time_late = cpu_seconds(child.pid), time.monotonic()
    if child.wait() != 0:
        sys.exit("bench/live.py: vramscope watch failed")
    looks = calls(machine).get("nvmlDeviceGetMemoryInfo_v2", 0) // GPUS
    if looks == 0:
        sys.exit("bench/live.py: not one look was taken")
    return (cpu_late - cpu_early) / (time_late - time_early), early, late, peak, looks


def on_screen(machine, folder, command, seconds=15):
    """CPU seconds a second of a program with a screen, after its start is over, and its peak memory in KiB."""
    environment = dict(machine.environment, TERM="xterm-256color", LC_ALL="C.UTF-8", HOME=str(folder),
                       XDG_CONFIG_HOME=str(folder), LD_LIBRARY_PATH=str(BUILD / "stand_ins" / "nvml" / "new"))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *TOP_SIZE, 0, 0))

    def drain():
        try:
            while os.read(terminal, 65536):
                pass
        except OSError:
            pass

    threading.Thread(target=drain, daemon=True).start()
    time.sleep(3)
    threads = [pathlib.Path(f"/proc/{pid}/task/{name}") for name in os.listdir(f"/proc/{pid}/task")]

    def cpu():
        return sum(int((thread / "schedstat").read_text(encoding="utf-8").split()[0]) for thread in threads) / 1e9

    cpu_early, time_early = cpu(), time.monotonic()
    time.sleep(seconds)
    share = (cpu() - cpu_early) / (time.monotonic() - time_early)
    _, peak = rss_kib(pid)
    os.kill(pid, signal.SIGTERM)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"bench/live.py: {command[0]} failed")
    return share, peak


def calls(machine):
    """Calls of the library, by name, of the last run."""
    found = {}
    for line in machine.counts.read_text(encoding="utf-8").splitlines():
        name, _, count = line.rpartition(" ")
        if count.isdigit():
            found[name.strip()] = int(count)
    return found


def ms_of_look(cpu, seconds, looks):
    """Milliseconds of CPU a look; `cpu` in seconds a second."""
    return cpu * seconds * 1000 / looks


def start_cost(machine, program, folder, turns=200):
    """Milliseconds from start to exit of a two-field query and of an empty program, medians of turns in pairs."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    empty = folder / "empty"
    subprocess.run(["cc", "-O2", "-o", empty, source], check=True)
    query = [program, "smi", "--query-gpu=memory.used,memory.total", "--format=csv"]
    times = {"query": [], "empty": []}
    for _ in range(turns):
        for name, command in (("query", query), ("empty", [empty])):
            begin = time.perf_counter()
            done = subprocess.run(command, env=machine.environment, stdout=subprocess.DEVNULL, check=False)
            times[name].append((time.perf_counter() - begin) * 1000)
            if done.returncode != 0:
                return None  # which a check must not take for quick
    return statistics.median(times["query"]), statistics.median(times["empty"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--drm", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    program = os.environ.get("VRAMSCOPE") or str(BUILD / "vramscope")
    if arguments.drm:
        generated, real = drm_cost(program)
        print(f"drm_ms_per_sample {generated:.3f}, over the real /proc {real:.3f}; at most {DRM_CPU_MS}")
        return 1 if arguments.check and max(generated, real) > DRM_CPU_MS else 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        machine = Machine(folder)
        try:
            samples = 100_000 if arguments.long else 10_000
            interval_ms = 2
            seconds = samples * interval_ms // 1000
            cpu, early, late, peak, looks = watch(machine, program, interval_ms, seconds)
            per_gpu = sum(count for call, count in calls(machine).items() if call.startswith("nvml")) / looks / GPUS
            slow_cpu, _, _, _, slow_looks = watch(machine, program, 1000, SLOW_LOOKS + 5)
            machine.use(is_moving=True)
            moving = watch(machine, program, interval_ms, FAST_S)
            recording = watch(machine, program, interval_ms, FAST_S, ("--record", str(folder / "run.vrs")))
            machine.use(is_moving=False)
            started = start_cost(machine, program, folder)
            top = on_screen(machine, folder, [program, "top", "--device", "nvml", "--delay", "1"])
            top_slow = on_screen(machine, folder, [program, "top", "--device", "nvml"])
            nvtop = on_screen(machine, folder, ["nvtop", "-d", "1"]) if shutil.which("nvtop") else None
        finally:
            machine.close()
    generated, real = drm_cost(program)
    figures = {
        "cpu_ms_per_sample": round(ms_of_look(cpu, seconds, looks), 3),
        "cpu_ms_per_sample_moving": round(ms_of_look(moving[0], FAST_S, moving[4]), 3),
        "cpu_ms_per_sample_recording": round(ms_of_look(recording[0], FAST_S, recording[4]), 3),
        "calls_per_gpu": round(per_gpu, 1),
        "core_share_at_1_hz": round(slow_cpu, 5),
        "looks_at_1_hz": slow_looks,
        "peak_mb": round(peak * 1024 / 1e6, 1),
        "grown_kib_over_samples": late - early,
        "samples": looks,
        "drm_ms_per_sample": round(generated, 3),
        "drm_ms_per_sample_real_proc": round(real, 3),
    }
    figures["top_one_refresh_ms"] = round(top[0] / TOP_REFRESHES * 1000, 3)
    figures["top_core_share_at_1_hz"] = round(top_slow[0], 5)
    figures["top_peak_mib"] = round(top[1] / 1024, 1)
    if nvtop:
        figures["nvtop_one_refresh_ms"] = round(nvtop[0] / TOP_REFRESHES * 1000, 3)
        figures["nvtop_peak_mib"] = round(nvtop[1] / 1024, 1)
    if started is None:
        print("bench/live.py: vramscope smi failed, so its start could not be timed", file=sys.stderr)
    else:
        figures["smi_ms_above_empty"] = round(started[0] - started[1], 2)
        figures["empty_ms"] = round(started[1], 2)
    wrong = [
        started is None, slow_looks < SLOW_LOOKS,
        figures["cpu_ms_per_sample"] > CPU_MS, figures["calls_per_gpu"] > CALLS,
        figures["core_share_at_1_hz"] > CORE_SHARE, figures["peak_mb"] > PEAK_MB,
        figures["grown_kib_over_samples"] > MOST_GROWN_KIB, figures.get("smi_ms_above_empty", 0) > START_MS,
        max(generated, real) > DRM_CPU_MS,
        figures["top_one_refresh_ms"] > TOP_CPU_MS, figures["top_peak_mib"] > TOP_PEAK_MIB
    ]
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:28} {value}")
        print(f"targets: {CPU_MS} ms and {CALLS} calls a sample and GPU, {CORE_SHARE:.1%} of a core at 1 Hz, {PEAK_MB} MB, "
              f"bounded, {START_MS} ms above an empty program, {DRM_CPU_MS} ms a sample of drm; top: {TOP_CPU_MS} ms a refresh, "
              f"{TOP_PEAK_MIB} MiB")
    return 1 if arguments.check and any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
