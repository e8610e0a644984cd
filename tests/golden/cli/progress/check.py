"""Feeds a trace slowly through a pipe and looks at what comes to stderr: a terminal of 50 columns, then no terminal."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time

EVENT = b'{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":5},\n'
PIECE = b"".join(EVENT % (10 * i) for i in range(20000))
CLEAR = b"\r\x1b[K"


def feed(process):
    process.stdin.write(b'{"traceEvents":[\n')
    for _ in range(8):
        process.stdin.write(PIECE)
        process.stdin.flush()
        time.sleep(0.12)
    process.stdin.write((EVENT % 0)[:-2] + b"]}")
    process.stdin.close()


def run(on_terminal, **environment):
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    if on_terminal:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    process = subprocess.Popen([os.environ["VRAMSCOPE"], "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=theirs, env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    feed(process)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # a terminal without writers
        pass
    process.wait()
    return seen


def look(seen):
    frames = [f for f in seen.split(b"\r") if f]
    drawn = [f for f in frames if f != b"\x1b[K"]
    text = [re.sub(rb"\x1b\[K$", b"", f) for f in drawn]
    print("frames:", "several" if len(drawn) >= 2 else len(drawn))
    print("each rewrites the line:", seen.startswith(b"\r") and all(f.endswith(b"\x1b[K") for f in drawn))
    print("no line feed:", b"\n" not in seen)
    print("fits:", max((len(t.decode()) for t in text), default=0) < 50)
    print("amounts grow:", text == sorted(text, key=lambda t: float(re.search(rb"([0-9.]+) [KM]iB$", t).group(1))))
    print("says:", re.sub(r"[0-9.]+ [KM]iB", "SIZE", text[0].decode()) if text else "nothing")
    print("wiped at the end:", seen.endswith(CLEAR))
    print("colours:", bool(re.search(rb"\x1b\[[0-9;]*m", seen)))


look(run(True))
print("NO_COLOR:", "drawn without colour" if CLEAR in run(True, NO_COLOR="1") else "silent")
print("a dumb terminal:", run(True, TERM="dumb"))
print("no terminal:", run(False))
