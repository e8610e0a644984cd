#!/usr/bin/env python3
"""Checks po/zh_CN.po against the messages in src/: none missing, untranslated, fuzzy or obsolete, and every
translation has the same {named} places as its message.  --update merges new messages into the file.
Needs xgettext and msgmerge (Debian: gettext)."""
import argparse
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A number and the things that it counts. {needed}, {passes}, {intervals} and the steps of a finding are never one.
COUNTED = re.compile(r"\{(?:count|found|workers|events|devices)\} (?:[a-z]+ )?[a-z]+s\b|^Only \{steps\} ")
PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


def extract(source, pot):
    """Writes the messages of all sources under `source` to the file `pot`."""
    files = sorted(str(p) for p in source.rglob("*") if p.suffix in (".cpp", ".h"))
    command = ["xgettext", "--from-code=UTF-8", "-C", "-k", "-ktr", "-ktr_n:1,2", "-kN_", "-kNN_:1,2", "--sort-output", "--no-location",
               # "%" stands for itself in our messages, never for a printf directive.
               "--flag=tr:1:no-c-format", "--flag=tr_n:1:no-c-format", "--flag=tr_n:2:no-c-format",
               "--flag=N_:1:no-c-format", "--flag=NN_:1:no-c-format",
               "--flag=NN_:2:no-c-format", "--package-name=vramscope", "--force-po", "-o", pot, "--files-from=-"]
    subprocess.run(command, input="\n".join(files), text=True, check=True)
    text = pathlib.Path(pot).read_text(encoding="utf-8")
    text = text.replace("charset=CHARSET", "charset=UTF-8")
    pathlib.Path(pot).write_text(re.sub(r"^#, (no-)?c-format\n", "", text, flags=re.M), encoding="utf-8")


def parse(path):
    """The entries of a .po file: dicts with msgid, msgid_plural, msgstr (list), fuzzy, obsolete, line."""
    entries, entry, field = [], None, None
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        obsolete = line.startswith("#~")
        body = line[2:].strip() if obsolete else line.strip()
        if not body or body.startswith("#"):
            if entry is None or entry["msgstr"]:
                entry = None if not body.startswith("#,") else {"fuzzy": "fuzzy" in body, "msgstr": []}
            field = None
            continue
        match = re.match(r'(msgid_plural|msgid|msgstr)(?:\[\d+\])?\s*(".*")$', body)
        if match:
            key, literal = match.groups()
            if key == "msgid":
                if entry is None or "msgid" in entry:
                    entry = {"fuzzy": False, "msgstr": []}
                entry.update(msgid="", msgid_plural=None, obsolete=obsolete, line=number)
                entries.append(entry)
            if key == "msgstr":
                entry["msgstr"].append("")
            if key == "msgid_plural":
                entry["msgid_plural"] = ""
            field = key
        else:
            literal = body
        text = ast.literal_eval(literal)
        if field == "msgstr":
            entry["msgstr"][-1] += text
        else:
            entry[field] += text
    return entries


def places(message):
    """The replacement fields of a format string, without doubled braces."""
    return sorted(m.group(1) for m in PLACE.finditer(message) if m.group(1) is not None)


def lacks_plural(entry):
    """Whether a message counts things but has one form for all numbers."""
    return entry["msgid_plural"] is None and COUNTED.search(entry["msgid"]) is not None


def problems(wanted, have):
    """One line for each thing that is wrong with the entries of the catalogue."""
    found = []
    by_id = {e["msgid"]: e for e in have if not e["obsolete"] and e["msgid"]}
    ids = {e["msgid"]: e for e in wanted if e["msgid"]}
    for msgid, source in ids.items():
        if lacks_plural(source):
            found.append(f"counts things, but has no plural form: {msgid!r}")
        entry = by_id.get(msgid)
        if entry is None:
            found.append(f"missing: {msgid!r}")
        elif entry["msgid_plural"] != source["msgid_plural"]:
            found.append(f"line {entry['line']}: plural form differs from the source: {msgid!r}")
    for entry in have:
        if not entry["msgid"]:
            continue
        where = f"line {entry['line']}: "
        if entry["obsolete"] or entry["msgid"] not in ids:
            found.append(f"{where}obsolete: {entry['msgid']!r}")
            continue
        if entry["fuzzy"]:
            found.append(f"{where}fuzzy: {entry['msgid']!r}")
        if not entry["msgstr"] or not all(entry["msgstr"]):
            found.append(f"{where}not translated: {entry['msgid']!r}")
            continue
        expected = places(entry["msgid_plural"] or entry["msgid"])
        for text in entry["msgstr"]:
            if places(text) != expected:
                found.append(f"{where}places {places(text)} instead of {expected}: {entry['msgid']!r}")
    return found


def update(po, pot):
    subprocess.run(["msgmerge", "--quiet", "--update", "--backup=none", "--no-fuzzy-matching", "--no-location",
                    "--sort-output", "--no-wrap", str(po), pot], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".po", dir=po.parent, delete=False, encoding="utf-8") as out:
        subprocess.run(["msgattrib", "--no-obsolete", "--no-wrap", "--sort-output", str(po)], stdout=out, check=True)
    # The date of extraction would change on every run and make each merge a conflict.
    text = pathlib.Path(out.name).read_text(encoding="utf-8")
    pathlib.Path(out.name).write_text(re.sub(r'^"POT-Creation-Date:.*\n', "", text, flags=re.M), encoding="utf-8")
    os.chmod(out.name, 0o644)
    os.replace(out.name, po)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="merge the messages of the sources into the .po file")
    parser.add_argument("--source", type=pathlib.Path, default=ROOT / "src")
    parser.add_argument("--po", type=pathlib.Path, default=ROOT / "po" / "zh_CN.po")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pot = os.path.join(folder, "messages.pot")
        extract(options.source, pot)
        if options.update:
            update(options.po, pot)
        found = problems(parse(pot), parse(options.po))
    for line in found:
        print(f"{options.po.name}: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
