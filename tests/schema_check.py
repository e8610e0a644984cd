#!/usr/bin/env python3
"""Validates JSON output against docs/schemas/<verb>.schema.json: what the golden tests expect, and every verb on
every recording in examples/. Exit status 77 (skipped) without python3-jsonschema.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERBS = sorted(path.name.split(".")[0] for path in (ROOT / "docs" / "schemas").glob("*.schema.json"))
LINE_VERBS = ("watch",)  # an object a line
FILE_VERBS = ("diagnose", "info", "memory", "ops")
SNAPSHOT = re.compile(r"\s(?:--snapshot|-s)\b")
VERB_IN_LINE = re.compile(r"\$\{?VRAMSCOPE\}?\S*\s+(?:--lang\s+\S+\s+)?(\w+)")


def load_schema(verb):
    schema = json.loads((ROOT / "docs" / "schemas" / f"{verb}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def refuse_constant(word):
    raise ValueError(f"{word} is not JSON")


def check(validator, text):
    """The first thing wrong with `text`, or None."""
    try:
        document = json.loads(text, parse_constant=refuse_constant)
    except ValueError as error:
        return str(error)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return f"{error.json_path}: {error.message[:300]}" if error else None


def golden_outputs():
    """(what, verb, JSON) of every golden case that prints JSON."""
    for cmd in sorted((ROOT / "tests" / "golden").glob("*/*/cmd")):
        line = cmd.read_text(encoding="utf-8")
        stdout = cmd.parent / "expected.stdout"
        verb = VERB_IN_LINE.search(line)
        if ("--json" in line or "--format json" in line) and stdout.exists() and verb and verb.group(1) in VERBS:
            text = stdout.read_text(encoding="utf-8")
            for part in text.splitlines() if verb.group(1) in LINE_VERBS else [text]:
                yield str(cmd.parent.relative_to(ROOT)), verb.group(1), part
        elif verb and verb.group(1) == "top" and SNAPSHOT.search(line):
            yield str(cmd.parent.relative_to(ROOT)), "top", stdout.read_text(encoding="utf-8")


def example_outputs(program):
    for recording in sorted((ROOT / "examples").glob("*.json.gz")):
        for verb in FILE_VERBS:
            done = subprocess.run([program, verb, "--json", str(recording)], capture_output=True, check=False, timeout=120)
            yield f"{verb} {recording.relative_to(ROOT)}", verb, done.stdout.decode("utf-8")


def main():
    program = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
    schemas = {verb: load_schema(verb) for verb in VERBS}
    passed = failed = 0
    for outputs in (golden_outputs(), example_outputs(program)):
        for what, verb, text in outputs:
            wrong = check(schemas[verb], text)
            if wrong:
                print(f"FAIL {what}: {wrong}")
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
