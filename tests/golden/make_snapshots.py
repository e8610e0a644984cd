#!/usr/bin/env python3
"""Writes the CUDA memory snapshots of the golden cases: input*.pickle in the folders named in CASES below.

A Device is a small caching allocator that keeps the log PyTorch would keep. Blocks are rounded up to 512 bytes, cut from
the first free block that is large enough, and joined again when freed.
usage: make_snapshots.py [AREA/CASE…]
"""
import pathlib
import pickle
import sys

HERE = pathlib.Path(__file__).resolve().parent
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
START_US = 1_700_000_000_000_000  # 2023-11-14 22:13:20 UTC
DEFAULTS = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
            "expandable_segments": False, "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "roundup_power2_divisions": {"1": 0, "2": 0, "4": 0, "8": 0}}


def frames(*places):
    """A stack from the inside out; each place is "file:line:function"."""
    parts = [place.rsplit(":", 2) for place in places]
    return [{"filename": name, "line": int(line), "name": function} for name, line, function in parts]


LIBRARY = ("/usr/lib/python3/dist-packages/torch/nn/functional.py:1847:linear",
           "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py:114:forward",
           "/usr/lib/python3/dist-packages/torch/nn/modules/module.py:1130:_call_impl")
WEIGHTS = frames("/home/user/project/model.py:12:__init__", "/home/user/project/train.py:8:main")
FORWARD = frames(*LIBRARY, "/home/user/project/model.py:31:forward", "/home/user/project/train.py:22:step",
                 "/home/user/project/train.py:40:main")
CACHE = frames("/home/user/project/cache.py:5:remember", "/home/user/project/train.py:25:step",
               "/home/user/project/train.py:40:main")


