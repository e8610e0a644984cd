#!/usr/bin/env python3
"""Runs the golden tests: tests/golden/<area>/<case>/{cmd,input.*,expected.*}.

`cmd` is one shell line, run in the case's folder with $VRAMSCOPE (the program) and $SCRATCH (an empty folder for what
the line makes itself). Compared byte for byte: stdout with expected.stdout, stderr with expected.stderr, the exit
status with expected.exit; a file that is absent stands for empty output or exit status 0. `about` says in a line or
two what must be true of the output; --update rewrites expected.*, so read the difference against it.

usage: run.py [--update] [AREA[/CASE]…]
"""
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 180  # seconds; the widest case runs hundreds of reports, slower under a sanitizer
KEPT = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


def run_case(case, program):
    """(stdout, stderr, exit status) of the case's line, as bytes and int."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment.update(VRAMSCOPE=program, SCRATCH=scratch, HOME=scratch, TMPDIR=scratch, LANG="C.UTF-8",
                           TERM="dumb", TZ="UTC", PYTHONIOENCODING="utf-8")
        line = (case / "cmd").read_text(encoding="utf-8").strip()
        try:
            done = subprocess.run(["bash", "-c", line], cwd=case, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S, check=False)
            return done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            return late.stdout or b"", f"no end after {TIMEOUT_S} s\n".encode(), 124


def expected_of(case):
    def read(name):
        path = case / name
        return path.read_bytes() if path.exists() else b""

    return read("expected.stdout"), read("expected.stderr"), int(read("expected.exit") or 0)


def store(case, got):
    """Writes expected.*; leaves no file for empty output or status 0. Refuses what a crash left."""
    stdout, stderr, status = got
    if status >= 124:
        return False
    for name, content in (("expected.stdout", stdout), ("expected.stderr", stderr),
                          ("expected.exit", f"{status}\n".encode() if status else b"")):
        path = case / name
        if content:
            path.write_bytes(content)
        elif path.exists():
            path.unlink()
    return True


def difference(name, want, got):
    """The difference of two outputs as text; lines of JSON are broken at commas to be readable."""
    def lines(content):
        text = content.decode("utf-8", "backslashreplace")
        if text.startswith("{") and text.count("\n") == 1:
            text = text.replace(",", ",\n")
        return text.splitlines(keepends=True)

    return "".join(line if line.endswith("\n") else line + "\n"
                   for line in difflib.unified_diff(lines(want), lines(got), f"expected.{name}", name))


def report(case, want, got):
    text = f"FAIL {case.relative_to(HERE)}: {(case / 'cmd').read_text(encoding='utf-8').strip()}\n"
    if want[2] != got[2]:
        text += f"exit status {got[2]}, expected {want[2]}\n"
    return text + difference("stdout", want[0], got[0]) + difference("stderr", want[1], got[1])


def main(arguments):
    update = "--update" in arguments
    wanted = [a.rstrip("/") for a in arguments if not a.startswith("--")]
    program = os.environ.get("VRAMSCOPE") or str(HERE.parents[1] / "build" / "vramscope")
    cases = [path.parent for path in sorted(HERE.glob("*/*/cmd"))]
    if wanted:
        cases = [c for c in cases if any(f"{c.relative_to(HERE)}/".startswith(f"{w}/") for w in wanted)]
    passed = failed = updated = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for case, got in zip(cases, pool.map(lambda c: run_case(c, program), cases)):
            want = expected_of(case)
            if want == got:
                passed += 1
            elif update and store(case, got):
                updated += 1
                print(f"updated {case.relative_to(HERE)}")
            else:
                failed += 1
                print(report(case, want, got))
    print(f"{passed + updated} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
