#!/usr/bin/env python3
"""Adds up test results written by ctest --output-junit and prints "N passed, N failed[, N skipped]".

A program that runs many tests counts as many: GoogleTest's closing lines and the runners' own "N passed, N failed"
line are read from its output. A file that is missing (its build failed) counts as one failure.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

GTEST = re.compile(r"^\[  (PASSED|SKIPPED|FAILED) +\] (\d+) tests?", re.M)
OWN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def count_case(case):
    """(passed, failed, skipped) of one ctest test."""
    if case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
        # "notrun" without the skip mark is a program that could not be started.
        is_skip = case.find("skipped") is not None
        return (0, 0, 1) if is_skip else (0, 1, 0)
    is_failed = case.find("failure") is not None or case.get("status") == "fail"
    text = case.findtext("system-out") or ""
    own = OWN.findall(text)
    passed = failed = skipped = 0
    if own:
        passed, failed, skipped = (int(number or 0) for number in own[-1])
    else:
        found = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
        for kind, number in GTEST.findall(text):
            found[kind] = int(number)
        passed, failed, skipped = found["PASSED"], found["FAILED"], found["SKIPPED"]
    if is_failed:
        return passed, max(failed, 1), skipped
    return (passed, failed, skipped) if passed + failed + skipped else (1, 0, 0)


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        if not os.path.exists(path):
            total[1] += 1
            continue
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            total = [a + b for a, b in zip(total, count_case(case))]
    line = f"{total[0]} passed, {total[1]} failed"
    print(line + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
