#!/usr/bin/env python3
"""Makes the snapshot of the benchmarks, more than 200 MB, from real CUDA memory snapshots.

    bench/make_snapshot.py [--from FOLDER] [--to FOLDER] [--megabytes N]

snapshot.pickle: the traces, segments, blocks and annotations of real ones, repeated. Every repetition lies at
addresses and times of its own and has stacks of its own (its lines are others); what is one object in the source (a
frame) is one in the repetition, and what is not (a list of frames, a text) is not. Written by pickle.dump with
protocol 4, as PyTorch does. Beside it .meta.json with the number of log entries. The same input gives the same bytes.
"""

import argparse
import gc
import json
import os
import pickle
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "..", "..", "shared", "real", "cuda_snapshot")
SOURCES = ("OOM_expandable_4gpu.pickle", "external_annotations_compile.pickle", "no_time_us_torch2.1.pickle",
           "windows_annotations.pickle", "user_metadata_torch2.9.pickle")  # fmt: skip
# Pieces lie so far apart; more than any of them spans, and together less than a device's 47 bits.
ADDRESS_STEP = 1 << 39
TIME_STEP_US = 3_600_000_000
LINE_STEP = 100_000
HEAD = "OOM_expandable_4gpu.pickle"  # its settings are those of the whole


class Copier:
    """A copy with the sharing of the original, moved to a piece's addresses, times and lines."""

    def __init__(self, piece, base_address):
        self.piece, self.base, self.copies = piece, base_address, {}

    def copy(self, value):
        kind = type(value)
        if kind is dict:
            made = self.copies.get(id(value))
            if made is None:
                made = self.copies[id(value)] = {}
                for key, held in value.items():
                    made[key] = self.moved(key, held)
            return made
        if kind is list:
            made = self.copies.get(id(value))
            if made is None:
                made = self.copies[id(value)] = []
                made.extend(map(self.copy, value))
            return made
        if kind is tuple:
            return tuple(map(self.copy, value))
        if kind is str and len(value) > 1:
            made = self.copies.get(id(value))
            if made is None:
                made = self.copies[id(value)] = value.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
            return made
        return value

    def moved(self, key, held):
        if key in ("addr", "address") and held:
            return held - self.base + (self.piece + 1) * ADDRESS_STEP
        if key == "time_us":
            return held + self.piece * TIME_STEP_US
        if key == "line" and held:
            return held + self.piece * LINE_STEP
        return self.copy(held)


def lowest_address(snapshot):
    addresses = [segment["address"] for segment in snapshot["segments"]]
    addresses += [entry["addr"] for trace in snapshot["device_traces"] for entry in trace if entry.get("addr")]
    return min(addresses)


def make(folder, target, bytes_wanted):
    gc.disable()  # nothing here is garbage, and looking for it takes minutes
    sources = []
    for name in SOURCES:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        sources.append((pickle.loads(data), len(data)))
    whole = {"segments": [], "device_traces": [[], [], [], []], "allocator_settings": {}, "external_annotations": []}
    whole["allocator_settings"] = sources[SOURCES.index(HEAD)][0]["allocator_settings"]
    bases = [lowest_address(snapshot) for snapshot, _ in sources]
    size = piece = 0
    while size < bytes_wanted:
        snapshot, source_bytes = sources[piece % len(sources)]
        copier = Copier(piece, bases[piece % len(sources)])
        whole["segments"] += copier.copy(snapshot["segments"])
        for trace, more in zip(whole["device_traces"], snapshot["device_traces"]):
            trace += copier.copy(more)
        whole["external_annotations"] += copier.copy(snapshot.get("external_annotations", []))
        size += source_bytes * 1.4  # references are longer in a large file
        piece += 1
    path = os.path.join(target, "snapshot.pickle")
    with open(path, "wb") as out:
        pickle.dump(whole, out, protocol=4)
    meta = {"events": sum(map(len, whole["device_traces"])), "segments": len(whole["segments"]),
            "bytes": os.path.getsize(path), "pieces": piece}  # fmt: skip
    with open(os.path.join(target, "snapshot.meta.json"), "w", encoding="utf-8") as out:
        json.dump(meta, out)
        out.write("\n")
    return meta


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", default=REAL, help="folder with the real snapshots")
    parser.add_argument("--to", dest="target", default=os.path.join(HERE, "data"))
    parser.add_argument("--megabytes", type=int, default=250)
    options = parser.parse_args()
    missing = [name for name in SOURCES if not os.path.exists(os.path.join(options.source, name))]
    if missing:
        sys.exit("The snapshot needs real ones that are not here: " + ", ".join(missing))
    os.makedirs(options.target, exist_ok=True)
    begin = time.monotonic()
    meta = make(options.source, options.target, options.megabytes * 10**6)
    print(f"snapshot: {meta['events']} log entries, {meta['bytes'] / 1e6:.0f} MB, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