class Device:
    def __init__(self, index=0, tick_us=1000, is_timed=True):
        self.index, self.tick_us, self.is_timed = index, tick_us, is_timed
        self.segments, self.log = [], []
        self.next_address = 0x7F0000000000 + index * (1 << 40)
        self.now_us = START_US

    def note(self, action, address, size, stack, stream=0, logged=True, **more):
        if not logged:
            return
        self.now_us += self.tick_us
        entry = {"action": action, "size": size, "stream": stream, "frames": stack, **more}
        if address is not None:
            entry["addr"] = address
        if self.is_timed:
            entry["time_us"] = self.now_us
        self.log.append(entry)

    def segment(self, size, kind="large", stream=0, stack=(), logged=True, expandable=False, pool=(0, 0)):
        address, self.next_address = self.next_address, self.next_address + size + 2 * MIB
        self.segments.append({"address": address, "size": size, "kind": kind, "stream": stream,
                              "frames": list(stack), "expandable": expandable, "pool": pool,
                              "blocks": [[address, size, 0, False, []]]})
        self.note("segment_map" if expandable else "segment_alloc", address, size, list(stack), stream, logged)
        return address

    def release(self, address, logged=True):
        """Gives a wholly free segment back to the driver."""
        gone = next(s for s in self.segments if s["address"] == address)
        assert len(gone["blocks"]) == 1 and not gone["blocks"][0][3]
        self.segments.remove(gone)
        self.note("segment_free", address, gone["size"], [], gone["stream"], logged)

    def alloc(self, size, stack, kind="large", stream=0, logged=True, **more):
        rounded = max(512, -(-size // 512) * 512)
        for segment in self.segments:
            if segment["kind"] != kind or segment["stream"] != stream:
                continue
            for i, (address, length, _, active, _) in enumerate(segment["blocks"]):
                if active or length < rounded:
                    continue
                segment["blocks"][i:i + 1] = [[address, rounded, size, True, stack]] + (
                    [[address + rounded, length - rounded, 0, False, []]] if length > rounded else [])
                self.note("alloc", address, size, stack, stream, logged, **more)
                return address
        raise MemoryError(f"no free block of {rounded} bytes")

    def free(self, address, logged=True):
        for segment in self.segments:
            for i, block in enumerate(segment["blocks"]):
                if block[0] != address or not block[3]:
                    continue
                for action in ("free_requested", "free_completed"):
                    self.note(action, address, block[2], [], segment["stream"], logged)
                block[3] = False
                blocks = segment["blocks"]
                for k in (i, i - 1):  # joined with the next, then with the one before
                    if 0 <= k < len(blocks) - 1 and not blocks[k][3] and not blocks[k + 1][3]:
                        blocks[k:k + 2] = [[blocks[k][0], blocks[k][1] + blocks[k + 1][1], 0, False, []]]
                return
        raise KeyError(address)

    def oom(self, size, device_free, stack):
        self.note("oom", None, size, stack, device_free=device_free)

    def state(self):
        return [{"device": self.index, "address": s["address"], "total_size": s["size"],
                 "allocated_size": sum(b[1] for b in s["blocks"] if b[3]),
                 "active_size": sum(b[1] for b in s["blocks"] if b[3]),
                 "requested_size": sum(b[2] for b in s["blocks"] if b[3]),
                 "stream": s["stream"], "segment_type": s["kind"], "segment_pool_id": s["pool"],
                 "is_expandable": s["expandable"], "frames": s["frames"],
                 "blocks": [{"address": b[0], "size": b[1], "requested_size": b[2],
                             "state": "active_allocated" if b[3] else "inactive", "frames": b[4]}
                            for b in s["blocks"]]} for s in self.segments]


def write(path, *devices, **settings):
    path.parent.mkdir(parents=True, exist_ok=True)
    snapshot = {"segments": [segment for device in devices for segment in device.state()],
                "device_traces": [device.log for device in devices],
                "allocator_settings": {**DEFAULTS, **settings}, "external_annotations": []}
    path.write_bytes(pickle.dumps(snapshot, protocol=4))


def training(steps, keeps, is_timed=True):
    """Weights from before the log; each step makes activations and, where it keeps, leaves a copy behind."""
    device = Device(is_timed=is_timed)
    device.segment(64 * MIB, logged=False)
    device.segment(2 * MIB, kind="small", logged=False)
    for _ in range(4):
        device.alloc(4 * MIB + 100, WEIGHTS, logged=False)
    device.alloc(1000, WEIGHTS, kind="small", logged=False)
    for _ in range(steps):
        activations = [device.alloc(3 * MIB, FORWARD), device.alloc(5 * MIB, FORWARD)]
        if keeps:
            device.alloc(1 * MIB + 512, CACHE)
        for address in reversed(activations):
            device.free(address)
    return device


def out_of_memory(folder):
    """Holes of 6 MiB everywhere; a request of 12 MiB fails although 24 MiB are free in sum."""
    device = Device()
    device.segment(64 * MIB, stack=FORWARD)
    held, gaps = [], []
    for _ in range(5):
        held.append(device.alloc(6 * MIB, WEIGHTS))
        gaps.append(device.alloc(6 * MIB, FORWARD))
    held.append(device.alloc(4 * MIB, WEIGHTS))
    for address in gaps[:4]:
        device.free(address)
    device.oom(12 * MIB, 2 * MIB, FORWARD)
    write(folder / "input.pickle", device)


def growing(folder):
    """Three snapshots of one run, given out of order."""
    for number, steps in ((1, 3), (2, 6), (3, 9)):
        write(folder / f"input-{number}.pickle", training(steps, keeps=True))


def one(device, **settings):
    return lambda folder: write(folder / "input.pickle", device(), **settings)


def two_devices():
    first = training(3, keeps=False)
    second = Device(index=1)
    second.segment(20 * MIB, stream=7, stack=FORWARD)
    second.alloc(8 * MIB, CACHE, stream=7)
    return first, second


def fragmented(size=GIB, free_gaps=True):
    """Segments of 4 GiB, each with a small result in its middle: a request of 3 GiB no longer fits. With `free_gaps`
    False the results lie at the ends and the request fits."""
    device, gaps = Device(), []
    for _ in range(4):
        device.segment(4 * size, stack=FORWARD)
        if free_gaps:
            gaps.append(device.alloc(2 * size, FORWARD))
        device.alloc(size // 64, CACHE)
        gaps.append(device.alloc(2 * size - size // 64 if free_gaps else 4 * size - size // 64, FORWARD))
    for address in gaps:
        device.free(address)
    device.segment(3 * size, stack=FORWARD)
    for _ in range(4):
        device.free(device.alloc(3 * size, FORWARD))
    device.release(device.segments[-1]["address"])
    return device


EMPTY_CACHE = frames("/usr/lib/python3/dist-packages/torch/cuda/memory.py:114:empty_cache",
                     "/home/user/project/train.py:28:step", "/home/user/project/train.py:40:main")


def cache_emptied(steps, by_hand=True):
    """Each step gives its segment back, by empty_cache or because the next request finds no room, and takes another."""
    device = Device()
    device.segment(64 * MIB, stack=WEIGHTS)
    device.alloc(64 * MIB, WEIGHTS)
    for step in range(steps):
        size = (512 + step % 2) * MIB
        address = device.segment(size, stack=FORWARD)
        device.free(device.alloc(size, FORWARD))
        device.release(address)
        if by_hand:
            device.log[-1]["frames"] = EMPTY_CACHE
    return device


def key_value_cache(tokens):
    """Each token keeps one more block of keys and values, from one place."""
    device = Device()
    device.segment(4 * GIB, stack=WEIGHTS)
    device.alloc(128 * MIB, WEIGHTS, logged=False)
    for _ in range(tokens):
        device.free(device.alloc(3 * MIB, FORWARD))
        device.alloc(16 * MIB, CACHE)
    return device


def idle_server():
    """6 GiB reserved, 1 GiB of them in use."""
    device = Device()
    device.segment(1 * GIB, stack=WEIGHTS)
    device.alloc(1 * GIB, WEIGHTS)
    device.segment(5 * GIB, stack=FORWARD)
    device.free(device.alloc(5 * GIB, FORWARD))
    return device


CASES = {
    "report/snapshot-text": one(lambda: training(4, keeps=True), expandable_segments=True,
                                PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"),
    "report/snapshot-out-of-memory": out_of_memory,
    "report/snapshot-growth": growing,
    "report/snapshot-two-devices": lambda folder: write(folder / "input.pickle", *two_devices(), Device(index=2)),
    "rule/fragmentation": one(fragmented),
    "rule/fragmentation-in-force": one(fragmented, expandable_segments=True,
                                       PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"),
    "rule/fragmentation-silent": one(lambda: fragmented(free_gaps=False)),
    "rule/fragmented-failure": out_of_memory,
    "rule/alloc-churn": one(lambda: cache_emptied(8)),
    "rule/alloc-churn-retries": one(lambda: cache_emptied(8, by_hand=False)),
    "rule/alloc-churn-silent": one(lambda: cache_emptied(2)),
    "rule/dominant-stack": one(lambda: key_value_cache(64)),
    "rule/cached-idle": one(idle_server),
    "report/snapshot-without-times": one(lambda: training(2, keeps=True, is_timed=False)),
}


def main(wanted):
    for name, make in CASES.items():
        if not wanted or name in wanted:
            make(HERE / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
