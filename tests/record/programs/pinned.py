# SPDX-License-Identifier: MIT
"""Pinned host memory: PyTorch's allocator compared with gpupool's engine.

pinned.py play SEED TRACE KEY   makes requests drawn from a seed to PyTorch;
                                writes them as a trace, and their results
pinned.py judge KEY EVENTS REPORT
                                whether a replay of the trace has the same ones
"""
import json
import os
import random
import sys

OF_OURS = {"allocations": "segment", "allocated_bytes": "reserved_bytes",
           "active_requests": "active", "active_bytes": "active_bytes"}


class Program:
    """Requests to PyTorch, and their trace."""

    def __init__(self, seed):
        import torch
        self.torch, self.random = torch, random.Random(seed)
        self.release = tuple(map(int, torch.__version__.split(".")[:2]))
        self.tells = hasattr(torch.cuda, "host_memory_stats")
        self.target = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
        self.streams = [torch.cuda.default_stream()] + [
            torch.cuda.Stream() for _ in range(3)]
        self.live, self.events, self.places = {}, [], []
        self.made = self.count()

    def count(self):
        if not self.tells:
            return 0
        return self.torch.cuda.host_memory_stats().get("num_host_alloc", 0)

    def size(self):
        size = 1 << self.random.randrange(24)
        size += self.random.choice((-1, 0, 1, self.random.randrange(size)))
        return max(1, size)

    def alloc(self):
        number = len(self.places)
        size = self.size()
        self.live[number] = self.torch.empty(
            size, dtype=self.torch.uint8, pin_memory=True)
        made = self.count()
        self.places.append(
            (self.live[number].data_ptr(), made > self.made, size))
        self.made = made
        self.events.append({"op": "alloc", "id": number, "size": size})

    def copy(self):
        if not self.live:
            return
        number = self.random.choice(list(self.live))
        stream = self.random.randrange(len(self.streams))
        tensor = self.live[number]
        with self.torch.cuda.stream(self.streams[stream]):
            self.target[:len(tensor)].copy_(tensor, non_blocking=True)
        self.events.append(
            {"op": "record_stream", "id": number, "stream": stream})

    def free(self):
        if not self.live:
            return
        number = self.random.choice(list(self.live))
        del self.live[number]
        self.events.append({"op": "free", "id": number})

    def synchronize(self):
        stream = self.random.randrange(len(self.streams) + 1)
        if stream == len(self.streams):
            self.torch.cuda.synchronize()
            self.events.append({"op": "synchronize"})
        else:
            self.streams[stream].synchronize()
            self.events.append({"op": "synchronize", "stream": stream})

    def empty_cache(self):
        # Without counters, a new block cannot be distinguished from an old one.
        if self.tells and hasattr(self.torch._C, "_host_emptyCache"):
            self.torch._C._host_emptyCache()
            self.events.append({"op": "empty_cache"})

    def play(self):
        steps = ([self.alloc] * 40 + [self.free] * 38 + [self.copy] * 25 +
                 [self.synchronize] * 6 + [self.empty_cache])
        for _ in range(3000):
            self.random.choice(steps)()
        stats = self.torch.cuda.host_memory_stats() if self.tells else {}
        return {"release": self.release, "places": self.places,
                "conf": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""),
                "stats": {name: value for name, value in stats.items()
                          if name.split(".")[0] in OF_OURS}}


def play(seed, trace, key):
    program = Program(int(seed))
    answers = program.play()
    with open(trace, "w") as file:
        print(json.dumps({"format": "gpupool-trace", "version": 1,
                          "devices": [{"device": 0}]}), file=file)
        for event in program.events:
            print(json.dumps(event), file=file)
    with open(key, "w") as file:
        json.dump(answers, file)
    # The trace does not have the device's memory.
    program.live.clear()


def chain(places):
    """For each request, the previous one at its address, or that it is new."""
    last, told = {}, []
    for number, (place, is_new, _) in enumerate(places):
        told.append("new" if is_new or place not in last else last[place])
        last[place] = number
    return told


def sizes(places):
    """For each request, the size of the block at its address.

    Up to 2.4, equal blocks are taken by their addresses, which are the host's.
    """
    first = {}
    for place, _, size in places:
        first.setdefault(place, 1 << (size - 1).bit_length())
    return [first[place] for place, _, _ in places]


def judge(key, events, report):
    with open(key) as file:
        theirs = json.load(file)
    ours, is_new = [], False
    with open(events) as file:
        for event in map(json.loads, file):
            if event["action"] == "segment_alloc":
                is_new = True
            elif event["action"] == "alloc":
                ours.append((event["addr"], is_new, event["size"]))
                is_new = False
    tell = chain if theirs["release"] >= [2, 5] else sizes
    wrong = [number for number, (a, b) in
             enumerate(zip(tell(theirs["places"]), tell(ours))) if a != b]
    is_all = len(ours) == len(theirs["places"]) > 1000
    print("each request got the block that it got of PyTorch"
          if is_all and not wrong
          else f"{len(ours)} requests; another block: {wrong[:5]}")
    with open(report) as file:
        stats = json.load(file)["runs"][0]["devices"][0]["memory_stats"]
    for name, value in theirs["stats"].items():
        which, part = name.split(".")
        # Up to 2.12, the memory in use is counted wrongly (docs/upstream), and
        # its peak is the sum of the peaks by size. Blocks in a reserve segment
        # are counted as if each were allocated on the host.
        if which.startswith("active"):
            if theirs["release"] < [2, 13] or part == "peak":
                continue
        elif "reserve" in theirs["conf"]:
            continue
        mine = stats[f"{OF_OURS[which]}.all.{part}"]
        if mine != value:
            print(f"{name}: PyTorch {value}, gpupool {mine}")


{"play": play, "judge": judge}[sys.argv[1]](*sys.argv[2:])
