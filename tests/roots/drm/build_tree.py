#!/usr/bin/env python3
"""Makes the /proc and /sys of a machine from its description, NAME.tree beside this script.

    build_tree.py NAME FOLDER

A description has a line for each thing; `#` begins a comment:
    @ sys/class/drm              the folder that the lines below are in
    name = text                  a file of one line; \\n, \\t and \\0 stand for what they are
    name << lines up to a line >>
    name -> target               a symbolic link
    name :: 78 00 01 03          a file of bytes; `*8` repeats the byte before it
What has `=`, `<<`, `->` or `::` in it more than once is split at the first. The unit tests read the same (drm_tree.h).
"""
import pathlib
import sys


def unescaped(text):
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0")


def bytes_of(words):
    found = bytearray()
    for word in words.split():
        if word.startswith("*"):
            found += found[-1:] * (int(word[1:]) - 1)
        else:
            found.append(int(word, 16))
    return bytes(found)


def build(description, root):
    folder = root
    lines = iter(description.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@ "):
            folder = root / line[2:].strip()
            folder.mkdir(parents=True, exist_ok=True)
            continue
        name, mark, rest = line.split(" ", 2) if line.count(" ") > 1 else line.split(" ") + [""]
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if mark == "->":
            path.symlink_to(rest)
        elif mark == "::":
            path.write_bytes(bytes_of(rest))
        elif mark == "=":
            text = unescaped(rest)
            path.write_text(text if text.endswith("\0") else text + "\n", encoding="utf-8")
        elif mark == "<<":
            text = ""
            for more in lines:
                if more == ">>":
                    break
                text += unescaped(more) + "\n"
            path.write_text(text, encoding="utf-8")
        else:
            sys.exit(f"build_tree.py: no such line: {line}")


if __name__ == "__main__":
    build(pathlib.Path(__file__).resolve().parent / f"{sys.argv[1]}.tree", pathlib.Path(sys.argv[2]))
