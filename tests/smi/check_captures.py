#!/usr/bin/env python3
"""Byte comparison of `vramscope smi` with what nvidia-smi printed on real machines.

Each capture in ../shared/real (or $VRAMSCOPE_REAL) is turned into a script for the stand-in of NVML; the program, which
$VRAMSCOPE names, must then print the capture again. The moment of a sample is checked for its form alone. Prints for
each file how many cells are equal; a cell that cannot be is listed in EXCEPTIONS with the reason. Exit status 1 when
anything else differs, 77 without captures.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from stand_in_script import gpu_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL = pathlib.Path(os.environ.get("VRAMSCOPE_REAL") or ROOT.parent / "shared" / "real")
PROGRAM = os.environ.get("VRAMSCOPE") or str(ROOT / "build" / "vramscope")
LIBRARY = os.environ.get("VRAMSCOPE_NVML") or str(
    pathlib.Path(PROGRAM).resolve().parent / "stand_ins" / "nvml" / "new" / "libnvidia-ml.so.1")
MOMENT = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}$")
SPEEDS = {"1": "2.5", "2": "5.0", "3": "8.0", "4": "16.0", "5": "32.0", "6": "64.0"}

NOT_NVIDIA_SMI = {"8gpu_custom_iso8601.csv": "a script's own header and times",
                  "jetson_orin_handmade.csv": "a script's own times and fractions of degrees"}
# Text of a field of a file that cannot be printed again, with the reason.
EXCEPTIONS = {
    ("exporter__query_466.63.csv", "DoesntMatter"): "edited by hand: no driver model has this name",
    ("exporter__query_466.63.csv", "123.45"): "edited by hand: two GPUs with different drivers",
}
WINDOWS_NAMES = "nvidia-smi cuts names after 16 letters on Windows, after 15 on Linux, where this program runs"


class Machine:
    """A stand-in of the machine of a capture."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.sys = self.folder / "sys"

    def run(self, arguments, script, ports=None):
        (self.folder / "script").write_text("\n".join(script) + "\n", encoding="utf-8")
        for bus_id, generation in (ports or {}).items():
            self.add_root_port(bus_id, generation)
        environment = {**os.environ, "VRAMSCOPE_NVML": LIBRARY, "VRAMSCOPE_STAND_IN": str(self.folder / "script"),
                       "VRAMSCOPE_SYS": str(self.sys), "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run([PROGRAM, "smi", *arguments], capture_output=True, env=environment, timeout=120,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.decode("utf-8")

    def add_root_port(self, bus_id, generation):
        """The kernel's tree, in which a GPU hangs on a root port of this generation."""
        name = bus_id[4:].lower()
        port = self.sys / "devices" / "pci0000:00" / "0000:00:01.1"
        (port / name).mkdir(parents=True, exist_ok=True)
        (port / "max_link_speed").write_text(f"{SPEEDS[generation]} GT/s PCIe\n", encoding="ascii")
        link = self.sys / "bus" / "pci" / "devices" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(port / name)

    def forget_root_ports(self):
        for link in self.sys.glob("bus/pci/devices/*"):
            link.unlink()


class Tally:
    def __init__(self):
        self.cells = self.equal = 0
        self.problems, self.excused = [], []

    def compare(self, name, column, want, got):
        self.cells += 1
        if column == "timestamp" and MOMENT.match(want) and MOMENT.match(got):
            self.equal += 1
        elif want == got:
            self.equal += 1
        elif (name, want) in EXCEPTIONS:
            self.excused.append(f"{column}: {want!r}: {EXCEPTIONS[name, want]}")
        else:
            self.problems.append(f"{column}: printed {got!r}, nvidia-smi {want!r}")

    def line(self, want, got, what):
        """A line that must be equal as a whole, as one cell."""
        self.compare("", what, want, got)


def without_unit(cell):
    return re.sub(r" \[[^\]]*\]$", "", cell)


def ports_of(values):
    generation = values.get("pcie.link.gen.hostmax", "[N/A]")
    return {values["pci.bus_id"]: generation} if generation in SPEEDS else {}


def compare_rows(tally, name, want, got):
    header = want[0].split(", ")
    tally.compare(name, "header", want[0], got[0] if got else "")
    if len(want) != len(got):
        tally.problems.append(f"{len(got)} lines, nvidia-smi {len(want)}")
    for want_line, got_line in zip(want[1:], got[1:]):
        want_cells, got_cells = want_line.split(", "), got_line.split(", ")
        if len(want_cells) != len(got_cells):
            tally.problems.append(f"{len(got_cells)} cells: {got_line}")
            continue
        for column, want_cell, got_cell in zip(header, want_cells, got_cells):
            tally.compare(name, without_unit(column), want_cell, got_cell)


def check_query_gpu(machine, path, tally):
    """Rows of one moment belong together: the index rises."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines.pop() != "":
        tally.problems.append("the capture does not end with a newline")
    header = lines[0]
    fields = [without_unit(cell) for cell in header.split(", ")]
    rows = [line for line in lines[1:] if line != header]
    groups = [rows] if path.name.startswith("exporter") else [[row] for row in rows]
    for group in groups:
        script, ports = [], {}
        machine.forget_root_ports()
        for row in group:
            values = dict(zip(fields, row.split(", ")))
            if not script and "driver_version" in values:
                script.append(f"driver {values['driver_version']}")
            script += gpu_lines(values)
            ports.update(ports_of(values))
        out = machine.run([f"--query-gpu={','.join(fields)}", "--format=csv"], script, ports)
        compare_rows(tally, path.name, [header, *group], out.split("\n")[:-1])


def compute_script(rows):
    """The processes of a table of compute processes, on the GPU that it names."""
    first = rows[0] if rows else {}
    named = {"name": first.get("gpu_name", "N/A"), "uuid": first.get("gpu_uuid", "N/A"),
             "serial": first.get("gpu_serial", "N/A"), "pci.bus_id": first.get("gpu_bus_id", "N/A")}
    script = gpu_lines(named)
    for row in rows:
        used = row["used_gpu_memory"]
        script.append(f"process C {row['pid']} {'-' if used == '[N/A]' else used.split()[0] + 'M'}")
        script.append(f"name {row['pid']} {row['process_name']}")
    return script


def check_compute_apps(machine, path, tally):
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    header = lines[0]
    fields = [without_unit(cell) for cell in header.split(", ")]
    samples, pids = [[]], set()  # a pid that comes again begins another sample
    for line in lines[1:]:
        if line == header:
            continue
        row = dict(zip(fields, line.split(", ")))
        if row["pid"] in pids:
            samples.append([])
            pids.clear()
        pids.add(row["pid"])
        samples[-1].append((line, row))
    for sample in samples:
        script = compute_script([row for _, row in sample])
        out = machine.run([f"--query-compute-apps={','.join(fields)}", "--format=csv"], script)
        compare_rows(tally, path.name, [header, *(line for line, _ in sample)], out.split("\n")[:-1])


DMON = {"pwr": "power.draw", "gtemp": "temperature.gpu", "mtemp": "temperature.memory", "sm": "utilization.gpu",
        "mem": "utilization.memory", "enc": "utilization.encoder", "dec": "utilization.decoder",
        "jpg": "utilization.jpeg", "ofa": "utilization.ofa", "mclk": "clocks.current.memory",
        "pclk": "clocks.current.sm"}


def check_dmon(machine, path, tally):
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    columns = lines[0].split()[2:]
    groups = "puc" if columns[0] == "pwr" else "u"
    known = {}
    for line in lines[2:]:
        if line.startswith("#"):
            continue
        if line not in known:
            cells = line.split()
            values = {DMON[c]: "N/A" if v == "-" else v for c, v in zip(columns, cells[1:])}
            known[line] = machine.run(["dmon", "-c", "1", "-s", groups], gpu_lines(values))
            for want, got in zip(lines[:2], known[line].split("\n")):
                tally.line(want, got, "header")
        tally.line(line, known[line].split("\n")[2], "row")


def pmon_script(rows):
    script = ["gpu", "text name GPU"]
    for cells, name in rows:
        pid, kind, shares = cells[1], cells[2], ["0" if c == "-" else c for c in cells[3:9]]
        if pid == "-":
            continue
        script += [f"process {letter} {pid} -" for letter in kind.split("+")]
        script.append(f"name {pid} {name}")
        if any(c != "-" for c in cells[3:9]):
            script.append(f"share {pid} {' '.join(shares)}")
    return script


def check_pmon(machine, path, tally):
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    header = lines[:2]
    samples, last = [], None
    for line in lines:
        if line.startswith("#"):
            continue
        pid = line.split()[1]
        if pid == "-" or last is None or int(pid) <= last:
            samples.append([])
        last = None if pid == "-" else int(pid)
        samples[-1].append(line)
    whole, scripts = [], []
    for sample in samples:
        rows = [(line.split(), line[68:].rstrip()) for line in sample]
        scripts.append(pmon_script(rows))
        out = machine.run(["pmon", "-c", "1"], scripts[-1]).split("\n")[:-1]
        for want, got in zip(header, out):
            tally.line(want, got, "header")
        for want, got in zip(sample, out[2:], strict=True):
            if len(want) > 83 and want[:83] == got:
                tally.cells += 1
                tally.excused.append(f"command: {want[68:]!r}: {WINDOWS_NAMES}")
            else:
                tally.line(want, got, "row")
        whole += sample
    # The header comes again in the middle of a sample.
    if len(lines) > len(whole) + 2 and all(s == scripts[0] for s in scripts):
        out = machine.run(["pmon", "-c", str(len(samples))], scripts[0]).split("\n")
        tally.line(str([i for i, l in enumerate(lines) if l.startswith("#")]),
                   str([i for i, l in enumerate(out) if l.startswith("#")]), "places of the header")


def section(text, title):
    """What follows a command in a bundle."""
    found = re.search(r"^# \$ nvidia-smi " + re.escape(title) + r"\s*\n#+\n(.*?)\n\n\n#{20}", text, re.S | re.M)
    return found.group(1) + "\n" if found else None


def check_bundle(machine, path, tally):
    """-L, --version, the names in the help, and the header of accounted processes."""
    text = path.read_text(encoding="utf-8")
    driver = re.search(r"DRIVER version +: (\S+)", text).group(1)
    major, minor = re.search(r"CUDA Version +: (\d+)\.(\d+)", text).groups()
    script = [f"driver {driver}", f"cuda {major}0{minor}0", "gpu"]
    listed = section(text, "-L")
    name, uuid = re.search(r"GPU 0: (.*) \(UUID: (.*)\)", listed).groups()
    script += [f"text name {name}", f"text uuid {uuid}"]
    for profile, mig in re.findall(r"MIG (\S+) +Device +\d+: \(UUID: (.*)\)", listed):
        if "set mig.current 1" not in script:
            script += ["set mig.current 1", "set mig.pending 1"]
        script += ["mig", f"text name {name} MIG {profile}", f"text uuid {mig}"]
    for want, got in zip(listed.split("\n"), machine.run(["-L"], script).split("\n"), strict=True):
        tally.line(want, got, "-L")
    for want, got in zip(section(text, "--version").split("\n"), machine.run(["--version"], script).split("\n"),
                         strict=True):
        tally.line(want, got, "--version")
    check_help(machine, text, script, tally)
    query = re.search(r"^# \$ nvidia-smi (--query-accounted-apps=\S+ --format=csv)$", text, re.M).group(1)
    tally.line(section(text, query), machine.run(query.split(), script), "accounted")


def check_help(machine, text, script, tally):
    """The same names in the same order; ours may have those of other drivers between them."""
    for query in ("gpu", "compute-apps", "accounted-apps"):
        switch = f"--help-query-{query}"
        want, got = (names_of(t) for t in (section(text, switch), machine.run([switch], script)))
        tally.line("", " ".join(name for name in want if name not in got), f"{switch}: names that are missing")
        tally.line(" ".join(want), " ".join(name for name in got if name in want), f"{switch}: order")


def names_of(text):
    """"a or b" for each property; nvidia-smi calls one "clocks.max.sm" or "clocks.max.sm"."""
    lines = re.findall(r'^"[^"]+"(?: or "[^"]+")*$', text, re.M)
    return ["|".join(dict.fromkeys(re.findall(r'"([^"]+)"', line))) for line in lines]


def checks():
    csv, tables = REAL / "nvidia_smi_csv", REAL / "nvidia_smi_dmon_pmon"
    for path in sorted(csv.iterdir()):
        if path.name in NOT_NVIDIA_SMI:
            print(f"{path.name}: not compared: {NOT_NVIDIA_SMI[path.name]}")
        else:
            yield path, check_compute_apps if "compute" in path.name else check_query_gpu
    for path in sorted(tables.iterdir()):
        yield path, check_pmon if "pmon" in path.name else check_dmon
    for path in sorted((REAL / "nvidia_smi_capture_bundle").iterdir()):
        yield path, check_bundle


def compare(checks):
    """Runs each (file, check) and tells what differs; the exit code."""
    failed = 0
    for path, check in checks:
        tally = Tally()
        with tempfile.TemporaryDirectory() as folder:
            check(Machine(folder), path, tally)
        print(f"{path.name}: {tally.equal} of {tally.cells} equal")
        for line in sorted(set(tally.excused)):
            print(f"  not equal, known: {line}")
        for line in sorted(set(tally.problems))[:20]:
            print(f"  FAIL {line[:300]}")
        failed += bool(tally.problems)
    print(f"{failed} files differ" if failed else "all captures are printed again")
    return 1 if failed else 0


def main():
    if not (REAL / "nvidia_smi_csv").is_dir():
        print(f"no captures at {REAL}")
        return 77
    return compare(checks())


if __name__ == "__main__":
    sys.exit(main())
