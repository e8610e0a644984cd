"""Writes a recording of torch.profiler in the Chrome JSON layout of PyTorch's own Kineto exporter.

Debian's PyTorch 1.13 is built without Kineto: its export_chrome_trace() has no shapes, stacks or memory
events. The records exist all the same, in nanoseconds, in the profiler's event tree. This module writes
that tree the way a PyTorch with Kineto does: same keys, same order, same line breaks.
"""

import gzip
import json
import os

from torch.autograd import kineto_available
from torch._C._autograd import DeviceType
from torch._C._profiler import RecordScope, _EventType

# Kineto counts time from a multiple of three months, so that microseconds keep their decimals in a double.
BASE_STEP_NS = 7889238 * 10**9


def walk(events):
    """Every node of the tree, parents before children."""
    stack = list(reversed(events))
    while stack:
        event = stack.pop()
        yield event
        stack.extend(reversed(event.children))


def is_annotation(event):
    """record_function() ranges of the user, the optimizer, the data loader and the profiler's steps."""
    return event.tag == _EventType.TorchOp and event.extra_fields.scope == RecordScope.USER_SCOPE


def is_torch_op(event):
    return event.tag == _EventType.TorchOp


def event_name(event):
    return event.name() if callable(event.name) else event.name


def microseconds(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def concrete_input(value):
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return str(value)


class Layout:
    """Turns nodes of the tree into the text of events. One process, one clock."""

    def __init__(self, events, forward_threads, pid):
        self.base_ns = min(e.start_time_ns for e in events) // BASE_STEP_NS * BASE_STEP_NS
        self.forward_threads = forward_threads
        self.pid = pid
        self.index = 0

    def tid(self, event):
        # PyTorch numbers threads from 1 in order of appearance; the main thread has the process's number.
        return self.pid + event.start_tid - 1

    def ts(self, time_ns):
        return microseconds(time_ns - self.base_ns)

    def args(self, pairs):
        text = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in pairs + [("Ev Idx", self.index)])
        self.index += 1
        return '    "args": {\n      ' + text + "\n    }"

    def complete(self, category, event, pairs):
        name = json.dumps(event_name(event))
        duration = max(0, event.end_time_ns - event.start_time_ns)
        return (
            f'  {{\n    "ph": "X", "cat": "{category}", "name": {name}, "pid": {self.pid}, "tid": {self.tid(event)},\n'
            f'    "ts": {self.ts(event.start_time_ns)}, "dur": {microseconds(duration)},\n' + self.args(pairs) + "\n  }"
        )

    def torch_op(self, event):
        fields = event.extra_fields
        pairs = [("External id", event.correlation_id), ("Record function id", 0)]
        if is_annotation(event):
            return self.complete("user_annotation", event, pairs)
        inputs = fields.inputs
        if inputs.dtypes:
            if any(value is not None for value in inputs.ivalues):
                pairs.append(("Concrete Inputs", [concrete_input(value) for value in inputs.ivalues]))
            pairs.append(("Input type", inputs.dtypes))
            pairs.append(("Input Strides", inputs.strides))
            pairs.append(("Input Dims", inputs.shapes))
        if fields.sequence_number >= 0:
            pairs.append(("Sequence number", fields.sequence_number))
            pairs.append(("Fwd thread id", self.forward_threads.get(event.correlation_id, 0)))
        return self.complete("cpu_op", event, pairs)

    def memory(self, event):
        fields = event.extra_fields
        is_cpu = fields.device.type == "cpu"
        pairs = [
            ("Total Reserved", fields.total_reserved),
            ("Total Allocated", fields.total_allocated),
            ("Bytes", fields.alloc_size),
            ("Addr", fields.ptr),
            ("Device Id", -1 if is_cpu else fields.device.index),
            ("Device Type", int(DeviceType.CPU if is_cpu else DeviceType.CUDA)),
        ]
        return (
            '  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n'
            f'    "pid": {self.pid}, "tid": {self.tid(event)},\n    "ts": {self.ts(event.start_time_ns)},\n'
            + self.args(pairs)
            + "\n  }"
        )

    def python_call(self, event, number, parent, modules):
        pairs = [("Python parent id", parent), ("Python id", number)]
        name = event_name(event)
        if name.startswith("nn.Module: "):
            pairs.append(("Python module id", modules.setdefault(name, len(modules))))
        return self.complete("python_function", event, pairs)

    def flow(self, phase, event, number):
        bound = ', "bp": "e"' if phase == "f" else ""
        return (
            f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {self.pid}, "tid": {self.tid(event)}, '
            f'"ts": {self.ts(event.start_time_ns)},\n    "cat": "fwdbwd", "name": "fwdbwd"{bound}\n  }}'
        )

    def metadata(self, name, key, value, tid, time_ns):
        return (
            f'  {{\n    "name": "{name}", "ph": "M", "ts": {self.ts(time_ns)}, "pid": {self.pid}, "tid": {tid},\n'
            f'    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}'
        )

    def instant(self, name, pid, tid, time_ns):
        return (
            f'  {{\n    "name": "{name}", "ph": "i", "s": "g",\n'
            f'    "pid": "{pid}", "tid": "{tid}", "ts": {self.ts(time_ns)}\n  }}'
        )


