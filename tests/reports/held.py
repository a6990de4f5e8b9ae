#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports on a run, compared with another model of PyTorch's allocator.

Each seed gives a generated program.  The model runs it event by event, and the
contents of the reports are computed from it in a straightforward way: what was
free for a request, what segments consisted of, who held memory, and when a
limit was first exceeded.  The reports must agree.  The model and the generator
are oracle/model.py and gen.py in GPUPOOL_SHARED, or in ../shared next to the
checkout; without them, the test is skipped.
"""

import argparse
import collections
import dataclasses
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

import agree
import answers
import ranks
import texts
import views
import what_ifs
import written
from runs import ENDLESS, MARK, run_behind

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
SHARED = os.environ.get("GPUPOOL_SHARED", os.path.join(ROOT, "..", "shared"))
CLASSES = (
    "oom",
    "oomsplit",
    "oomgc",
    "oomfrac",
    "oomexpand",
    "streams",
    "pools",
    "poolsexpand",
    "default",
    "split",
    "expand",
    "mixed",
    "gc",
    "large",
    "reset",
)
RELEASES = "2.15.0", "2.11.0"
SITES = [f"train.py:{10 + k} f{k}" for k in range(6)]
OPS = {
    "pb": "pool_begin",
    "pe": "pool_end",
    "pr": "pool_release",
    "e": "empty_cache",
    "ra": "reset_accumulated_stats",
    "rp": "reset_peak_stats",
}
LEVELS = (
    "allocated_bytes",
    "active_bytes",
    "requested_bytes",
    "inactive_split_bytes",
)


def load(name):
    path = os.path.join(SHARED, "oracle", f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- a program ----


@dataclasses.dataclass
class Program:
    lines: list
    release: str
    capacity: int
    conf: str
    events: list = dataclasses.field(default_factory=list)
    site_of: dict = dataclasses.field(default_factory=dict)

    def torch(self):
        return self.release.rsplit(".", 1)[0]

    def options(self):
        return (
            "--torch", self.torch(),
            "--alloc-conf", self.conf,
            "--capacity", str(self.capacity),
        )  # fmt: skip


def event_of(program, line, dice):
    op, *words = line.split()
    if op == MARK:
        return {"op": "mark", "name": "step"}
    if op == "a":
        site = dice.randrange(len(SITES))
        program.site_of[int(words[0])] = SITES[site]
        return {
            "op": "alloc",
            "id": int(words[0]),
            "size": int(words[1]),
            "stream": int(words[2]),
            "site": site,
        }
    if op == "f":
        return {"op": "free", "id": int(words[0])}
    if op == "r":
        return {
            "op": "record_stream",
            "id": int(words[0]),
            "stream": int(words[1]),
        }
    if op == "d":
        return {"op": "synchronize", "stream": int(words[0])}
    if op == "l":
        return {"op": "set_memory_fraction", "fraction": float(words[0])}
    if op == "o":
        return {"op": "other_memory", "bytes": int(words[0])}
    event = {"op": OPS[op]}
    if words:
        event["pool"] = [0, int(words[0])]
    return event


def make_program(gen, seed):
    dice = random.Random(seed)
    text = gen.gen(seed, dice.choice(CLASSES), dice.choice([60, 120, 200]))
    env = {}
    for line in text.splitlines():
        if line.startswith("# env"):
            env = dict(word.split("=", 1) for word in line.split()[2:])
    lines = [at for at in text.splitlines() if at and not at.startswith("#")]
    for at in sorted(dice.sample(range(1, len(lines)), 5), reverse=True):
        lines.insert(at, MARK)
    program = Program(
        lines, dice.choice(RELEASES),
        int(env.get("FAKECUDA_CAPACITY", 80 << 30)),
        env.get("PYTORCH_CUDA_ALLOC_CONF", ""),
    )  # fmt: skip
    for line in lines:
        program.events.append(event_of(program, line, dice))
    return program


def write_trace(program, path):
    device = {
        "device": 0,
        "total_memory": program.capacity,
        "events": program.events,
    }
    with open(path, "w", encoding="utf-8") as out:
        minor = int(program.release.split(".")[1])
        json.dump(
            {
                "format": "gpupool-trace",
                "version": 1,
                "sites": SITES,
                "settings": program.conf,
                "devices": [device],
                "release": {"first": minor, "last": minor},
            },
            out,
        )


# ---- what the model sees ----


@dataclasses.dataclass
class Block:
    id: int | None
    size: int
    requested: int
    state: str  # allocated, free or pending_free


@dataclasses.dataclass
class Segment:
    address: int
    stream: int
    pool: object  # as the model has it
    blocks: list

    def size(self):
        return sum(block.size for block in self.blocks)


@dataclasses.dataclass
class Moment:
    """The state after an event."""

    reserved: int
    levels: dict
    segments: list
    retries: int
    ooms: int
    oom: dict | None  # of the request, if it failed
    # Bytes of what the program holds, or failed to get, and of others.
    wanted: int
    released: int  # bytes released while it was served

    def blocks(self, state):
        return [
            (segment, block)
            for segment in self.segments
            for block in segment.blocks
            if block.state == state
        ]


def chains(allocator):
    """The first block of each segment from cudaMalloc, or of each range of
    addresses."""
    blocks = [block for block in allocator.live.values() if block]
    pools = [allocator.large, allocator.small]
    for private in list(allocator.private.values()):
        pools += [private.large, private.small]
    for pool in pools:
        blocks += pool.free.blocks
    for stream in list(allocator.events.keys()):
        blocks += [block for _, block in allocator.events[stream]]
    blocks += allocator.deferred
    heads = {}
    for block in blocks:
        while block.prev:
            block = block.prev
        heads[id(block)] = block
    return heads.values()


def state_of(block):
    if block.allocated:
        return "allocated"
    return "free" if block.usable() else "pending_free"


def segments_of(allocator):
    """The segments of a snapshot: each run of mapped blocks is one."""
    ids = {id(b): int(name) for name, b in allocator.live.items() if b}
    segments = []
    for block in chains(allocator):
        run = None
        while block:
            if not block.mapped:
                run = None
            else:
                if run is None:
                    run = Segment(block.ptr, block.stream, block.pool, [])
                    segments.append(run)
                run.blocks.append(
                    Block(
                        ids.get(id(block)),
                        block.size,
                        block.requested,
                        state_of(block),
                    )
                )
            block = block.next
    return sorted(segments, key=lambda segment: segment.address)


def watch(model, program):
    """A moment for each event; None if PyTorch raises another error."""
    allocator = model.Allocator(
        program.release, model.Device(program.capacity), program.conf
    )
    moments = []
    wanted = {}  # bytes that the program holds, or failed to get
    for line in program.lines:
        op, *words = line.split()
        told = len(allocator.trace)
        oom = None
        if op == "a" and int(words[1]):
            wanted[words[0]] = model.up(int(words[1]), 512)
        try:
            if op != MARK:
                allocator.step(op, words)
        except model.OutOfMemory:
            pool = allocator.get_pool(allocator.conf.round_size(int(words[1])))
            room = max(
                allocator.total,
                allocator.device.capacity - allocator.device.other,
            )
            oom = {
                "pool": pool, "stream": int(words[2]),
                "device_free": allocator.device.free(),
                "needed": sum(wanted.values()),
                "available": room if allocator.limit is None
                else min(room, allocator.limit),
            }  # fmt: skip
        except model.Refused:
            return None
        if op == "f":
            wanted.pop(words[0], None)
        stats = allocator.stats
        moments.append(Moment(
            allocator.total,
            {name: stats[name, "all"].current for name in LEVELS},
            segments_of(allocator),
            allocator.count["num_alloc_retries"], allocator.count["num_ooms"],
            oom, sum(wanted.values()) + allocator.device.other,
            sum(entry[2] for entry in allocator.trace[told:]
                if entry[0] in ("segment_free", "segment_unmap")),
        ))  # fmt: skip
    return moments


# ---- reports ----


class Held:
    """Runs gpupool on a trace, and notes what differs in its reports.

    at: for each event of the trace, the event of the program. start: for a
    window, the last event of the program before the trace.
    """

    def __init__(
        self, gpupool, model, program, moments, path, at=None, start=None
    ):
        self.gpupool, self.model, self.path = gpupool, model, path
        self.program = program
        self.at = range(len(moments)) if at is None else at
        self.is_part = at is not None
        self.moments = [moments[event] for event in self.at]
        self.start = start
        self.at_start = None if start is None else moments[start]
        self.wrong = []
        self.told = {}  # the differences, by command

    def report(self, command, *words):
        asked = (*command.split(), *map(str, words), "--format", "json")
        if asked not in self.told:
            done = subprocess.run(
                [self.gpupool, *asked],
                capture_output=True, text=True, check=False)  # fmt: skip
            if done.returncode not in (0, 1):
                raise RuntimeError(f"{command}: {done.stderr.strip()}")
            self.told[asked] = json.loads(done.stdout)
        return self.told[asked]

    def text(self, command):
        """The text reports on the program's run."""
        asked = (command, self.path, *self.program.options())
        if asked not in self.told:
            self.told[asked] = subprocess.run(
                [self.gpupool, *asked],
                capture_output=True, text=True, check=False).stdout  # fmt: skip
        return self.told[asked]

    def behind(self, event):
        """The allocator after that event of the trace."""
        return run_behind(self.model, self.program, self.at[event])

    def explained(self, told):
        """The allocator at the moment that is explained."""
        event = self.start if told["before"] else self.at[told["event"]]
        return run_behind(self.model, self.program, event)

    def is_as(self, what, said, seen):
        if said != seen:
            self.wrong.append(f"{what}: {said} is said, {seen} is so")


