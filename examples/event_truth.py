"""Sums of a recording per operator, from the profiler's event tree and not from the exported file.

An operator's parent is its nearest operator or annotation above it in the tree; Python frames are
transparent. Allocations belong to the nearest operator above them. The tree can hang an annotation under
a Python frame beside the operators that it encloses, so annotations nest by time instead.
"""

import json
import re
from collections import defaultdict

import torch
from torch._C._profiler import _EventType

from export_kineto import event_name, is_annotation, is_torch_op, walk

FIELDS = ("count", "self_cpu_ns", "total_cpu_ns", "self_cpu_bytes", "total_cpu_bytes")


def row_name(event):
    return re.sub(r"^ProfilerStep#\d+$", "ProfilerStep*", event_name(event))


def duration(event):
    return max(0, event.end_time_ns - event.start_time_ns)


def parents_by_tree(tree):
    """Node id -> nearest operator or annotation above it, for operators and allocations."""
    parents = {}
    stack = [(event, None) for event in tree]
    while stack:
        event, above = stack.pop()
        if is_torch_op(event) or event.tag == _EventType.Allocation:
            parents[event.id] = above
        if is_torch_op(event):
            above = event
        stack.extend((child, above) for child in event.children)
    return parents


def parents_by_time(nodes):
    """The same by time alone: the innermost range of the thread whose [start, end) holds the node's start."""
    parents = {}
    threads = defaultdict(list)
    for event in nodes:
        if is_torch_op(event) or event.tag == _EventType.Allocation:
            threads[event.start_tid].append(event)
    for events in threads.values():
        events.sort(key=lambda e: (e.start_time_ns, -duration(e)))
        open_ranges = []
        for event in events:
            while open_ranges and open_ranges[-1].end_time_ns <= event.start_time_ns:
                open_ranges.pop()
            parents[event.id] = open_ranges[-1] if open_ranges else None
            if is_torch_op(event):
                open_ranges.append(event)
    return parents


def sums(nodes, parents):
    """Per node id: self time, self bytes, total bytes; and the bytes that no range holds."""
    self_ns, self_bytes, total_bytes = {}, defaultdict(int), defaultdict(int)
    outside = 0
    for event in nodes:
        if is_torch_op(event):
            self_ns[event.id] = duration(event)
    for event in nodes:
        if event.id not in parents:
            continue
        above = parents[event.id]
        if is_torch_op(event):
            if above is not None:
                self_ns[above.id] -= duration(event)
            continue
        size = event.extra_fields.alloc_size
        if above is None:
            outside += size
            continue
        self_bytes[above.id] += size
        while above is not None:
            total_bytes[above.id] += size
            above = parents[above.id]
    return self_ns, self_bytes, total_bytes, outside


def nodes_of(profiler):
    return list(walk(profiler.profiler.kineto_results.experimental_event_tree()))


def differences(profiler):
    """Operators whose sums depend on whether nesting is the tree's or time's: there should be none."""
    nodes = nodes_of(profiler)
    tree_sums = sums(nodes, parents_by_tree([e for e in nodes if e.parent is None]))
    time_sums = sums(nodes, parents_by_time(nodes))
    wrong = []
    for event in nodes:
        if is_torch_op(event) and not is_annotation(event):
            by_tree = [part[event.id] for part in tree_sums[:3]]
            by_time = [part[event.id] for part in time_sums[:3]]
            if by_tree != by_time:
                wrong.append((event_name(event), by_tree, by_time))
    return wrong


def rows(nodes):
    tree_sums = sums(nodes, parents_by_tree([e for e in nodes if e.parent is None]))
    time_sums = sums(nodes, parents_by_time(nodes))
    table = defaultdict(lambda: dict.fromkeys(FIELDS, 0))
    for event in nodes:
        if not is_torch_op(event):
            continue
        self_ns, self_bytes, total_bytes, _ = time_sums if is_annotation(event) else tree_sums
        row = table[row_name(event)]
        row["count"] += 1
        row["self_cpu_ns"] += self_ns[event.id]
        row["total_cpu_ns"] += duration(event)
        row["self_cpu_bytes"] += self_bytes[event.id]
        row["total_cpu_bytes"] += total_bytes[event.id]
    return table, time_sums[3]


def write(profiler, path, trace_name):
    table, outside = rows(nodes_of(profiler))
    lines = [f'    {json.dumps({"name": name, **table[name]})}' for name in sorted(table)]
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'{{\n  "trace": {json.dumps(trace_name)},\n  "torch": {json.dumps(torch.__version__)},\n')
        out.write(f'  "bytes_in_no_range": {outside},\n  "rows": [\n')
        out.write(",\n".join(lines) + "\n  ]\n}\n")
