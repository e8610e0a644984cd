#!/usr/bin/env python3
"""Checks the documents: every relative link in a Markdown file leads to a file, every rule has its page in both
languages, every verb with a schema is in the README. Prints what is missing; exit status 1 then.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def documents():
    return [path for path in sorted(ROOT.rglob("*.md")) if path.relative_to(ROOT).parts[0] not in ("build", ".git")]


def broken_links(path):
    for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        name = target.split("#")[0]
        if re.match(r"[a-z]+:", target) or not name:
            continue
        if not (path.parent / name).exists():
            yield f"{path.relative_to(ROOT)}: no such file: {name}"


def missing_pages():
    for rule in sorted((ROOT / "src" / "rules" / "rules").glob("*.cpp")):
        name = rule.stem.replace("_", "-")
        for page in (f"{name}.md", f"{name}.zh-CN.md"):
            if not (ROOT / "docs" / "rules" / page).exists():
                yield f"docs/rules/{page} is missing"


def missing_verbs():
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    for schema in sorted((ROOT / "docs" / "schemas").glob("*.schema.json")):
        verb = schema.name.split(".")[0]
        if verb != "alert" and not re.search(rf"vramscope {verb}\b", text):  # alert: of notices, not of a verb
            yield f"README.md does not show `vramscope {verb}`"


def main():
    problems = [problem for path in documents() for problem in broken_links(path)]
    problems += list(missing_pages()) + list(missing_verbs())
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
