#!/usr/bin/env python3
"""`vramscope watch PROGRAM` over real programs: output, terminal, signals and exit codes as without it, and why it died.

VRAMSCOPE in the environment names the program.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HAS_TORCH = subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode == 0
VRAMSCOPE = os.environ["VRAMSCOPE"]
WATCH = [VRAMSCOPE, "watch", "--device", "sim:healthy"]
PYTHON = "/usr/bin/python3"
ENVIRONMENT = {**os.environ, "LANG": "C.UTF-8"}


def ended(lines):
    """The object of the line of kind "ended", of JSON lines on stderr among other text."""
    found = [json.loads(line) for line in lines.decode().splitlines() if line.startswith('{"time_ns"')]
    return [each for each in found if each["kind"] == "ended"][-1]


def watch(*program, script=None, **options):
    command = list(program) or [PYTHON, "-c", script]
    done = subprocess.run([*WATCH, "--json", *command], capture_output=True, env=ENVIRONMENT, timeout=120,
                          check=False, **options)
    return done, ended(done.stderr)


class Output(unittest.TestCase):
    def test_bytes_pass_untouched(self):
        script = ("import os\nblock = bytes(range(256)) * 4096\n"
                  "for i in range(24):\n  view = block[i:] + block[:i]\n"
                  "  while view: view = view[os.write(1, view):]\n")
        done = subprocess.run([*WATCH, PYTHON, "-c", script], capture_output=True, env=ENVIRONMENT, timeout=120,
                              check=True)
        block = bytes(range(256)) * 4096
        expected = hashlib.sha256(b"".join(block[i:] + block[:i] for i in range(24))).hexdigest()
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), expected)

    def test_words_without_an_end_of_line_stand_apart(self):
        for streams in ({"stderr": subprocess.PIPE}, {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}):
            done = subprocess.run([*WATCH, "--json", "sh", "-c", "printf words >&2; exit 9"], check=False, timeout=60,
                                  env=ENVIRONMENT, **streams)
            lines = (done.stderr or done.stdout).decode().splitlines()
            self.assertEqual(lines[0], "words")
            self.assertEqual(json.loads(lines[-1])["kind"], "ended")

    def test_order_is_kept_where_both_streams_are_one(self):
        script = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
        with tempfile.TemporaryFile() as out:
            subprocess.run([*WATCH, "--quiet", PYTHON, "-c", script], stdout=out, stderr=out, env=ENVIRONMENT,
                           timeout=60, check=True)
            out.seek(0)
            self.assertEqual(out.read(), b"".join(b"%d\n" % i for i in range(2000)))

    def test_a_reader_that_goes_away_ends_the_program(self):
        watched = subprocess.Popen([*WATCH, "--quiet", "yes"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=ENVIRONMENT)
        watched.stdout.read(1000)
        watched.stdout.close()
        self.assertIn(watched.wait(timeout=20), (1, 128 + signal.SIGPIPE))

    def test_what_is_left_running_does_not_hold_us_and_keeps_its_output(self):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            script = f"(sleep 8; echo late; echo later >&2; echo alive > {folder}/alive) & echo early"
            with subprocess.Popen([*WATCH, "--quiet", "sh", "-c", script], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=ENVIRONMENT) as watched:
                self.assertEqual(watched.wait(timeout=60), 0)
                self.assertLess(time.monotonic() - begin, 7)
                # Who reads the output waits for its end, as without us.
                self.assertEqual(watched.stdout.read(), b"early\nlate\n")
                self.assertEqual(watched.stderr.read(), b"later\n")
            self.assertTrue((pathlib.Path(folder) / "alive").exists())

    def test_the_words_of_a_program_may_stand_behind_for(self):
        done = subprocess.run([*WATCH, "--quiet", "--for", "echo", "--json"], capture_output=True, env=ENVIRONMENT,
                              timeout=60, check=True)
        self.assertEqual(done.stdout, b"--json\n")

    def test_a_program_runs_without_a_driver(self):
        environment = {**ENVIRONMENT, "VRAMSCOPE_NVML": "/nowhere/libnvidia-ml.so.1", "VRAMSCOPE_SYS": "/nowhere"}
        done = subprocess.run([VRAMSCOPE, "watch", "sh", "-c", "echo here; exit 7"], capture_output=True,
                              env=environment, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (7, b"here\n"))
        self.assertIn(b"The program is watched without its devices.", done.stderr)

    def test_stdin_is_the_programs(self):
        done = subprocess.run([*WATCH, "cat"], input=b"from us\n", capture_output=True, env=ENVIRONMENT, timeout=30,
                              check=True)
        self.assertEqual(done.stdout, b"from us\n")


class Terminal(unittest.TestCase):
    def run_in_terminal(self, script, rows, columns, then=None):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe(WATCH[0], [*WATCH, "--quiet", PYTHON, "-c", script], ENVIRONMENT)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        text = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
            if then:
                then(terminal, text)
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return text, os.waitstatus_to_exitcode(status)

    def test_the_program_sees_a_terminal_of_the_windows_size(self):
        script = ("import os, sys, time\ntime.sleep(0.3)\nsize = os.get_terminal_size()\n"
                  "print(sys.stdout.isatty(), sys.stderr.isatty(), size.lines, size.columns)")
        text, code = self.run_in_terminal(script, 33, 111)
        self.assertEqual((text, code), (b"True True 33 111\r\n", 0))

    def test_a_changed_window_is_passed_on(self):
        script = ("import os, signal, sys, time\n"
                  # The kernel tells the program once itself, before its own terminal has the new size.
                  "def changed(*_):\n  size = os.get_terminal_size()\n  if size.lines == 24: return\n"
                  "  os.write(1, b'%d %d\\n' % (size.lines, size.columns)); os._exit(0)\n"
                  "time.sleep(0.3)\nsignal.signal(signal.SIGWINCH, changed)\nprint('ready', flush=True)\n"
                  "time.sleep(10)\nsys.exit(1)")
        resized = []

        def then(terminal, text):
            if b"ready\r\n" in text and not resized:
                resized.append(True)
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))

        text, code = self.run_in_terminal(script, 24, 80, then)
        self.assertEqual((text, code), (b"ready\r\n50 200\r\n", 0))

    def test_ctrl_c_reaches_the_program_once(self):
        script = ("import signal, sys, time\ngot = []\nsignal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
                  "print('ready', flush=True)\nend = time.time() + 0.7\n"
                  "while time.time() < end: time.sleep(0.05)\nprint(len(got)); sys.exit(5)")
        pressed = []

        def then(terminal, text):
            if b"ready\r\n" in text and not pressed:
                pressed.append(True)
                os.write(terminal, b"\x03")

        text, code = self.run_in_terminal(script, 24, 80, then)
        self.assertTrue(text.replace(b"^C", b"").endswith(b"ready\r\n1\r\n"), text)
        self.assertEqual(code, 5)


class Signals(unittest.TestCase):
    def test_what_is_sent_to_us_is_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
            # Short naps: a signal just before one is only heard after it.
            script = (f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(40))\n"
                      "print('ready', flush=True)\nfor _ in range(400): time.sleep(0.05)")
            watched = subprocess.Popen([*WATCH, "--quiet", PYTHON, "-c", script], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=ENVIRONMENT)
            self.assertEqual(watched.stdout.readline(), b"ready\n")
            watched.send_signal(number)
            self.assertEqual(watched.wait(timeout=20), 40)
            watched.stdout.close()

    def test_asked_to_end(self):
        watched = subprocess.Popen([*WATCH, "--json", "sh", "-c", "echo ready; exec sleep 20"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=ENVIRONMENT)
        watched.stdout.readline()
        watched.send_signal(signal.SIGTERM)
        _, text = watched.communicate(timeout=20)
        end = ended(text)
        self.assertEqual((end["end"]["reason"], end["severity"]), ("on-request", "info"))
        self.assertEqual(watched.returncode, 128 + signal.SIGTERM)


class Why(unittest.TestCase):
    def test_exit_codes(self):
        for code in (0, 3, 255):
            done, end = watch(script=f"raise SystemExit({code})")
            self.assertEqual(done.returncode, code)
            self.assertEqual(end["end"]["exit_code"], code)
            self.assertEqual(end["end"]["reason"], "exit-code" if code else "success")

    def test_signals(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            done, end = watch(script=f"import os; os.kill(os.getpid(), {int(number)})")
            self.assertEqual(done.returncode, 128 + number)
            self.assertEqual((end["end"]["signal"], end["end"]["reason"]), (number, "signal"))

    def test_exception_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.py"
            path.write_text("def step():\n    raise ValueError('no batch left')\nstep()\n", encoding="utf-8")
            done, end = watch(PYTHON, str(path))
        self.assertEqual((done.returncode, end["end"]["reason"]), (1, "exception"))
        self.assertIn("ValueError: no batch left", end["end"]["why"])
        places = [each["value"] for each in end["end"]["evidence"] if each["what"] == "place in the program"]
        self.assertEqual(places, [f"{path}:2 in step"])

    def test_gpu_out_of_memory_survived_and_not(self):
        message = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity)"
        done, end = watch(script=f"raise RuntimeError({message!r})")
        self.assertEqual((done.returncode, end["end"]["reason"]), (1, "gpu-out-of-memory"))
        self.assertEqual(end["end"]["certainty"], "certain")
        self.assertTrue(end["end"]["fixes"])
        # The program goes on with half the batch; another error ends it later.
        done, end = watch(script=f"print('RuntimeError: ' + {message!r}, flush=True)\nraise KeyError('labels')")
        self.assertEqual(end["end"]["reason"], "exception")

    def test_gpu_out_of_memory_long_before_the_end_is_not_certain(self):
        done, end = watch(script="print('CUDA out of memory: halving the batch size to 8')\n"
                          "for i in range(500): print('step', i, 'loss 0.3')\nraise SystemExit(3)")
        self.assertEqual((done.returncode, end["end"]["certainty"]), (3, "likely"))

    @unittest.skipUnless(HAS_TORCH, "no PyTorch here")
    def test_a_real_allocation_that_fails(self):
        done, end = watch(script="import torch; torch.empty(1 << 60, dtype=torch.uint8)")
        self.assertEqual((done.returncode, end["end"]["reason"]), (1, "host-out-of-memory"))

    @unittest.skipUnless(HAS_TORCH, "no PyTorch here")
    def test_killed_worker_is_named(self):
        script = ("import os, signal, torch\nfrom torch.utils.data import DataLoader, Dataset\n"
                  "class Data(Dataset):\n  def __len__(self): return 8\n"
                  "  def __getitem__(self, i):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
                  "for batch in DataLoader(Data(), num_workers=1): pass\n")
        done, end = watch(script=script)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(end["end"]["reason"], "worker")
        self.assertEqual(end["end"]["worker"]["signal"], signal.SIGKILL)
        self.assertGreater(end["end"]["worker"]["pid"], 1)

    def test_limit_of_a_memory_cgroup(self):
        root = pathlib.Path("/sys/fs/cgroup")
        base = root if (root / "cgroup.controllers").exists() else root / "memory"
        folder = base / f"vramscope-test-{os.getpid()}"
        try:
            folder.mkdir()
            if base == root:
                (root / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
                (folder / "memory.swap.max").write_text("0", encoding="ascii")
            limit = folder / ("memory.max" if base == root else "memory.limit_in_bytes")
            limit.write_text(str(96 << 20), encoding="ascii")
        except OSError as why:
            if folder.exists():
                folder.rmdir()
            self.skipTest(f"no memory cgroup can be made here: {why}")
        try:
            script = (f"open({str(folder / 'cgroup.procs')!r}, 'w').write('0')\nimport time\ntime.sleep(1.2)\nkept = []\n"
                      "while True: kept.append(bytearray(b'x') * (8 << 20))")
            done, end = watch(script=script)
        finally:
            time.sleep(0.2)
            folder.rmdir()
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertEqual((end["end"]["reason"], end["end"]["certainty"]), ("host-out-of-memory", "certain"))

    def test_a_process_that_somebody_else_started(self):
        library = pathlib.Path(VRAMSCOPE).parent / "stand_ins/nvml/new/libnvidia-ml.so.1"
        if not library.exists():
            self.skipTest("the stand-in of the driver's library is not built")
        sleeper = subprocess.Popen(["sleep", "0.8"])
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "script"
            script.write_text(f"gpu\nprocess C {sleeper.pid} 4G\n", encoding="ascii")
            environment = {**ENVIRONMENT, "VRAMSCOPE_NVML": str(library), "VRAMSCOPE_STAND_IN": str(script)}
            command = [VRAMSCOPE, "watch", "--json", "--pid", str(sleeper.pid)]
            watched = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
            sleeper.wait()
            text, _ = watched.communicate(timeout=20)
            end = ended(text)
            self.assertEqual((end["pid"], end["end"]["reason"], end["severity"]), (sleeper.pid, "unknown", "warning"))
            done = subprocess.run(command, capture_output=True, env=environment, check=False, timeout=20)
            self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    unittest.main()
