#!/usr/bin/env python3
"""`vramscope top` by keys, in a real terminal (tmux): every key, every size, a storm of sizes, signals to a real child,
a driver that hangs, no GPU, GPUs that are lost, many processes; and the terminal is given back as it was.

VRAMSCOPE in the environment names the program, VRAMSCOPE_STAND_IN_LIBRARY the stand-in of NVIDIA's library.
Exit status 77 (skipped) without tmux.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

if shutil.which("tmux") is None:
    print("tmux is not installed")
    sys.exit(77)

VRAMSCOPE = os.environ["VRAMSCOPE"]
STAND_IN = os.environ["VRAMSCOPE_STAND_IN_LIBRARY"]
SOCKET = f"vramscope-top-{os.getpid()}"
PATIENCE_S = 20
GPU = """gpu
text name NVIDIA H100 80GB HBM3
text uuid GPU-00000000-0000-4000-8000-{index:012d}
set index {index}
set memory.total 80G
set memory.used 61G
set memory.free 19G
set utilization.gpu 93
set temperature.0 62
set power 520000
set power.limit 700000
"""


def tmux(*words, check=True):
    return subprocess.run(["tmux", "-L", SOCKET, "-f", "/dev/null", *words], capture_output=True, text=True,
                          check=check, timeout=PATIENCE_S).stdout


def script(gpus=1, processes=(), more=""):
    text = "driver 590.48.01\ncuda 13010\n"
    for index in range(gpus):
        text += GPU.format(index=index)
        for pid in processes if index == 0 else ():
            text += f"process C {pid} 3G\nshare {pid} 40 20 0 0\n"
    return text + more


class Screen:
    """A shell in a window of tmux; `start` runs the program in it."""

    def __init__(self, case, columns=100, rows=30, environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vramscope-top-"))
        case.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.name = f"s{random.randrange(10**9)}"
        variables = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": str(self.folder),
                     "XDG_CONFIG_HOME": str(self.folder), "PS1": "ready> ", "TZ": "UTC", "NO_COLOR": "",
                     **(environment or {})}
        words = ["env", *(f"{name}={value}" for name, value in variables.items()), "bash", "--norc", "--noprofile", "-i"]
        tmux("new-session", "-d", "-s", self.name, "-x", str(columns), "-y", str(rows), *words)
        case.addCleanup(tmux, "kill-session", "-t", self.name, check=False)
        self.wait("ready>")

    def start(self, *words):
        self.type(" ".join([VRAMSCOPE, "top", *words]) + "; echo left with $?")
        self.keys("Enter")

    def start_on(self, text, *words):
        """Over the stand-in with that script."""
        path = self.folder / "script"
        path.write_text(text, encoding="utf-8")
        self.type(f"export VRAMSCOPE_NVML={STAND_IN} VRAMSCOPE_STAND_IN={path}; clear")
        self.keys("Enter")
        self.start("--device", "nvml", *words)

    def keys(self, *names):
        for name in names:
            tmux("send-keys", "-t", self.name, name)
            if name == "Escape":
                time.sleep(0.1)  # with a key right behind it, it would be Alt with that key

    def type(self, text):
        tmux("send-keys", "-t", self.name, "-l", text)

    def text(self, *options):
        return tmux("capture-pane", "-p", *options, "-t", self.name)

    def resize(self, columns, rows):
        tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def about(self, what):
        return tmux("display-message", "-p", "-t", self.name, f"#{{{what}}}").strip()

    def wait(self, pattern, gone=False):
        """Until the screen shows it (or no longer does); the text."""
        end = time.monotonic() + PATIENCE_S
        while True:
            text = self.text()
            if bool(re.search(pattern, text)) != gone:
                return text
            if time.monotonic() > end:
                raise AssertionError(f"the screen {'still shows' if gone else 'never showed'} {pattern!r}:\n{text}")
            time.sleep(0.05)

    def top_pid(self):
        shell = int(self.about("pane_pid"))
        for entry in pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="utf-8").split():
            if "vramscope" in pathlib.Path(f"/proc/{entry}/comm").read_text(encoding="utf-8"):
                return int(entry)
        raise AssertionError("the program does not run")


class Keys(unittest.TestCase):
    def test_dialogues_open_and_close(self):
        screen = Screen(self)
        screen.start("--device", "sim:node8")
        screen.wait("160 processes")
        for keys, shown in ((["F1"], "choose a process"), (["?"], "choose a process"), (["F2"], "Setup"),
                            (["F6"], "Sort by"), (["s"], "Sort by"), (["F7"], "Columns ─"), (["c"], "Columns ─"),
                            (["F8"], "Findings ─"), (["v"], "Findings ─"), (["F9"], "Signal to process"),
                            (["x"], "Signal to process"), (["Enter"], "memory of the GPU"), (["/"], "Filter:"),
                            (["F4"], "Filter:")):
            screen.keys(*keys)
            screen.wait(shown)
            screen.keys("Escape")
            screen.wait("F1Help")
        screen.keys("q")
        screen.wait("left with 0")

    def test_every_key_in_any_order_is_survived(self):
        screen = Screen(self, 80, 24)
        screen.start("--device", "sim:node8", "-d", "1")
        screen.wait("160 processes")
        names = [f"F{i}" for i in range(1, 13) if i != 10] + [
            "Up", "Down", "Left", "Right", "PPage", "NPage", "Home", "End", "Enter", "Tab", "BSpace", "Space", "C-l",
            "DC", "IC", "BTab", "S-F5", "M-x", "C-Up"] + [chr(c) for c in range(33, 127) if chr(c) not in "qQ;yY"]
        dice = random.Random(7)
        for _ in range(4):
            dice.shuffle(names)
            for name in names:
                screen.keys(name)
        for _ in range(3):
            screen.keys("Escape")
            time.sleep(0.1)
            if "left with" in screen.text():
                break
        screen.wait("left with 0|F10Quit")

    def test_sort_filter_tree_and_columns(self):
        screen = Screen(self, 120, 30)
        screen.start("--device", "sim:zombie", "--no-plot")
        screen.wait("python3 worker.py")
        self.assertLess(*(screen.text().index(pid) for pid in ("7001", "7003")))
        screen.keys("+")
        end = time.monotonic() + PATIENCE_S
        while screen.text().index("7001") < screen.text().index("7003"):
            self.assertLess(time.monotonic(), end)
        screen.keys("/")
        screen.type("notebook 显")
        screen.wait("No process matches")
        screen.keys("BSpace", "BSpace")
        screen.wait("7002")
        screen.keys("Enter")
        text = screen.wait("filter: notebook")
        self.assertNotIn("python3 worker.py", text)
        screen.keys("Escape")
        screen.wait("python3 worker.py")
        screen.keys("F7", "Space", "Enter")  # the first column: pid
        screen.wait("  PID ", gone=True)
        screen.keys("F7", "Space", "Enter", "t")
        screen.wait("  PID ")

    def test_setup_is_kept(self):
        screen = Screen(self, 120, 30)
        (screen.folder / "vramscope").mkdir()
        path = screen.folder / "vramscope" / "top.toml"
        path.write_text("later = 1\n", encoding="utf-8")
        screen.start("--device", "sim:healthy")
        screen.wait('"later" is not known here')
        screen.keys("Z", "F2", "Down", "Space", "Enter", "F12")
        screen.wait("Saved in")
        text = path.read_text(encoding="utf-8")
        self.assertIn("later = 1", text)
        self.assertRegex(text, "window = ['\"]15m['\"]")
        self.assertNotIn("utilization", text)
        screen.keys("q")
        screen.wait("left with 0")
        screen.start("--device", "sim:healthy")
        screen.wait("15 min ago")

    def test_mouse(self):
        screen = Screen(self, 100, 30)
        screen.start("--device", "sim:zombie", "--no-plot")
        text = screen.wait("python3 notebook.py")
        row = next(i for i, line in enumerate(text.splitlines()) if "7002" in line)
        for _ in range(2):  # twice quickly: details
            screen.type(f"\x1b[<0;4;{row + 1}M\x1b[<0;4;{row + 1}m")
        screen.wait("process 7002")
        screen.keys("Escape")
        head = next(i for i, line in enumerate(text.splitlines()) if " PID " in line)
        screen.type(f"\x1b[<0;6;{head + 1}M\x1b[<0;6;{head + 1}m")
        screen.wait("PID▲")
        last = text.rstrip("\n").count("\n")
        screen.type(f"\x1b[<0;2;{last + 1}M\x1b[<0;2;{last + 1}m")
        screen.wait("choose a process")

    def test_pause_holds_the_picture(self):
        screen = Screen(self)
        screen.start("--device", "sim:node8", "-d", "1")
        screen.wait("160 processes")
        screen.keys("Space")
        screen.wait("PAUSED")
        held = screen.text()
        time.sleep(1)
        self.assertEqual(screen.text(), held)
        screen.keys("Space")
        screen.wait("PAUSED", gone=True)


class Sizes(unittest.TestCase):
    def test_every_size(self):
        screen = Screen(self, 80, 24)
        screen.start("--device", "sim:node8")
        for columns, rows in ((80, 24), (120, 40), (200, 60), (300, 100), (20, 5), (40, 10), (60, 20)):
            screen.resize(columns, rows)
            screen.wait(r"\nF1Help[^\n]*\n\Z")
            lines = screen.text().splitlines()
            self.assertRegex(lines[-1], "^F1Help")
            self.assertLessEqual(max(len(line) for line in lines), columns)
        screen.resize(12, 3)
        screen.wait("The window")
        screen.resize(100, 30)
        screen.wait("160 processes")

    def test_storm(self):
        screen = Screen(self, 100, 30)
        screen.start("--device", "sim:node8", "-d", "1")
        screen.wait("160 processes")
        dice = random.Random(11)
        for _ in range(120):
            screen.resize(dice.randrange(1, 300), dice.randrange(1, 100))
        screen.resize(110, 35)
        screen.keys("p")
        screen.wait("PAUSED")
        time.sleep(0.3)
        after = screen.text()
        screen.keys("C-l")  # drawn anew, it is the same
        time.sleep(0.5)
        self.assertEqual(screen.text(), after)


class Looks(unittest.TestCase):
    def test_colours_and_none(self):
        screen = Screen(self)
        screen.start("--device", "sim:zombie")
        screen.wait("zombie 7001")
        self.assertRegex(screen.text("-e"), r"\x1b\[[0-9;]*3[0-9]")
        plain = Screen(self, environment={"NO_COLOR": "1"})
        plain.start("--device", "sim:zombie")
        plain.wait("zombie 7001")
        self.assertNotRegex(plain.text("-e"), r"\x1b\[(?:[0-9]+;)*[34][0-8]")

    def test_sixteen_colours_and_eight(self):
        for name in ("xterm-16color", "xterm", "screen", "linux", "vt100"):
            if subprocess.run(["tput", "-T", name, "cols"], capture_output=True, check=False).returncode != 0:
                continue  # of a package that is not there
            screen = Screen(self, environment={"TERM": name})
            screen.start("--device", "sim:zombie")
            screen.wait("zombie 7001")
            screen.keys("q")
            screen.wait("left with 0")

    def test_unknown_terminal_is_told(self):
        screen = Screen(self, environment={"TERM": "no-such-terminal"})
        screen.start("--device", "sim:zombie")
        screen.wait("no-such-terminal.*is not known")
        screen.wait("left with 3")

    def test_chinese_and_ascii(self):
        screen = Screen(self)
        screen.start("--device", "sim:zombie", "--lang", "zh")
        screen.wait("僵尸")
        screen.keys("F1")
        screen.wait("选择进程")
        ascii_screen = Screen(self, environment={"LC_ALL": "C", "LANG": "C"})
        ascii_screen.start("--device", "sim:zombie")
        text = ascii_screen.wait("zombie 7001")
        self.assertTrue(text.isascii(), text)


class Signals(unittest.TestCase):
    def child(self):
        child = subprocess.Popen(["sleep", "600"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_signal_goes_out_after_a_yes_alone(self):
        child = self.child()
        screen = Screen(self)
        screen.start_on(script(processes=[child.pid]))
        screen.wait(f"{child.pid}.*sleep 600")
        for answer in ("n", "Enter", "Escape"):
            screen.keys("F9", "Enter")
            screen.wait("Are you sure")
            screen.wait(f"SIGTERM to process {child.pid}")
            screen.keys(answer)
            screen.wait("Are you sure", gone=True)
        self.assertIsNone(child.poll())
        screen.keys("F9", "Enter", "y")
        screen.wait(f"SIGTERM was sent to process {child.pid}")
        self.assertEqual(child.wait(PATIENCE_S), -signal.SIGTERM)

    def test_kill_by_number(self):
        child = self.child()
        screen = Screen(self)
        screen.start_on(script(processes=[child.pid]))
        screen.wait(f"{child.pid}.*sleep 600")
        screen.keys("F9", "9", "Enter", "y")
        self.assertEqual(child.wait(PATIENCE_S), -signal.SIGKILL)

    def test_process_that_ended_meanwhile_is_told(self):
        child = self.child()
        screen = Screen(self)
        screen.start_on(script(processes=[child.pid]))
        screen.wait(f"{child.pid}.*sleep 600")
        screen.keys("F9", "Enter")
        screen.wait("Are you sure")
        child.kill()
        child.wait()
        screen.keys("y")
        screen.wait("has ended; no signal was sent")

    def test_played_back_processes_get_none(self):
        screen = Screen(self)
        screen.start("--device", "sim:zombie")
        screen.wait("7001")
        screen.keys("F9", "Enter", "y")
        screen.wait("no signal was sent")

    def test_details_of_a_real_process(self):
        environment = {**os.environ, "VRAMSCOPE_TEST_SECRET": "opensesame"}
        child = subprocess.Popen(["sleep", "600"], cwd="/usr", env=environment)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        screen = Screen(self, 120, 50)
        screen.start_on(script(processes=[child.pid]))
        screen.wait(f"{child.pid}.*sleep 600")
        screen.keys("Enter")
        text = screen.wait("working folder: /usr")
        self.assertNotIn("opensesame", text)
        screen.keys("e")
        screen.wait("│ environment +│")
        screen.keys("End")
        screen.wait("VRAMSCOPE_TEST_SECRET=opensesame")


class Machines(unittest.TestCase):
    def test_hanging_driver_freezes_no_key(self):
        screen = Screen(self)
        screen.start_on("latency nvmlDeviceGetTemperature 30000000\n" + script(2))
        screen.wait("has not answered for [2-9] s")
        screen.keys("F1")
        begin = time.monotonic()
        screen.wait("choose a process")
        self.assertLess(time.monotonic() - begin, 3)
        screen.keys("Escape", "q")
        begin = time.monotonic()
        screen.wait("left with 0")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(screen.about("alternate_on"), "0")

    def test_no_gpu_is_a_screen_that_says_why_and_looks_again(self):
        screen = Screen(self)
        library = screen.folder / "libnvidia-ml.so.1"
        path = screen.folder / "script"
        path.write_text(script(2), encoding="utf-8")
        screen.type(f"export VRAMSCOPE_NVML={library} VRAMSCOPE_STAND_IN={path}; clear")
        screen.keys("Enter")
        screen.start("--device", "nvml")
        screen.wait("cannot be opened; install the NVIDIA driver")
        screen.keys("F1")
        screen.wait("choose a process")
        screen.keys("Escape")
        library.symlink_to(STAND_IN)
        screen.wait("2 GPUs")

    def test_driver_without_gpus(self):
        screen = Screen(self)
        screen.start_on("driver 590.48.01\ncuda 13010\n")
        screen.wait("no GPU|No GPU|no device")
        screen.keys("F9", "Enter", "y", "F8", "Escape", "q")
        screen.wait("left with 0")

    def test_lost_gpu(self):
        screen = Screen(self, 120, 40)
        screen.start("--device", "sim:lost-gpu", "--speed", "20")
        screen.wait("2 GPUs")
        screen.wait("LOST")
        screen.wait("GPU 1 is lost")
        screen.wait("GPU 0 .*memory")

    def test_many_processes(self):
        screen = Screen(self, 120, 40)
        (screen.folder / "many.scenario").write_text(
            "scenario many\ngpu 0\n  name = A\n  memory.total = 80GiB\n  process 1000..1999\n    name = python3 many.py\n"
            "    user = alice\n    used = 40MiB + noise 8MiB\n", encoding="utf-8")
        screen.start("--device", "sim:" + str(screen.folder / "many.scenario"), "-d", "1")
        screen.wait("1,000 processes")
        screen.keys("G", "End")
        screen.keys("/")
        screen.type("pid:1999")
        text = screen.wait(r"(?m)^ +1999 ")
        self.assertNotRegex(text, r"(?m)^ +1500 ")

    def test_sixteen_gpus(self):
        screen = Screen(self, 80, 24)
        screen.start_on(script(16))
        text = screen.wait("16 GPUs")
        for index in range(16):
            self.assertRegex(text, rf"(?m)^{index} NVIDIA")
        screen.resize(60, 14)
        time.sleep(0.5)
        screen.keys("Tab")
        screen.wait(r"(?m)^1 ")

    def test_recording_ends(self):
        screen = Screen(self)
        recording = screen.folder / "run.vrs"
        subprocess.run([VRAMSCOPE, "watch", "--device", "sim:lost-gpu", "--duration", "20s", "--speed", "max", "--record",
                        str(recording)], check=True, capture_output=True, timeout=60)
        screen.start("--replay", str(recording), "--speed", "max")
        screen.wait("end of the recording")
        screen.wait("2 GPUs")
        screen.keys("q")
        screen.wait("left with 0")


class Terminal(unittest.TestCase):
    """The terminal is as it was: settings, screen, cursor, mouse."""

    def state(self, screen):
        screen.type("clear; stty -a > stty; echo done")
        screen.keys("Enter")
        screen.wait("(?m)^done")
        shell = pathlib.Path(f"/proc/{screen.about('pane_pid')}/cwd/stty")
        settings = re.sub(r"rows \d+; columns \d+;", "", shell.read_text(encoding="utf-8"))
        return settings, *(screen.about(what) for what in ("alternate_on", "cursor_flag", "mouse_any_flag",
                                                           "keypad_cursor_flag"))

    def begin(self):
        screen = Screen(self)
        screen.type(f"cd {screen.folder}; clear")
        screen.keys("Enter")
        before = self.state(screen)
        screen.start("--device", "sim:node8")
        screen.wait("160 processes")
        self.assertEqual(screen.about("alternate_on"), "1")
        return screen, before

    def test_after_quit(self):
        for key in ("q", "F10", "Escape", "C-c"):
            screen, before = self.begin()
            screen.keys(key)
            screen.wait("left with 0")
            self.assertEqual(self.state(screen), before)

    def test_after_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            screen, before = self.begin()
            os.kill(screen.top_pid(), number)
            screen.wait("left with 0")
            self.assertEqual(self.state(screen), before)

    def test_stop_and_go_on(self):
        screen, before = self.begin()
        screen.keys("C-z")
        screen.wait("Stopped")
        self.assertEqual(self.state(screen), before)
        screen.type("fg")
        screen.keys("Enter")
        screen.wait("160 processes")
        self.assertEqual(screen.about("alternate_on"), "1")
        screen.keys("F1")
        screen.wait("choose a process")
        screen.keys("Escape", "q")
        screen.wait(r"\$|ready>")
        time.sleep(0.5)
        self.assertEqual(self.state(screen), before)

    def test_window_that_is_closed_ends_it(self):
        screen, _ = self.begin()
        pid = screen.top_pid()
        tmux("kill-session", "-t", screen.name)
        end = time.monotonic() + PATIENCE_S
        while pathlib.Path(f"/proc/{pid}/stat").exists():
            if "Z" == pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]:
                break
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


if __name__ == "__main__":
    # A server without sessions ends, and one that is ending takes no new ones.
    tmux("new-session", "-d", "-s", "keeps-the-server", "sleep", "3600")
    try:
        unittest.main()
    finally:
        tmux("kill-server", check=False)
