#!/usr/bin/env python3
"""Makes the two fixed corpora of the benchmarks, about 300 MB each, from real traces.

    bench/make_corpora.py [--from FOLDER] [--to FOLDER] [--megabytes N]

cpu_heavy.json: Python frames, operators, memory events. kernels.json: kernels, copies, launches, flows.
Each is one valid trace: the events of real ones, repeated, where every repetition is a later piece with
ids of its own. The text has the layout of Kineto's exporter. Beside each: the same as .gz, and .meta.json
with the number of events (metadata apart). The same input gives the same bytes.
"""

import argparse
import gzip
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "..", "..", "shared", "real", "kineto_trace")
CORPORA = {
    "cpu_heavy": ("tracelens__vllm_graph_capture_131k.pt.trace.json.gz", "tracelens__mi300x_vf_qwen_memory.json.gz"),
    "kernels": ("hta__memory_events_V100_2rank.json.gz", "param__2080ti_linear.json.gz", "hta__nccl_pg_config.json.gz"),
}
BATCH = 2000  # events rewritten and written at a time
GAP_NS = 1_000_000  # between two pieces
# Every number that must differ from piece to piece. Names share a counter: shifting all by the same amount
# keeps what belongs together together.
MOVED = re.compile(
    r'"(ts|External id|external id|correlation|Ev Idx|Profiler Event Index|Python id|Python parent id|'
    r'Record function id|Sequence number)": (\d+)(?:\.(\d+))?|("ph": "[sft]", "id": )(\d+)|("name": "ProfilerStep#)(\d+)'
)
ID_GROUP = {
    "External id": "id", "external id": "id", "correlation": "id", "flow": "id",
    "Ev Idx": "event", "Profiler Event Index": "event", "Python id": "python", "Python parent id": "python",
    "Record function id": "record", "Sequence number": "sequence", "step": "step",
}  # fmt: skip


def layout(event):
    """An event in the lines of Kineto's exporter, for a source that another program has reformatted."""
    rest = {key: value for key, value in event.items() if key not in ("args", "ts", "dur")}
    tail = []
    if event["ph"] in "sft":  # flows keep their time on the first line
        first = {key: event[key] for key in ("ph", "id", "pid", "tid", "ts")}
        tail.append({key: value for key, value in rest.items() if key not in first})
    else:
        first = rest
        tail.append({key: event[key] for key in ("ts", "dur") if key in event})
    lines = [json.dumps(part)[1:-1] for part in [first] + tail]
    if "args" in event:
        lines.append('"args": {\n      ' + json.dumps(event["args"])[1:-1] + "\n    }")
    return "    " + ",\n    ".join(lines)


def read_events(path):
    """(head, events): the text before the first event, and the text of each event without its braces."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    begin = text.index('"traceEvents": [')
    head = text[:begin]
    if text[begin:].startswith('"traceEvents": [\n  {\n'):
        first = text.index("\n  {\n", begin) + len("\n  {\n")
        last = text.rindex("\n  }\n  ]")
        return head, text[first:last].split("\n  },\n  {\n")
    # A double holds these times (13 digits and 3 decimals) exactly enough to print them again.
    return "", [layout(event) for event in json.loads(text)["traceEvents"]]


def time_ns(whole, fraction):
    return int(whole) * 1000 + int((fraction or "").ljust(3, "0"))


class Piece:
    """One source, ready to be written again and again."""

    def __init__(self, path):
        self.head, events = read_events(path)
        self.metadata = [event for event in events if '"ph": "M"' in event]
        body = [event for event in events if '"ph": "M"' not in event]
        self.count = len(body)
        self.batches = ["  {\n" + "\n  },\n  {\n".join(body[i : i + BATCH]) + "\n  }" for i in range(0, len(body), BATCH)]
        self.begin_ns, self.end_ns, self.most = None, 0, dict.fromkeys(ID_GROUP.values(), 0)
        self.measure()

    def measure(self):
        begin = []
        for batch in self.batches:
            for match in MOVED.finditer(batch):
                if match.group(1) == "ts":
                    begin.append(time_ns(match.group(2), match.group(3)))
                    continue
                group, number = self.group_and_number(match)
                self.most[group] = max(self.most[group], number)
            for match in re.finditer(r'"ts": (\d+)(?:\.(\d+))?, "dur": (\d+)(?:\.(\d+))?', batch):
                end = time_ns(match.group(1), match.group(2)) + time_ns(match.group(3), match.group(4))
                self.end_ns = max(self.end_ns, end)
        self.begin_ns = min(begin)
        self.end_ns = max(self.end_ns, max(begin))

    @staticmethod
    def group_and_number(match):
        if match.group(4):
            return ID_GROUP["flow"], int(match.group(5))
        if match.group(6):
            return ID_GROUP["step"], int(match.group(7))
        return ID_GROUP[match.group(1)], int(match.group(2))

    def moved(self, shift_ns, offsets):
        """The batches with every time and id moved. Sources in whole microseconds stay so."""

        def move(match):
            key, digits, fraction, flow, flow_id, step, step_id = match.groups()
            if flow:
                return f"{flow}{int(flow_id) + offsets['id']}"
            if step:
                return f"{step}{int(step_id) + offsets['step']}"
            if key != "ts":
                return f'"{key}": {int(digits) + offsets[ID_GROUP[key]]}'
            moved = time_ns(digits, fraction) + shift_ns
            return f'"ts": {moved // 1000}' if fraction is None else f'"ts": {moved // 1000}.{moved % 1000:03d}'

        for batch in self.batches:
            yield MOVED.sub(move, batch)


def head_of(piece):
    """The first source's own head; the devices of the later ones are not listed, as happens in real traces."""
    return piece.head + '"traceEvents": [\n'


