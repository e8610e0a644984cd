"""Runs every text report at several widths, in both languages, and prints each line that is too wide."""
import os
import subprocess
import sys
import unicodedata

EXAMPLES = "../../../../examples/"
REPORTS = [["info"], ["diagnose"], ["ops", "--limit", "5"], ["ops", "--lifetimes", "--limit", "5"], ["ops", "--rows", "all"]]
REPORTS += [["ops", "--limit", "5", "--group-by", by]
            for by in ("shape", "stack", "step", "annotation", "shape,stack,step,annotation")]
REPORTS += [["ops", "--limit", "5", "--sort", key] for key in ("name", "count", "self_cpu_memory_usage", "device_time")]
REPORTS += [["memory", "--by", by, "--at", at]
            for by in ("stack", "op", "step") for at in ("peak", "end", "step:6", "1ms")]
REPORTS += [["memory"]]
FEW = [["info"], ["diagnose"], ["memory"], ["ops", "--limit", "3", "--group-by", "shape,stack"]]
FILES = {"leak": REPORTS, "healthy": FEW, "slow_loader": FEW, "grads_never_cleared": FEW}


def width_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def problems():
    for file, reports in FILES.items():
        for report in reports:
            for language in ("en", "zh"):
                for width in (40, 80, 200):
                    for command, environment in ((["--width", str(width)], {}), ([], {"COLUMNS": str(width)})):
                        if environment and (width != 40 or reports is FEW):
                            continue
                        call = [os.environ["VRAMSCOPE"], *report, EXAMPLES + file + ".json.gz", "--lang", language, *command]
                        yield call, width, subprocess.Popen(call, stdout=subprocess.PIPE, env={**os.environ, **environment})


def main():
    checked = lines = 0
    for call, width, process in problems():
        text = process.communicate()[0].decode()
        checked += 1
        if process.returncode or not text:
            print(process.returncode, *call[1:])
        for line in text.splitlines():
            lines += 1
            if width_of(line) > width:
                print(width, width_of(line), *call[1:], repr(line))
    print("reports:", checked, "all with lines" if lines > 20 * checked else "too few lines")


sys.exit(main())
