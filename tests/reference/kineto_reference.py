#!/usr/bin/env python3
"""An independent reading of Kineto / PyTorch Profiler traces, to check the tool's figures against.

    kineto_reference.py FILE      one JSON object on stdout
    kineto_reference.py FOLDER    one JSON object with a member for each file

Slow and plain on purpose: the standard library only, exact decimal times, one pass for each figure.
A file that is no trace gives {"refused": "why"}.
"""

import gzip
import json
import os
import re
import sys
from collections import defaultdict
from decimal import Decimal

OPS = {"cpu_op", "Operator"}
ANNOTATIONS = {"user_annotation"}
LAUNCHES = {"cuda_runtime", "cuda_driver", "Runtime"}
KERNELS = {"kernel", "Kernel"}
COPIES = {"gpu_memcpy", "Memcpy"}
SETS = {"gpu_memset", "Memset"}
DEVICE_TYPES = {0: "cpu", 1: "cuda", 6: "cuda", 12: "xpu", 13: "mps", 19: "mtia", 20: "privateuseone"}
BARE_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|(-?)\b(inf|nan)\b', re.DOTALL)


class NotATrace(Exception):
    pass


def read_text(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8-sig", "replace")


def name_bare_word(match):
    if match.group(2) is None:
        return match.group(0)
    return "NaN" if match.group(2) == "nan" else match.group(1) + "Infinity"


def parse(text):
    options = {"parse_float": Decimal, "strict": False}
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        try:  # C++ streams write "inf" and "nan"
            return json.loads(BARE_WORDS.sub(name_bare_word, text), **options)
        except json.JSONDecodeError:
            raise NotATrace(str(error)) from error


def load(path):
    """(events, base time in ns): events as dictionaries in file order."""
    document = parse(read_text(path))
    head = document if isinstance(document, dict) else {}
    events = head.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise NotATrace("no list of events")
    # An empty object stands for no event: rocprof begins its list with one. An object with members is an event of the
    # file, even where its phase is missing and nothing can be done with it.
    events = [event for event in events if isinstance(event, dict) and event]
    if not events:
        raise NotATrace("no events")
    return events, to_int(head.get("baseTimeNanoseconds")) or 0


def to_int(value):
    """An integer from a JSON number or a string of digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):  # only NaN and the infinities stay float
        return None
    if isinstance(value, Decimal):
        return int(value) if value.adjusted() < 30 else None
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return None


def to_ns(value):
    """Microseconds to whole nanoseconds, without going through a double; None for what is no number."""
    if isinstance(value, str):
        try:
            value = Decimal(value)
        except ArithmeticError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    if not Decimal(value).is_finite() or abs(Decimal(value)) > Decimal(2**62) / 1000:
        return None
    return int((Decimal(value) * 1000).to_integral_value())


def args_of(event):
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def track(event):
    return str(event.get("pid")), str(event.get("tid"))


def duration(event):
    return max(0, to_ns(event.get("dur")) or 0)


def ranges(events):
    """(start, end, category, name, track, args) of every X event and every B/E pair with a start."""
    open_marks = defaultdict(list)
    result = []
    for event in events:
        start = to_ns(event.get("ts"))
        if start is None:
            continue
        phase = event.get("ph")
        row = (event.get("cat") or "", str(event.get("name")), track(event), args_of(event))
        if phase == "X":
            result.append((start, start + duration(event)) + row)
        elif phase == "B":
            open_marks[row[2]].append((start, row))
        elif phase == "E" and open_marks[row[2]]:
            begin, begun = open_marks[row[2]].pop()
            result.append((begin, max(begin, start)) + begun)
    return result


def counts(events):
    categories = defaultdict(int)
    for event in events:
        categories[event.get("cat") or "(none)"] += 1
    return dict(categories)


def time_span(events, base_ns):
    starts, ends = [], []
    for event in events:
        start = to_ns(event.get("ts"))
        if start is not None:
            starts.append(start)
            ends.append(start + duration(event))
    if not starts:
        return None, None
    return min(starts) + base_ns, max(ends) + base_ns


def step_numbers(spans):
    numbers = set()
    for _, _, category, name, _, _ in spans:
        match = re.fullmatch(r"ProfilerStep#(\d+)", name)
        if match and category in OPS | ANNOTATIONS:
            numbers.add(int(match.group(1)))
    return numbers


def device_of(args, where):
    number = to_int(args.get("device"))
    if number is None:
        number = to_int(where[0])
    return -1 if number is None else number


def union_ns(intervals):
    total, reach = 0, None
    for start, end in sorted(intervals):
        if reach is None or start > reach:
            total += end - start
            reach = end
        elif end > reach:
            total += end - reach
            reach = end
    return total


def devices(spans):
    work = defaultdict(list)
    for span in spans:
        if span[2] in KERNELS | COPIES | SETS:
            work[device_of(span[5], span[4])].append(span)
    result = []
    for number in sorted(work):
        rows = work[number]
        result.append({
            "id": number,
            "kernels": sum(1 for row in rows if row[2] in KERNELS),
            "kernel_ns": sum(row[1] - row[0] for row in rows if row[2] in KERNELS),
            "memcpy_bytes": sum(to_int(row[5].get("bytes")) or 0 for row in rows if row[2] in COPIES),
            "busy_ns": union_ns([(row[0], row[1]) for row in rows]),
            "span_ns": max(row[1] for row in rows) - min(row[0] for row in rows),
        })
    return result


def whole(value):
    """An integer that the file writes as one, or as a number or a text equal to one; None for anything else."""
    if isinstance(value, Decimal) and value != value.to_integral_value():
        return None
    return to_int(value)


def memory_device(args):
    kind = whole(args["Device Type"]) if "Device Type" in args else 0
    index = whole(args.get("Device Id"))
    if kind is not None and not 0 <= kind <= 127:
        kind = None
    if kind == 0:
        return "cpu"
    name = "unknown-device" if kind is None else DEVICE_TYPES.get(kind, f"device-type-{kind}")
    return name if index is None or not 0 <= index <= 0x7fff else f"{name}:{index}"


def memory(events):
    """By device; where several processes use one device, "cuda:0 (process 123)"."""
    by_device = defaultdict(lambda: defaultdict(list))
    for event in events:
        time = to_ns(event.get("ts"))
        if event.get("ph") in ("i", "I") and event.get("name") == "[memory]" and time is not None:
            by_device[memory_device(args_of(event))][track(event)[0]].append((time, args_of(event)))
    result = {}
    for device, processes in sorted(by_device.items()):
        for process, rows in sorted(processes.items()):
            name = device if len(processes) == 1 else f"{device} (process {process})"
            result[name] = memory_sums(sorted(rows, key=lambda row: row[0]))
    return result


def memory_sums(rows):
    result = {"allocs": 0, "frees": 0, "alloc_bytes": 0, "free_bytes": 0, "frees_without_alloc": 0}
    seen = set()
    for _, args in rows:
        size, address = to_int(args.get("Bytes")) or 0, to_int(args.get("Addr"))
        if size > 0:
            result["allocs"] += 1
            result["alloc_bytes"] += size
            seen.add(address)
        elif size < 0:
            result["frees"] += 1
            result["free_bytes"] -= size
            if address is not None and address not in seen:
                result["frees_without_alloc"] += 1
    if not any(to_int(args.get("Addr")) is not None for _, args in rows if to_int(args.get("Bytes"))):
        result["frees_without_alloc"] = None  # nothing can be said without addresses
    for key, written in (("max_allocated_bytes", "Total Allocated"), ("max_reserved_bytes", "Total Reserved")):
        totals = [to_int(args.get(written)) for _, args in rows]
        totals = [total for total in totals if total is not None]
        if totals:
            result[key] = max(totals)
    return result


def launch_owners(spans):
    """Correlation id -> the innermost operator or annotation that holds the launch on its thread."""
    threads = defaultdict(list)
    for index, span in enumerate(spans):
        if span[2] in OPS | ANNOTATIONS | LAUNCHES:
            threads[span[4]].append((span[0], span[0] - span[1], index))
    owners = {}
    for rows in threads.values():
        rows.sort()
        open_spans = []
        for start, _, index in rows:
            span = spans[index]
            while open_spans and open_spans[-1][1] <= start:
                open_spans.pop()
            if span[2] in LAUNCHES:
                correlation = to_int(span[5].get("correlation"))
                owner = open_spans[-1] if open_spans else None
                if correlation is not None and (correlation not in owners or owners[correlation] is None):
                    owners[correlation] = owner
            else:
                open_spans.append(span)
    return owners


def operators(spans):
    rows = defaultdict(lambda: {"count": 0, "total_cpu_ns": 0, "self_device_ns": 0})
    for start, end, category, name, _, _ in spans:
        if category in OPS and not name.startswith("ProfilerStep#"):
            rows[name]["count"] += 1
            rows[name]["total_cpu_ns"] += end - start
    owners = launch_owners(spans)
    elsewhere = {"annotations": 0, "nowhere": 0}
    for start, end, category, _, _, args in spans:
        if category not in KERNELS | COPIES | SETS:
            continue
        owner = owners.get(to_int(args.get("correlation")))
        if owner is None:
            elsewhere["nowhere"] += end - start
        elif owner[2] in OPS and owner[3] in rows:
            rows[owner[3]]["self_device_ns"] += end - start
        else:
            elsewhere["annotations"] += end - start
    return dict(sorted(rows.items())), elsewhere


def read(path):
    try:
        everything, base_ns = load(path)
    except (NotATrace, OSError, EOFError) as error:
        return {"refused": str(error)}
    events = [event for event in everything if event.get("ph") != "M"]
    spans = ranges(events)
    start_ns, end_ns = time_span(events, base_ns)
    ops, elsewhere = operators(spans)
    return {
        "events": len(events),
        "events_by_category": counts(events),
        "start_ns": start_ns,
        "end_ns": end_ns,
        "steps": len(step_numbers(spans)),
        "devices": devices(spans),
        "memory": memory(events),
        "ops": ops,
        "device_ns_in_annotations": elsewhere["annotations"],
        "device_ns_without_op": elsewhere["nowhere"],
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    if os.path.isdir(path):
        result = {name: read(os.path.join(path, name)) for name in sorted(os.listdir(path)) if ".json" in name}
    else:
        result = read(path)
    json.dump(result, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
