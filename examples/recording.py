"""What every script in this folder shares: profile some steps of a training loop and write two files."""

import os
import sys
from contextlib import contextmanager

import torch
from torch.profiler import ProfilerActivity, profile, schedule

import event_truth
import export_kineto

FOLDER = os.path.dirname(os.path.abspath(__file__))


@contextmanager
def recorded(name, steps, warm_up=3):
    """Profiles `steps` steps after `warm_up` unprofiled ones; call .step() on the result after each step.

    Writes NAME.json.gz (the recording) and NAME.truth.json (its sums per operator) beside the scripts.
    """
    saved = []

    def save(profiler):
        saved.append(name)
        wrong = event_truth.differences(profiler)
        for row in wrong[:10]:
            print("tree and time disagree:", *row, file=sys.stderr)
        if wrong:
            sys.exit(f"{name}: two clock readings tie in {len(wrong)} operators; record again")
        path = os.path.join(FOLDER, name + ".json.gz")
        export_kineto.export(profiler, path)
        event_truth.write(profiler, os.path.join(FOLDER, name + ".truth.json"), name + ".json.gz")
        print(f"{name}: {os.path.getsize(path) / 1024:.0f} KiB")

    torch.manual_seed(0)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=warm_up - 1, warmup=1, active=steps, repeat=1),
        on_trace_ready=save,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
    ) as profiler:
        yield profiler
    if not saved:
        sys.exit(f"{name}: the loop ended before {warm_up + steps} steps")
