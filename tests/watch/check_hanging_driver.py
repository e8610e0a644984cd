#!/usr/bin/env python3
"""A driver that never answers, through the stand-in: every verb says so, and ends when it is asked to.

VRAMSCOPE names the program, VRAMSCOPE_NVML the stand-in.
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

VRAMSCOPE = os.environ["VRAMSCOPE"]
SILENCE_S = 5  # after which it is told
MACHINE = """driver 590.48.01
cuda 13010
gpu
text name NVIDIA H100
text uuid GPU-1
set memory.total 80G
set memory.used 20G
"""
FOREVER = 100_000_000  # us


class HangingDriver(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def start(self, function, *arguments):
        script = self.path / "machine.txt"
        # Before the GPU: of the library as a whole.
        script.write_text(f"latency {function} {FOREVER}\n{MACHINE}latency {function} {FOREVER}\n")
        environment = {**os.environ, "VRAMSCOPE_STAND_IN": str(script), "LANG": "C.UTF-8"}
        return subprocess.Popen([VRAMSCOPE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment, cwd=self.path)

    def interrupted(self, function, *arguments, after_s=1.0, number=signal.SIGINT):
        """What it said when a signal came after some time, its exit code, and how long it took to end then."""
        program = self.start(function, *arguments)
        time.sleep(after_s)
        asked = time.monotonic()
        program.send_signal(number)
        out, err = program.communicate(timeout=30)
        return out, err, program.returncode, time.monotonic() - asked

    def test_watch_ends_when_it_is_asked_to(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out, err, code, took_s = self.interrupted("nvmlDeviceGetMemoryInfo_v2", "watch", number=number)
            self.assertIn("The driver does not answer", out + err)
            self.assertEqual(code, 3)
            self.assertLess(took_s, 4)

    def test_watch_says_that_nothing_is_known(self):
        out, _, _, _ = self.interrupted("nvmlDeviceGetMemoryInfo_v2", "watch", "--json", after_s=SILENCE_S + 2)
        self.assertIn('"kind": "driver-silent"', out.replace('":"', '": "'))

    def test_watch_ends_after_its_time(self):
        program = self.start("nvmlDeviceGetMemoryInfo_v2", "watch", "--duration", "1s")
        out, _ = program.communicate(timeout=20)
        self.assertEqual(program.returncode, 3)
        self.assertIn("The driver does not answer", out)

    def test_a_recording_is_closed(self):
        self.interrupted("nvmlDeviceGetMemoryInfo_v2", "watch", "--record", "run.vrs")
        told = subprocess.run([VRAMSCOPE, "info", "--json", "run.vrs"], cwd=self.path, capture_output=True, check=False)
        self.assertIn(b'"format"', told.stdout)
        self.assertNotIn(b"no_end", told.stdout)

    def test_a_driver_that_does_not_start_ends_too(self):
        for verb in (["watch"], ["smi"], ["smi", "-L"], ["diagnose", "--for", "2s"], ["status"]):
            _, err, code, took_s = self.interrupted("nvmlInit_v2", *verb)
            self.assertLess(took_s, 4, verb)
            self.assertIn(code, (130, -signal.SIGINT), verb + [err])

    def test_one_look_says_that_it_waits(self):
        for verb in (["smi"], ["status"], ["top", "--once"]):
            _, err, _, took_s = self.interrupted("nvmlDeviceGetMemoryInfo_v2", *verb, after_s=SILENCE_S + 1.5)
            self.assertIn("has not answered for 5 s", err, verb)
            self.assertLess(took_s, 4, verb)

    def test_smi_in_a_loop_ends(self):
        query = ["smi", "--query-gpu=memory.used", "--format=csv", "-l", "1"]
        _, err, code, took_s = self.interrupted("nvmlDeviceGetMemoryInfo_v2", *query)
        self.assertIn("The driver does not answer", err)
        self.assertEqual(code, 130)
        self.assertLess(took_s, 4)

    def test_a_program_runs_all_the_same(self):
        for function in ("nvmlInit_v2", "nvmlDeviceGetMemoryInfo_v2"):
            program = self.start(function, "watch", "sh", "-c", "echo here; exit 7")
            out, err = program.communicate(timeout=30)
            self.assertEqual(out, "here\n")
            self.assertEqual(program.returncode, 7, err)
            self.assertIn("The driver does not answer", err)
            self.assertIn("exit code 7", err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