def write_corpus(name, paths, folder, bytes_wanted):
    pieces = [Piece(path) for path in paths]
    target = os.path.join(folder, name + ".json")
    offsets = dict.fromkeys(ID_GROUP.values(), 0)
    at_ns, written, events, turn = pieces[0].begin_ns, 0, 0, 0
    with open(target, "w", encoding="utf-8", buffering=1 << 20) as out:
        written += out.write(head_of(pieces[0]))
        while written < bytes_wanted:
            piece = pieces[turn % len(pieces)]
            # Whole microseconds, so that sources without decimals can follow.
            shift_ns = (at_ns - piece.begin_ns + 999) // 1000 * 1000
            for batch in piece.moved(shift_ns, offsets):
                written += out.write(batch + ",\n")
            at_ns = piece.end_ns + shift_ns + GAP_NS
            offsets = {group: offset + piece.most[group] + 1 for group, offset in offsets.items()}
            events += piece.count
            turn += 1
        begin = f'"ts": {pieces[0].begin_ns // 1000}'
        metadata = [re.sub(r'"ts": [\d.]+', begin, event) for piece in pieces for event in piece.metadata]
        written += out.write("  {\n" + "\n  },\n  {\n".join(metadata) + "\n  }\n")
        out.write(f'  ],\n  "traceName": "{name}.json"\n}}\n')
    pack(target)
    size = os.path.getsize(target)
    meta = {"events": events, "bytes": size, "gz_bytes": os.path.getsize(target + ".gz"), "pieces": turn}
    with open(os.path.join(folder, name + ".meta.json"), "w", encoding="utf-8") as out:
        json.dump(meta, out)
        out.write("\n")
    return meta


def pack(path):
    with open(path, "rb") as plain, open(path + ".gz", "wb") as out:
        with gzip.GzipFile("", "wb", 6, out, mtime=0) as packed:
            while chunk := plain.read(1 << 20):
                packed.write(chunk)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", default=REAL, help="folder with the real traces")
    parser.add_argument("--to", dest="target", default=os.path.join(HERE, "data"))
    parser.add_argument("--megabytes", type=int, default=300)
    options = parser.parse_args()
    missing = [name for names in CORPORA.values() for name in names if not os.path.exists(os.path.join(options.source, name))]
    if missing:
        sys.exit("The corpora need real traces that are not here: " + ", ".join(missing))
    os.makedirs(options.target, exist_ok=True)
    for name, files in CORPORA.items():
        begin = time.monotonic()
        paths = [os.path.join(options.source, file) for file in files]
        meta = write_corpus(name, paths, options.target, options.megabytes * 10**6)
        print(f"{name}: {meta['events']} events, {meta['bytes'] / 1e6:.0f} MB, gzip {meta['gz_bytes'] / 1e6:.1f} MB, "
              f"{time.monotonic() - begin:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
