#!/usr/bin/env python3
"""`vramscope smi` beside the real nvidia-smi: every field of --help-query-gpu, -L, the lists of processes, dmon and pmon,
the table, -q with every section of -d, and the XML.

    compare_smi.py PROGRAM CAPTURES

nvidia-smi is asked before and after us; a field that moved in between may be either. CAPTURES gets what both said, for
fixtures. Exit 1 when a field differs that did not move.
"""
import difflib
import re
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, done.returncode


def documented_fields():
    text, _ = run("nvidia-smi", "--help-query-gpu")
    names = []
    for line in text.splitlines():
        found = re.match(r'^"([a-z0-9_.A-Z]+)"', line)
        if found:
            names.append(found.group(1))
    return names


def cells(program, fields):
    """Cells of every GPU by field, asked in one go; one by one where that fails."""
    query = ["--query-gpu=" + ",".join(fields), "--format=csv,noheader"]
    text, code = run(*program, *query)
    rows = [line.split(", ") for line in text.splitlines()]
    if code != 0 or any(len(row) != len(fields) for row in rows):
        return None
    return rows


def differs(name, before, ours, after):
    if ours in (before, after):
        return False
    number = re.compile(r"^(-?\d+(?:\.\d+)?)(.*)$")
    values = [number.match(text) for text in (before, ours, after)]
    if before != after and all(values) and len({value.group(2) for value in values}) == 1:
        return False  # it moves, and the form is the same
    # Two looks may agree and the one between them not.
    moving = ("utilization", "power.draw", "clocks.", "temperature", "fan.speed", "pstate", "memory.used", "memory.free",
              "timestamp", "clocks_event_reasons", "counters.", "pcie.link")
    return not (any(name.startswith(word) or word in name for word in moving) and
                (all(values) and len({value.group(2) for value in values}) == 1 or name.startswith("clocks_event")
                 or name in ("timestamp", "pstate")))


def compare_fields(program, captures):
    fields = documented_fields()
    print(f"{len(fields)} fields are documented by this nvidia-smi")
    wrong = 0
    for begin in range(0, len(fields), 20):
        part = fields[begin:begin + 20]
        before = cells(["nvidia-smi"], part)
        ours = cells([program, "smi"], part)
        after = cells(["nvidia-smi"], part)
        if before is None or after is None:
            print(f"nvidia-smi itself fails on {','.join(part)}")
            continue
        if ours is None:
            print(f"DIFFERS: we fail on {','.join(part)}")
            wrong += 1
            continue
        for gpu, row in enumerate(before):
            for name, first, mine, last in zip(part, row, ours[gpu], after[gpu]):
                captures.write(f"gpu {gpu} {name}: {first} | {mine} | {last}\n")
                if differs(name, first, mine, last):
                    print(f"DIFFERS: gpu {gpu} {name}: nvidia-smi {first!r}, we {mine!r}")
                    wrong += 1
    return wrong


def compare_text(program, captures, arguments, same):
    theirs, their_code = run("nvidia-smi", *arguments)
    mine, my_code = run(program, "smi", *arguments)
    captures.write(f"\n$ nvidia-smi {' '.join(arguments)} (exit {their_code})\n{theirs}\n$ vramscope smi (exit {my_code})\n{mine}\n")
    if their_code != my_code or not same(theirs, mine):
        print(f"DIFFERS: {' '.join(arguments)}: exit {their_code} and {my_code}")
        return 1
    print(f"same: {' '.join(arguments)}")
    return 0


def shape(text):
    """Digits do not count, widths do."""
    return [re.sub(r"\d", "0", line) for line in text.splitlines()]


SECTIONS = ("MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS PAGE_RETIREMENT "
            "ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS ROW_REMAPPER GSP_FIRMWARE_VERSION "
            "POWER_SMOOTHING POWER_PROFILES").split()


def line_shape(line):
    """A line of -q or of the XML with its numbers made equal, so that a value may move and its form may not."""
    return re.sub(r"\d+(\.\d+)?", "0", re.sub(r"(Not )?Active\b", "Active", line))


def compare_lines(program, captures, arguments):
    """Prints every line that the other side lacks, since each is a thing to learn."""
    theirs, their_code = run("nvidia-smi", *arguments)
    mine, my_code = run(program, "smi", *arguments)
    captures.write(f"\n$ nvidia-smi {' '.join(arguments)} (exit {their_code})\n{theirs}\n$ vramscope smi (exit {my_code})\n{mine}\n")
    want, got = ([line_shape(line) for line in text.splitlines()] for text in (theirs, mine))
    moving = ("Timestamp", "timestamp")
    wrong = 0
    for kind, a, b, c, d in difflib.SequenceMatcher(None, want, got, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for side, lines in (("nvidia-smi", theirs.splitlines()[a:b]), ("we", mine.splitlines()[c:d])):
            for line in lines:
                if not any(word in line for word in moving):
                    print(f"DIFFERS: {' '.join(arguments)}: {side}: {line!r}")
                    wrong += 1
    if their_code != my_code:
        print(f"DIFFERS: {' '.join(arguments)}: exit {their_code} and {my_code}")
        wrong += 1
    if not wrong:
        print(f"same: {' '.join(arguments) or 'the table'}")
    return wrong


def main():
    program = sys.argv[1]
    with open(sys.argv[2], "w", encoding="utf-8") as captures:
        wrong = compare_fields(program, captures)
        exact = lambda a, b: a == b
        header = lambda a, b: shape(a)[:2] == shape(b)[:2] and len(shape(a)) == len(shape(b))
        for arguments, same in (
            (["-L"], exact),
            (["--query-gpu=name,memory.total", "--format=csv"], exact),
            (["--query-gpu=name,memory.total", "--format=csv,noheader,nounits", "-i", "0"], exact),
            (["--query-compute-apps=pid,name,used_memory,gpu_uuid", "--format=csv"], exact),
            (["--query-gpu=no_such_field", "--format=csv"], exact),
            (["-i", "99", "--query-gpu=name", "--format=csv"], exact),
            (["dmon", "-c", "2"], header),
            (["dmon", "-s", "pucvmet", "-c", "1"], header),
            (["pmon", "-c", "1"], header),
            (["pmon", "-s", "um", "-c", "1"], header),
        ):
            wrong += compare_text(program, captures, arguments, same)
        for arguments in ([], ["-q"], ["-q", "-x"], ["-q", "-d", "NO_SUCH_SECTION"], ["-q", "-x", "-d", "MEMORY"],
                          *(["-q", "-d", section] for section in SECTIONS)):
            wrong += compare_lines(program, captures, arguments)
        captures.write("\n$ nvidia-smi --dtd\n" + run("nvidia-smi", "--dtd")[0])
    print(f"{wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
