# SPDX-License-Identifier: MIT
"""Runs written for other tools, compared with the other model."""

import collections
import csv
import io
import json
import pickle
import subprocess

FREED = "(freed, waiting for a stream)"
UNUSED = "(reserved, not allocated)"
STATES = {
    "active_allocated": "allocated",
    "active_awaiting_free": "pending_free",
    "active_pending_free": "pending_free",
    "inactive": "free",
}


def written(held, form):
    return subprocess.run(
        [held.gpupool, "convert", held.path, "-", "--run", "--to", form,
         *held.program.options()],
        capture_output=True, check=True).stdout  # fmt: skip


def row_of(held, at):
    """The row that CSV has for that event, without its site."""
    event, moment = held.program.events[at], held.moments[at]
    free = [block.size for _, block in moment.blocks("free")]
    row = {
        "event": at,
        "op": event["op"],
        "id": event.get("id", ""),
        "reserved": moment.reserved,
        "allocated": moment.levels["allocated_bytes"],
        "active": moment.levels["active_bytes"],
        "requested": moment.levels["requested_bytes"],
        "inactive_split": moment.levels["inactive_split_bytes"],
        "largest_free": max(free, default=0),
        "ooms": moment.ooms,
    }
    return {key: str(value) for key, value in row.items()}


def hold_csv(held):
    rows = list(csv.DictReader(io.StringIO(written(held, "csv").decode())))
    held.is_as("rows of CSV", len(rows), len(held.moments))
    for at, row in enumerate(rows):
        seen = row_of(held, at)
        held.is_as(f"row {at}", {key: row[key] for key in seen}, seen)


def fullest(held):
    """Among the moments with the most reserved, the one with the most in
    use."""
    peak = max(moment.reserved for moment in held.moments)
    at = [
        k for k, moment in enumerate(held.moments) if moment.reserved == peak
    ]
    return max(
        at, key=lambda k: (held.moments[k].levels["allocated_bytes"], -k)
    )


def hold_stacks(held):
    """The parts of the peak, as stacks."""
    at = fullest(held)
    moment = held.moments[at]
    seen = collections.Counter()
    for _, block in moment.blocks("allocated"):
        seen[held.program.site_of[block.id]] += block.size
    for state, name in ("pending_free", FREED), ("free", UNUSED):
        for _, block in moment.blocks(state):
            seen[name] += block.size
    said = collections.Counter()
    for line in written(held, "folded").decode().splitlines():
        stack, _, size = line.rpartition(" ")
        said[FREED if stack.endswith(FREED) else stack] += int(size)
    held.is_as("folded", dict(said), dict(seen))
    profile = json.loads(written(held, "speedscope"))["profiles"][0]
    held.is_as(
        "speedscope",
        (profile["name"], profile["endValue"], sum(profile["weights"])),
        (f"device 0 at the peak, event {at}", *[moment.reserved] * 2),
    )


def hold_counters(held):
    """Each counter is written when it changes."""
    changes = collections.defaultdict(dict)
    for event in json.loads(written(held, "perfetto"))["traceEvents"]:
        if event["ph"] == "C":
            changes[event["ts"]][event["name"]] = event["args"]["bytes"]
    said = {}
    for at, moment in enumerate(held.moments):
        said.update(changes[at + 1])  # one microsecond per event
        names = "allocated", "active", "inactive_split"
        seen = {name: moment.levels[f"{name}_bytes"] for name in names}
        seen["reserved"] = moment.reserved
        held.is_as(f"counters at {at}", said, seen)


def hold_snapshot(held):
    """PyTorch's own snapshot of the end."""
    said = pickle.loads(written(held, "pickle"))["segments"]
    held.is_as(
        "segments of the snapshot",
        [
            (
                segment["address"],
                segment["stream"],
                segment["segment_type"] == "small",
                [(b["size"], STATES[b["state"]]) for b in segment["blocks"]],
            )
            for segment in sorted(said, key=lambda one: one["address"])
        ],
        [
            (
                segment.address,
                segment.stream,
                segment.pool.small,
                [(block.size, block.state) for block in segment.blocks],
            )
            for segment in held.moments[-1].segments
        ],
    )


HOLDS = hold_csv, hold_stacks, hold_counters, hold_snapshot