def forward_backward_links(ops, forward_threads):
    """(number, phase) of the flow that starts or ends at an op, by correlation id.

    Several forward ops can carry one sequence number; the one that starts last made the graph's node.
    """
    forward = {}
    for event in ops:
        sequence = event.extra_fields.sequence_number
        if sequence < 0 or is_annotation(event) or forward_threads.get(event.correlation_id, 0) > 0:
            continue
        key = (event.start_tid, sequence)
        if key not in forward or event.start_time_ns >= forward[key].start_time_ns:
            forward[key] = event
    links = {}
    number = 1
    for event in ops:
        if event.extra_fields.scope != RecordScope.BACKWARD_FUNCTION:
            continue
        key = (forward_threads.get(event.correlation_id, 0), event.extra_fields.sequence_number)
        start = forward.pop(key, None)
        if start is not None:
            links[start.correlation_id] = (number, "s")
            links[event.correlation_id] = (number, "f")
            number += 1
    return links


def python_calls(layout, tree):
    modules = {}
    count = 0
    stack = [(event, None) for event in reversed(tree)]
    while stack:
        event, parent = stack.pop()
        if event.tag in (_EventType.PyCall, _EventType.PyCCall):
            count += 1
            yield layout.python_call(event, count, parent, modules)
            parent = count
        stack.extend((child, parent) for child in reversed(event.children))


def tail(layout, nodes):
    """Names of the process and its threads, and the marks of the recording's begin and end."""
    first = min(e.start_time_ns for e in nodes)
    last = max(e.end_time_ns for e in nodes)
    yield layout.metadata("process_name", "name", "python3", 0, first)
    yield layout.metadata("process_labels", "labels", "CPU", 0, first)
    yield layout.metadata("process_sort_index", "sort_index", layout.pid, 0, first)
    for tid in sorted({layout.tid(e) for e in nodes}):
        yield layout.metadata("thread_name", "name", f"thread {tid} (python3)", tid, first)
        yield layout.metadata("thread_sort_index", "sort_index", tid, tid, first)
    yield (
        f'  {{\n    "ph": "X", "cat": "Trace", "ts": {layout.ts(first)}, "dur": {microseconds(last - first)},\n'
        '    "pid": "Spans", "tid": "PyTorch Profiler",\n    "name": "PyTorch Profiler (0)",\n'
        '    "args": {\n      "Op count": 0\n    }\n  }'
    )
    yield layout.instant("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", first)
    yield layout.instant("Record Window End", "", "", last)


def trace_events(layout, results, nodes):
    ops = sorted((e for e in nodes if is_torch_op(e)), key=lambda e: e.start_time_ns)
    links = forward_backward_links(ops, layout.forward_threads)
    for event in ops:
        yield layout.torch_op(event)
        if event.correlation_id in links:
            number, phase = links[event.correlation_id]
            yield layout.flow(phase, event, number)
    memory = (e for e in nodes if e.tag == _EventType.Allocation)
    for event in sorted(memory, key=lambda e: e.start_time_ns):
        yield layout.memory(event)
    yield from python_calls(layout, results.experimental_event_tree())
    yield from tail(layout, nodes)


def export(profiler, path, flags=("record_shapes", "profile_memory", "with_stack")):
    """Writes `path` (gzip when it ends in .gz) from a torch.profiler.profile that has stopped."""
    assert not kineto_available(), "this PyTorch has Kineto: call export_chrome_trace() instead"
    results = profiler.profiler.kineto_results
    nodes = list(walk(results.experimental_event_tree()))
    forward_threads = {e.correlation_id(): e.fwd_thread_id() for e in results.events() if e.fwd_thread_id()}
    layout = Layout(nodes, forward_threads, os.getpid())
    name = os.path.basename(path)
    name = name[:-3] if name.endswith(".gz") else name
    head = '\n  {\n    "schemaVersion": 1,\n    "deviceProperties": [\n    ],\n'
    head += "".join(f'      "{flag}": 1,\n' for flag in flags)
    head += f'  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {layout.base_ns},\n  "traceEvents": [\n'
    text = head + ",\n".join(trace_events(layout, results, nodes)) + f'\n  ],\n  "traceName": "{name}"\n}}\n'
    if path.endswith(".gz"):
        with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
            packed.write(text.encode())
    else:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
