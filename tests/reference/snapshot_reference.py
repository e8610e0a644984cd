#!/usr/bin/env python3
"""An independent reading of a CUDA memory snapshot: Python's own unpickler, and a replay of the log in plain steps.

Only for files that are known to be harmless: unpickling runs what a file asks for.
"""
import collections
import gzip
import pickle

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
SETS_FREE = {"free_completed", "free"}


def load(path):
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rb") as file:
        return pickle.load(file)


def addressed_blocks(segment):
    """(address, block), the address added up where the block has none."""
    address = segment["address"]
    for block in segment["blocks"]:
        yield block.get("address", address), block
        address += block["size"]


def requested(block):
    if "requested_size" in block:
        return block["requested_size"]
    history = block.get("history") or [{}]
    return history[0].get("real_size", block["size"])


def frames_of(block):
    frames = block.get("frames")
    if frames is None and block.get("history"):
        frames = block["history"][0].get("frames")
    return tuple((f["filename"], f["line"], f["name"]) for f in frames or ())


def replay(log, blocks):
    """Walks the log twice: first to find what must have lived before it, then forward."""
    ends = SETS_FREE if any(e["action"] in SETS_FREE for e in log) else {"free_requested"}
    born, baseline, unseen = set(), {}, 0
    for entry in log:
        if entry["action"] == "alloc":
            born.add(entry["addr"])
        elif entry["action"] in ends:
            # A free of what the log has not allocated, or has freed already, is of something older.
            if entry["addr"] in born:
                born.discard(entry["addr"])
            else:
                unseen += 1
                baseline.setdefault(entry["addr"], entry["size"])
    touched = {e["addr"] for e in log if e["action"] == "alloc" or e["action"] in ends}
    for address, block in blocks.items():
        if address not in touched:
            baseline[address] = requested(block)
    live, level = dict(baseline), sum(baseline.values())
    peak = level
    for entry in log:
        if entry["action"] == "alloc":
            level += entry["size"] - live.get(entry["addr"], 0)
            live[entry["addr"]] = entry["size"]
        elif entry["action"] in ends:
            level -= live.pop(entry["addr"], 0)
        peak = max(peak, level)
    return {"peak_live_bytes": peak, "replayed_end_bytes": level, "frees_without_alloc": unseen}


def figures(path):
    """Device name -> the figures of `vramscope memory --json`."""
    snapshot = load(path)
    devices = collections.defaultdict(lambda: {"segments": [], "log": []})
    for segment in snapshot["segments"]:
        devices[segment.get("device", 0)]["segments"].append(segment)
    for index, log in enumerate(snapshot.get("device_traces", [])):
        if log:
            devices[index]["log"] = log
    result = {}
    for index, device in devices.items():
        blocks = [pair for segment in device["segments"] for pair in addressed_blocks(segment)]
        active = {address: block for address, block in blocks if block["state"] in ACTIVE}
        free = [block["size"] for _, block in blocks if block["state"] not in ACTIVE]
        stacks = collections.Counter()
        counts = collections.Counter()
        for block in active.values():
            stacks[frames_of(block)] += requested(block)
            counts[frames_of(block)] += 1
        top = sorted(((size, counts[stack]) for stack, size in stacks.items()), reverse=True)[:5]
        allocated = sum(b["size"] for b in active.values() if b["state"] == "active_allocated")
        result[f"cuda:{index}"] = {
            "reserved_bytes": sum(s["total_size"] for s in device["segments"]),
            "allocated_bytes": allocated,
            "active_bytes": sum(b["size"] for b in active.values()),
            "free_bytes": sum(free),
            "largest_free_block_bytes": max(free, default=0),
            "segments": len(device["segments"]),
            "blocks": len(blocks),
            "end_live_bytes": sum(map(requested, active.values())),
            "entries": len(device["log"]),
            "top": top,
            "ooms": [e["size"] for e in device["log"] if e["action"] == "oom"],
            **replay(device["log"], active),
        }
    return result
