#!/usr/bin/env python3
"""The snapshot reader against pickles that Python really writes, and against pickles made to do harm.

One: the same snapshot written at every protocol, with and without a memo, optimised, compressed, and as PyTorch's own
C++ pickler writes it, gives the same report. Two: each hostile file ends with one sentence, in little time and memory.
VRAMSCOPE names the binary. The golden snapshots are read; real ones, too, where ../shared/real is.
"""
import gzip
import io
import os
import pathlib
import pickle
import pickletools
import resource
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL = pathlib.Path(os.environ.get("VRAMSCOPE_REAL", ROOT.parent / "shared" / "real")) / "cuda_snapshot"
BINARY = os.environ["VRAMSCOPE"]
MOST_BYTES = 1 << 20  # real snapshots above this are left to the release build's own check
MOST_MEMORY = 384 << 20  # of addresses


# A sanitizer takes terabytes of addresses.
IS_SANITIZED = "asan" in BINARY


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def run(path):
    """(exit code, stdout, stderr, seconds) of `vramscope memory`; beyond MOST_MEMORY it ends with exit 3."""
    begin = time.monotonic()
    with subprocess.Popen([BINARY, "memory", str(path), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, preexec_fn=None if IS_SANITIZED else limit_memory) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err, time.monotonic() - begin


class CppPickler:
    """Opcodes as torch/csrc/jit/serialization/pickler.cpp chooses them: protocol 2, containers memoised before they are
    filled, strings once and then by BINGET, integers in BININT1/BININT2/BININT or an eight byte LONG1."""

    def __init__(self):
        self.out, self.memo, self.strings = io.BytesIO(), 0, {}

    def put(self):
        number, self.memo = self.memo, self.memo + 1
        self.out.write(b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number))
        return number

    def value(self, value):
        write = self.out.write
        if value is None:
            write(b"N")
        elif isinstance(value, bool):
            write(b"\x88" if value else b"\x89")
        elif isinstance(value, int):
            if 0 <= value < 1 << 8:
                write(b"K" + bytes([value]))
            elif 0 <= value < 1 << 16:
                write(b"M" + struct.pack("<H", value))
            elif -(1 << 31) <= value < 1 << 31:
                write(b"J" + struct.pack("<i", value))
            else:
                write(b"\x8a\x08" + struct.pack("<q" if value < 1 << 63 else "<Q", value))
        elif isinstance(value, float):
            write(b"G" + struct.pack(">d", value))
        elif isinstance(value, str):
            if value in self.strings:
                number = self.strings[value]
                write(b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number))
            else:
                text = value.encode()
                write(b"X" + struct.pack("<I", len(text)) + text)
                self.strings[value] = self.put()
        elif isinstance(value, (list, tuple)):
            write(b"]" if isinstance(value, list) else b"(")
            if isinstance(value, list):
                self.put()
                write(b"(")
            for item in value:
                self.value(item)
            write(b"e" if isinstance(value, list) else b"t")
            if isinstance(value, tuple):
                self.put()
        elif isinstance(value, dict):
            write(b"}")
            self.put()
            write(b"(")
            for key, item in value.items():
                self.value(key)
                self.value(item)
            write(b"u")
        else:
            raise TypeError(type(value))

    @classmethod
    def dumps(cls, value):
        pickler = cls()
        pickler.out.write(b"\x80\x02")
        pickler.value(value)
        pickler.out.write(b".")
        return pickler.out.getvalue()


def without_memo(value, protocol):
    out = io.BytesIO()
    pickler = pickle._Pickler(out, protocol)  # the pickler in Python: one opcode an item, "fast" without a memo
    pickler.fast = True
    pickler.dump(value)
    return out.getvalue()


def spellings(value):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        text = pickle.dumps(value, protocol)
        yield f"protocol {protocol}", text
        yield f"protocol {protocol}, optimised", pickletools.optimize(text)
        yield f"protocol {protocol}, no memo", without_memo(value, protocol)
    yield "gzip", gzip.compress(pickle.dumps(value, 4))
    yield "C++ pickler", CppPickler.dumps(value)