def sizes(blocks):
    return sum(block.size for _, block in blocks)


def first_most(moments, value):
    """The first moment at which the value is largest, and that value."""
    values = [value(moment) for moment in moments]
    return values.index(max(values)), max(values)


def moment_numbers(moment):
    free = [block.size for _, block in moment.blocks("free")]
    return [
        moment.reserved,
        *(moment.levels[name] for name in LEVELS),
        max(free, default=0),
    ]


def hold_replay(held):
    """Peaks, moments and the timeline."""
    told = held.report("replay", held.path, *held.program.options())
    device = told["runs"][0]["devices"][0]
    measures, line = device["measures"], device["timeline"]
    keys = ("reserved_bytes", *LEVELS, "largest_free_bytes")
    peak, reserved = first_most(held.moments, lambda m: m.reserved)
    held.is_as("peak", measures["at_peak"]["event"], peak)
    for name, at in ("at_peak", peak), ("at_end", -1):
        held.is_as(
            name,
            [measures[name][key] for key in keys],
            moment_numbers(held.moments[at]),
        )
    fullest, _ = first_most(
        held.moments,
        lambda m: (m.reserved == reserved) * (1 + m.levels["allocated_bytes"]),
    )
    held.is_as("fullest", measures["at_fullest"]["event"], fullest)
    count, bins = len(held.moments), line["bins"]
    for k in range(bins):
        part = held.moments[-(-k * count // bins) : -(-(k + 1) * count // bins)]
        held.is_as(
            f"timeline {k}",
            line["reserved_bytes"][k],
            max(moment.reserved for moment in part),
        )


def hold_request(held, told, moment):
    """The memory that the first failed request could have had."""
    oom, said = moment.oom, told["request"]
    free = moment.blocks("free")
    pool = [(s, b) for s, b in free if s.pool is oom["pool"]]
    own = [(s, b) for s, b in pool if s.stream == oom["stream"]]
    held.is_as("device free", said["device_free"], oom["device_free"])
    held.is_as(
        "largest free",
        said["largest_free"],
        max((block.size for _, block in own), default=0),
    )
    held.is_as("its own", said["free_in_its_stream_and_pool"], sizes(own))
    held.is_as(
        "other streams",
        said["free_in_other_streams"],
        sizes(pool) - sizes(own),
    )
    held.is_as(
        "other pools", said["free_in_other_pools"], sizes(free) - sizes(pool)
    )


def most_allocated(held):
    """At the start of a window, and at any moment of it."""
    moments = [held.at_start, *held.moments]
    allocated = [moment.levels["allocated_bytes"] for moment in moments]
    return allocated[0], max(allocated)


def hold_explain(held):
    """The first failed request, and what the moment is made of."""
    told = held.report("explain", held.path, *held.program.options())
    told = told["devices"][0]
    failed = [k for k, m in enumerate(held.moments) if m.oom]
    held.is_as("OOMs", [oom["event"] for oom in told["ooms"]], failed)
    for said, at in zip(told["ooms"], failed):
        oom = held.moments[at].oom
        held.is_as(
            f"needed {at}",
            (said["needed"], said["available"]),
            (oom["needed"], oom["available"]),
        )
    moment = held.moments[told["event"]]
    if told["before"]:
        moment = held.at_start
        held.is_as("the start holds most", *most_allocated(held))
    if failed:
        held.is_as("first OOM", told["event"], failed[0])
        hold_request(held, told, moment)
    gap = told["gap"]
    held.is_as("reserved", gap["reserved_bytes"], moment.reserved)
    held.is_as(
        "allocated", gap["allocated_bytes"], sizes(moment.blocks("allocated"))
    )
    held.is_as(
        "requested", gap["requested_bytes"], moment.levels["requested_bytes"]
    )
    by_stream = collections.Counter()
    for state in "free", "pending_free":
        for segment, block in moment.blocks(state):
            by_stream[segment.stream] += block.size
    held.is_as(
        "by stream",
        {s["stream"]: s["bytes"] for s in gap["by_stream"]},
        dict(by_stream),
    )
    held.is_as(
        "pending",
        told["pending_free"]["peak_bytes"],
        max(sizes(m.blocks("pending_free")) for m in held.moments),
    )
    for given in told["released_to_serve"]:
        held.is_as(
            f"released {given['event']}",
            given["bytes"],
            held.moments[given["event"]].released,
        )
    hold_holders(held, told)
    if not held.is_part:
        hold_counts(held, told)
    hold_cached(held, told)
    hold_pins_now(held, told)
    if not moment_has_pools(moment):
        hold_pins(held, told)
    if told["steps_by"] == "marks":
        hold_steps(held, told["steps"])


def hold_counts(held, told):
    """The peaks of the whole run, whatever the program resets."""
    seen = held.behind(len(held.at) - 1).count
    held.is_as(
        "calls and retries",
        (
            told["device_allocs"],
            told["num_device_free"],
            told["num_alloc_retries"],
        ),
        (
            seen["num_device_alloc"],
            seen["num_device_free"],
            seen["num_alloc_retries"],
        ),
    )


def hold_cached(held, told):
    """empty_cache releases cached memory, and only such as was pending free in
    addition."""
    allocator = held.explained(told)
    if allocator.routes:
        return
    reserved = allocator.total
    allocator.release_cached((0, 0))
    released = reserved - allocator.total
    reasons = told["gap"]["by_reason"]
    least = reasons["cached"]["bytes"]
    most = least + reasons["pending_free"]["bytes"]
    held.is_as("least released", min(released, least), least)
    held.is_as("most released", max(released, most), most)


def moment_has_pools(moment):
    """Memory of private pools is not released."""
    return any(segment.pool.private for segment in moment.segments)


def hold_steps(held, steps):
    """A step includes the state at its mark, and ends at the next one."""
    begins = [step["event"] for step in steps]
    for step, begin, end in zip(steps, begins, begins[1:] + [None]):
        part = held.moments[begin:end]
        allocated = [moment.levels["allocated_bytes"] for moment in part]
        held.is_as(
            f"step {begin}",
            (
                step["peak_reserved_bytes"],
                step["peak_allocated_bytes"],
                step["largest_gap_bytes"],
                step["allocated_at_end_bytes"],
            ),
            (
                max(moment.reserved for moment in part),
                max(allocated),
                max(m.reserved - a for m, a in zip(part, allocated)),
                allocated[-1],
            ),
        )


def is_there(allocator, unit):
    """Whether any of its bytes are still reserved from the device."""
    for segment in segments_of(allocator):
        begin, end = segment.address, segment.address + segment.size()
        if begin < unit["addr"] + unit["size"] and unit["addr"] < end:
            return True
    return False


def hold_pins(held, told):
    """Without the blocks that pin it, a segment or page is released; without
    all of them but one it is not."""
    for unit in told["pinned"][:3]:
        for left in range(min(2, len(unit["by"]))):
            allocator = held.explained(told)
            if allocator.routes:
                return
            for name in map(str, unit["by"][left:]):
                block, allocator.live[name] = allocator.live[name], None
                block.stream_uses = None
                allocator.free(block)
            allocator.release_cached((0, 0))
            held.is_as(
                f"pins of {unit['addr']:#x}, {left} left",
                is_there(allocator, unit),
                left > 0,
            )


def hold_pins_now(held, told):
    """Blocks by requesting site, each counted once, whatever it lies in."""
    blocks = collections.defaultdict(set)
    units = collections.Counter()
    shares = collections.Counter()
    holders = sum(len(unit["by"]) for unit in told["pinned"])
    for unit in told["pinned"]:
        sites = [held.program.site_of[name] for name in unit["by"]]
        units.update(set(sites))
        for site, name in zip(sites, unit["by"]):
            blocks[site].add(name)
            shares[site] += unit["free"] / len(sites)
    for row in told["pins_now"]:
        site = row["site_name"]
        held.is_as(
            f"pins of {site}",
            (row["blocks"], row["segments"]),
            (len(blocks[site]), units[site]),
        )
        # The shares of a unit are whole bytes.
        near = abs(row["bytes"] - shares[site]) <= holders
        held.is_as(f"bytes that {site} pins", near, True)
    held.is_as("who pins", len(told["pins_now"]), len(blocks))


def hold_holders(held, told):
    """On a device that is too small, the moment with the highest demand; up to
    there, the run is that of an unlimited device."""
    at, moments = told["in_use_event"], held.moments
    if told.get("verdict", {}).get("kind") == "too-small":
        fullest, most = first_most(moments, lambda m: m.wanted)
        held.is_as("fullest of the program", at, fullest)
        held.is_as("too small", most > held.program.capacity, True)
        endless = dataclasses.replace(held.program, capacity=ENDLESS)
        watched = watch(held.model, endless)
        moments = [watched[event] for event in held.at]
    else:
        held.is_as("looked at", at, told["event"])
        held.is_as("looks", told["in_use_before"], told["before"])
    held.is_as(
        "holders",
        views.said_by_site(told["in_use"]),
        views.by_site(
            held, held.at_start if told["in_use_before"] else moments[at]
        ),
    )


def message_of(held):
    """PyTorch's message for the first failed request; None: there is none."""
    told = held.report("replay", held.path, *held.program.options())
    oom = told["runs"][0]["devices"][0]["first_oom"]
    return oom and oom["message"]


def hold_log(held):
    """The conclusions from the message alone, without the trace."""
    message, path = message_of(held), held.path + ".log"
    if not message or "Tried to allocate" not in message:
        return
    at = next(k for k, m in enumerate(held.moments) if m.oom)
    moment = held.moments[at]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"step 1\n[rank0]: torch.OutOfMemoryError: {message}\n")
    told = held.report("look", path)
    held.is_as("line of the message", (told["line"], told["messages"]), (2, 1))
    # Sizes are printed with two decimals, and two of them are subtracted.
    largest = max(told["total_bytes"], told["reserved_bytes"])
    near = 3 * (1 << (30 if largest > 1 << 30 else 20)) // 200
    for said, seen in (
        (told["reserved_bytes"], moment.reserved),
        (told["allocated_bytes"], moment.levels["allocated_bytes"]),
        (told["free_bytes"], moment.oom["device_free"]),
    ):
        held.is_as("printed size", abs(said - seen) <= near, True)
    needed = moment.levels["allocated_bytes"] + int(
        held.program.lines[held.at[at]].split()[2]
    )
    if told["cause"] != "fragmentation":
        held.is_as("worth a try", told["worth_a_try"], None)
    if told["missing_bytes"]:
        held.is_as("a lack", needed > moment.oom["available"], True)
    elif needed - (20 << 20) - 2 * near > moment.oom["available"]:
        held.wrong.append(f"{told['cause']}, but {needed} are needed")
    # So empty_cache() would have released nothing.
    allocator = held.behind(at)
    if not allocator.routes:
        reserved = allocator.total
        allocator.release_cached((0, 0))
        held.is_as("given back", reserved - allocator.total, 0)


def hold_view(held):
    """Segments and blocks at some moments."""
    dice = random.Random(len(held.moments))
    for at in dice.sample(range(len(held.moments)), 3):
        told = held.report(
            "view state", held.path, "--at", at, *held.program.options()
        )
        said = [
            (
                s["address"],
                s["stream"],
                s["small"],
                [(b["bytes"], b["state"]) for b in s["blocks"]],
            )
            for s in told["segments"]
        ]
        seen = [
            (
                s.address,
                s.stream,
                s.pool.small,
                [(b.size, b.state) for b in s.blocks],
            )
            for s in held.moments[at].segments
        ]
        held.is_as(f"state {at}", said, seen)


def said_alike(event):
    """What distinguishes events, in a trace and in a part of it."""
    stream = event.get("stream") or 0  # the default stream may be omitted
    keys = "op", "id", "size", "pool", "name"
    return stream, [event.get(key) for key in keys]


def events_of_part(path, events, first):
    """For each event of a part, the program's event, from `first` on. What a
    start state cannot hold precedes as events, with others in between."""
    at, next_one = [], first
    with open(path, encoding="utf-8") as file:
        next(file)  # the header
        for line in file:
            is_next = next_one < len(events) and said_alike(
                json.loads(line)
            ) == said_alike(events[next_one])
            at.append(next_one - (not is_next))
            next_one += is_next
    return at


def first_of_part(moments):
    """Any event; for every third program, the one with the most in use."""
    dice = random.Random(len(moments))
    first = dice.randrange(1, len(moments))
    fullest, _ = first_most(moments, lambda m: m.levels["allocated_bytes"])
    is_fullest = not dice.randrange(3) and fullest + 1 < len(moments)
    return fullest + 1 if is_fullest else first


def hold_part(held):
    """The same for a window, which begins with the state at that point,
    provided that nothing matters which a start state cannot hold: garbage
    collection, limits, earlier failures, and from 2.12 on the order in which
    segments were created."""
    program, moments = held.program, held.moments
    ops = {event["op"] for event in program.events}
    first = first_of_part(moments)
    before, *behind = [moment.reserved for moment in moments[first - 1 :]]
    if (
        program.release != "2.11.0"
        or "garbage_collection" in program.conf
        or ops & {"set_memory_fraction", "other_memory"}
        or any(moment.oom for moment in moments[:first])
    ):
        return
    path = f"{held.path}.part.jsonl"
    subprocess.run(
        [held.gpupool, "slice", held.path, path, "--from", str(first)],
        check=True,
    )
    at = events_of_part(path, program.events, first)
    part = Held(held.gpupool, held.model, program, moments, path, at, first - 1)
    part.is_as("end of the part", at[-1], len(moments) - 1)
    hold_explain(part)
    # The start counts, but is not an event and so not among the moments.
    if before <= behind[0] and before < max(behind):
        hold_replay(part)
        hold_view(part)
    held.wrong += [f"from {first}: {wrong}" for wrong in part.wrong]


def hold_diff(held):
    """What both peaks are made of."""
    told = held.report("diff", held.path, *held.program.options())
    said = told["changes"][0]["b"]
    moment, parts = held.moments[said["event"]], said["parts"]
    live = moment.blocks("allocated")
    asked = sum(block.requested for _, block in live)
    held.is_as("live set", parts["live_set"], asked)
    held.is_as("rounding", parts["rounding"], sizes(live) - asked)
    held.is_as(
        "diff's pending",
        parts["pending_free"],
        sizes(moment.blocks("pending_free")),
    )
    _, peak = first_most(held.moments, lambda m: m.reserved)
    held.is_as("parts", sum(parts.values()), peak)


def hold_check(held):
    """Where limits of a third of the maxima are first exceeded."""
    values = {
        "peak_reserved_bytes": lambda m: m.reserved,
        "peak_allocated_bytes": lambda m: m.levels["allocated_bytes"],
        "num_ooms": lambda m: m.ooms,
        "num_alloc_retries": lambda m: m.retries,
    }
    if any(event["op"].startswith("reset") for event in held.program.events):
        return
    bounds = {
        name: first_most(held.moments, value)[1] // 3
        for name, value in values.items()
    }
    folder, name = os.path.split(held.path)
    run = {
        "name": "run",
        "trace": name,
        "limits": bounds,
        "torch": held.program.torch(),
        "capacity": str(held.program.capacity),
    }
    gate = os.path.join(folder, "gpupool.json")
    with open(gate, "w", encoding="utf-8") as out:
        json.dump({"limits": {"fidelity": None}, "runs": [run]}, out)
    subprocess.run([held.gpupool, "check", "-q", "--update", gate], check=True)
    told = held.report("check -q", gate)
    for limit in told["files"][0]["runs"][0]["devices"][0]["limits"]:
        value = values.get(limit["number"])
        if value is None:
            continue
        beyond = [
            k
            for k, moment in enumerate(held.moments)
            if value(moment) > bounds[limit["number"]]
        ]
        held.is_as(
            limit["number"], limit["event"], beyond[0] if beyond else None
        )


HOLDS = (
    hold_replay,
    hold_explain,
    hold_log,
    hold_view,
    hold_part,
    hold_diff,
    hold_check,
    *agree.HOLDS,
    *answers.HOLDS,
    *ranks.HOLDS,
    *texts.HOLDS,
    *views.HOLDS,
    *what_ifs.HOLDS,
    *written.HOLDS,
)


def hold_all(args, model, gen, seed):
    """None: PyTorch refuses something; otherwise the differences."""
    try:
        program = make_program(gen, seed)
        moments = watch(model, program)
    except model.Refused:
        return None
    if moments is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        write_trace(program, path)
        held = Held(args.gpupool, model, program, moments, path)
        for hold in HOLDS:
            hold(held)
    return held.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    args = parser.parse_args()
    args.gpupool = os.path.abspath(args.gpupool)
    try:
        model, gen = load("model"), load("gen")
    except FileNotFoundError:
        print("skip reports-held: the model is in $GPUPOOL_SHARED or ../shared")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for seed in range(args.seed, args.seed + args.count):
        wrong = hold_all(args, model, gen, seed)
        if wrong is None:
            continue
        failed += bool(wrong)
        passed += not wrong
        if wrong:
            print(f"FAIL reports of program {seed}")
            for line in wrong[:5]:
                print(f"    {line[:400]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
