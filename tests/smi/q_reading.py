"""An independent reading of `nvidia-smi -q`, of its XML and of its table: values by their place. Used to compare captures
of any driver with what this program prints, and to make scripts for the stand-in from captures.
"""
import re
import xml.etree.ElementTree as ElementTree


def read_text(text):
    """The lines of -q as a list of (path, value) for the machine and one for each GPU. A path has the names of the
    sections and how often the last one came before: [("Clocks", "SM"), ...]."""
    machine, gpus = [], []
    stack = []  # (indent, name)
    here = machine
    for line in text.split("\n"):
        if not line.strip() or line.startswith("==="):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent == 0 and re.match(r"GPU [0-9A-Fa-f]{4,8}:", line):
            gpus.append([])
            here, stack = gpus[-1], []
            here.append((("id",), line[4:]))
            continue
        found = re.match(r"( *)(.*?) *: ?(.*)$", line) if " :" in line else None
        name = (found.group(2) if found else line).strip()
        while stack and stack[-1][0] >= indent:
            stack.pop()
        path = tuple(n for _, n in stack) + (name,)
        if found:
            here.append((path, found.group(3)))
        stack.append((indent, name))
    return machine, gpus


def read_xml(text):
    """The same of the XML: paths of elements; of what comes several times, in its order."""
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text))

    def leaves(element, path):
        if len(element) == 0:
            yield path, (element.text or "").strip()
        for child in element:
            yield from leaves(child, (*path, child.tag))

    machine = [((child.tag,), (child.text or "").strip()) for child in root if child.tag != "gpu"]
    gpus = [[(("id",), gpu.get("id")), *leaves(gpu, ())] for gpu in root.iter("gpu")]
    return machine, gpus


def first(values, *path):
    """The first value at a path, by its last names; None."""
    return next((value for at, value in values if at[-len(path):] == path), None)


def groups(values, *first_path):
    """Values in groups, of which each begins with this path: processes, MIG devices."""
    out = []
    for path, value in values:
        if path == first_path:
            out.append({})
        if out and path[:len(first_path) - 1] == first_path[:-1]:
            out[-1].setdefault(path[-1], value)
    return out


# Of drivers before 450 without its third line, before 545 without spaces in front of some bars.
GPU_ROW = re.compile(
    r"^\|\s*(?P<index>\d+)  (?P<name>\S.*?)\s{2,}(?P<persistence>\S+)\s*\|\s+(?P<bus>\S+)\s+(?P<display>\S+) \|\s+"
    r"(?P<ecc>\S+) \|\n"
    r"\|\s*(?P<fan>\S+)\s+(?P<temperature>\S+)\s+(?P<state>\S+)\s+(?P<power>\S+) +/ +(?P<cap>\S+?)\s*\|\s*"
    r"(?P<used>\d+)MiB /\s+(?P<total>\d+)MiB \|\s+(?P<util>\S+)\s+(?P<compute>\S.*?) \|\n"
    r"(?:\|\s+\|\s+\|\s+(?P<mig>\S+) \|)?", re.M)
MIG_ROW = re.compile(
    r"^\|\s*(?P<gpu>\d+)\s+(?P<gi>\d+)\s+(?P<ci>\d+)\s+(?P<index>\d+)\s+\|\s+(?P<used>\d+)MiB /\s*(?P<total>\d+)MiB"
    r"\s+\|\s*(?P<sm>\d+)\s+(?P<ecc>\S+) \|\s*(?P<ce>\d+)\s+(?P<enc>\d+)\s+(?P<dec>\d+)\s+(?P<ofa>\d+)\s+(?P<jpg>\d+)"
    r" \|\n\|\s+\|\s+(?P<bar1_used>\d+)MiB /\s*(?P<bar1_total>\d+)MiB", re.M)
PROCESS_ROW = re.compile(r"^\|\s+(?P<gpu>\d+)\s+(?P<gi>\S+)\s+(?P<ci>\S+)\s+(?P<pid>\d+)\s+(?P<type>C|G|C\+G|M\+C)"
                         r"   (?P<name>.*?)\s+(?P<memory>\d+MiB|N/A)\s+\|$", re.M)


def read_table(text):
    """Dictionaries of the GPUs, the MIG devices and the processes of a table with three lines a GPU."""
    versions = re.search(r"NVIDIA-SMI (\S+)\s+(?:Driver|KMD) Version: (\S+)\s+CUDA (?:UMD )?Version: (\S+)", text)
    gpus, migs, processes = ([m.groupdict() for m in row.finditer(text)] for row in (GPU_ROW, MIG_ROW, PROCESS_ROW))
    return {"driver": versions.group(2), "cuda": versions.group(3), "gpus": gpus, "migs": migs, "processes": processes}