def check_spellings(folder, paths):
    checked, wrong = 0, []
    target = folder / "snapshot.pickle"
    for path in paths:
        with open(path, "rb") as file:
            value = pickle.load(file)  # the project's own files and known ones
        target.write_bytes(path.read_bytes())  # the report tells the path
        code, wanted, _, _ = run(target)
        if code != 0:
            wrong.append(f"{path.name}: exit {code}")
            continue
        for name, text in spellings(value):
            target.write_bytes(text)
            checked += 1
            code, out, err, _ = run(target)
            if (code, out) != (0, wanted):
                wrong.append(f"{path.parent.name}/{path.name} as {name}: exit {code}, {err.strip() or 'another report'}")
    return checked, wrong


class Runs:
    """Pickles as a call of what it was made with."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def snapshot_with(value):
    return {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 1, "stream": 0, "frames": value}]]}


def hostile(folder):
    """(name, bytes, is a refusal wanted, what the sentence must hold)"""
    mark = folder / "was-run"
    touch = Runs(os.system, f"touch {mark}")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"code in __reduce__, protocol {protocol}", pickle.dumps(touch, protocol), True, "system"
        yield f"code inside a stack, protocol {protocol}", pickle.dumps(snapshot_with([touch]), protocol), None, "system"
        yield f"eval, protocol {protocol}", pickle.dumps(Runs(eval, f"open({str(mark)!r}, 'w')"), protocol), True, "eval"

    class Persistent(pickle.Pickler):
        def persistent_id(self, obj):
            return "storage" if obj == "storage" else None
    for protocol in (0, 2, 4):
        out = io.BytesIO()
        Persistent(out, protocol).dump(snapshot_with(["storage"]))
        yield f"persistent id, protocol {protocol}", out.getvalue(), None, "persistent"
    yield "extension code", b"\x80\x02\x82\x01.", True, "extension code"
    yield "extension code of four bytes", b"\x80\x02\x84\xff\xff\xff\x7f.", True, "extension code"
    for opcode in (b"\x8d", b"\x8e", b"\x96"):
        for length in (1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
            yield f"length {length} of {opcode!r}", b"\x80\x05}" + opcode + struct.pack("<Q", length) + b"abc", True, "byte"
    yield "long of 2 GiB", b"\x80\x02\x8b\xff\xff\xff\x7f" + b"\x00" * 100, True, "byte"
    yield "two million marks", b"\x80\x02" + b"(" * 2_000_000 + b".", True, "byte"
    yield "twenty million values", b"\x80\x02" + b"N" * 20_000_000 + b".", True, "byte"
    yield "nested a million deep", b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".", True, ""
    yield "nested a million deep in a snapshot", \
        b"\x80\x02}(X\x08\x00\x00\x00segments" + b"]" * 1_000_000 + b"a" * 999_999 + b"u.", None, ""
    # 2^60 items for whoever walks it; 120 bytes for who does not.
    doubling = b"\x80\x02]q\x00(N" + b"e" + b"".join(
        b"]" + b"q" + bytes([n]) + b"(h" + bytes([n - 1]) + b"h" + bytes([n - 1]) + b"e" for n in range(1, 61))
    yield "memo bomb", doubling + b".", True, ""
    frames = b"\x80\x02}(X\x0d\x00\x00\x00device_traces](](}(X\x06\x00\x00\x00actionX\x05\x00\x00\x00allocX\x04\x00\x00\x00sizeK\x01X\x06\x00\x00\x00frames"
    yield "memo bomb as a stack", frames + doubling[2:] + b"ueeX\x08\x00\x00\x00segments]u.", None, ""
    yield "memo index of 4 billion", b"\x80\x02]r\xff\xff\xff\xff.", None, ""
    cycle = []
    cycle.append(cycle)
    yield "a list that holds itself", pickle.dumps(cycle), True, ""
    around = {"segments": [], "device_traces": []}
    around["device_traces"].append(around)
    around["segments"].append(around)
    yield "a snapshot that holds itself", pickle.dumps(around), None, ""
    shared = {"name": "f", "filename": "a.py", "line": 1}
    shared["frames"] = [shared]
    yield "a frame that holds itself", pickle.dumps(snapshot_with([shared])), None, ""
    # One long name that 20,000 frames share: 10 MB in the file, 200 GB if each had its own.
    long_name = "/home/" + "x" * 10_000_000
    yield "one long file name in 20,000 frames", pickle.dumps(snapshot_with(
        [{"filename": long_name, "line": line, "name": "f"} for line in range(20_000)])), None, ""
    yield "one long function name in 20,000 frames", pickle.dumps(snapshot_with(
        [{"filename": f"{line}.py", "line": line, "name": long_name} for line in range(20_000)])), None, ""
    yield "one long file name in 20,000 equal stacks", pickle.dumps({"segments": [], "device_traces": [[
        {"action": "alloc", "addr": n, "size": 1, "stream": 0, "frames": [{"filename": long_name, "line": 1, "name": "f"}]}
        for n in range(20_000)]]}), None, ""
    yield "one long text as 2,000 settings", pickle.dumps({"segments": [], "device_traces": [], "allocator_settings": {
        f"key{n}": long_name for n in range(2000)}}), None, ""
    yield "one long action in 20,000 entries", pickle.dumps({"segments": [], "device_traces": [[
        {"action": long_name, "addr": n, "size": 1, "stream": 0, "frames": []} for n in range(20_000)]]}), None, ""
    yield "30,000 failures", pickle.dumps({"segments": [], "device_traces": [[
        {"action": action, **({"addr": n} if action == "alloc" else {"device_free": 1}), "size": 512, "stream": 0,
         "frames": []} for n in range(0, 30_000 * 512, 512) for action in ("alloc", "oom")]]}), None, ""
    yield "a protocol to come", b"\x80\x09}.", True, "opcode proto"
    huge = 10 ** 4000
    yield "an integer of four thousand digits", pickle.dumps({"segments": [{"address": huge, "total_size": -huge, "blocks": []}],
                                                              "device_traces": []}, 0), None, ""
    yield "every value negative", pickle.dumps({"segments": [{
        "address": -1, "total_size": -5, "allocated_size": -6, "device": -1, "stream": -1,
        "blocks": [{"size": -1, "requested_size": -2, "address": -3, "state": "active_allocated"}]}],
        "device_traces": [[{"action": "alloc", "addr": -1, "size": -9, "stream": -1, "frames": []}]]}), None, ""


def check_hostile(folder):
    checked, wrong = 0, []
    target = folder / "hostile.pickle"
    for name, text, wants_refusal, word in hostile(folder):
        target.write_bytes(text)
        checked += 1
        code, out, err, seconds = run(target)
        said = (out + err).lower()
        if wants_refusal and code != 4:
            wrong.append(f"{name}: exit {code}, 4 expected")
        if code not in (0, 4):
            wrong.append(f"{name}: exit {code}: {err.strip()[:200]}")
        if code == 4 and len(err.strip().splitlines()) != 1:
            wrong.append(f"{name}: the refusal is not one sentence: {err.strip()[:300]}")
        if word and code == 4 and word not in said:
            wrong.append(f"{name}: nothing says {word!r}: {err.strip()[:300]}")
        if (folder / "was-run").exists():
            wrong.append(f"{name}: code of the file was run")
            (folder / "was-run").unlink()
        if seconds > (60 if IS_SANITIZED else 5):
            wrong.append(f"{name}: {seconds:.1f} s")
    return checked, wrong


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        golden = sorted(path for path in (ROOT / "tests" / "golden").glob("*/*/input*.pickle") if "import" not in path.parts)
        real = [path for path in sorted(REAL.glob("*.p*k*l*")) if path.stat().st_size <= MOST_BYTES
                and "NOT_A_SNAPSHOT" not in path.name] if REAL.is_dir() else []
        hostile_checked, wrong = check_hostile(folder)
        checked, more = check_spellings(folder, golden[:6] + real)
    wrong += more
    for line in wrong:
        print("FAIL", line)
    print(f"{len(golden[:6]) + len(real)} snapshots in {checked} spellings, {hostile_checked} hostile pickles")
    print(f"{checked + hostile_checked - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
