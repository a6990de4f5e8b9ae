# SPDX-License-Identifier: MIT
"""Views, compared with the moments of the other model."""

import collections
import random


def block_of(moment, name):
    """The live block of that id, and its segment."""
    for segment, block in moment.blocks("allocated"):
        if block.id == name:
            return segment, block
    return None, None


def lives_of(held):
    """For each id that was served, the events of its request and its free."""
    lives = {}
    for at, line in enumerate(held.program.lines):
        op, *words = line.split()
        if op == "a" and int(words[1]) and not held.moments[at].oom:
            lives[int(words[0])] = [at, None]
        elif op == "f" and int(words[0]) in lives:
            lives[int(words[0])][1] = at
    return lives


def held_by(moment, group):
    """Blocks and bytes of each holder at that moment."""
    seen = collections.defaultdict(lambda: [0, 0])
    for segment, block in moment.blocks("allocated"):
        name = group(segment, block)
        seen[name][0] += 1
        seen[name][1] += block.size
    return dict(seen)


def by_site(held, moment):
    """The sites that requested the memory."""
    site_of = held.program.site_of
    return held_by(moment, lambda _, block: site_of[block.id])


def said_by_site(holders):
    return {row["site_name"]: [row["blocks"], row["bytes"]] for row in holders}


def hold_sites(held, at):
    told = held.report(
        "view holders", held.path, "--at", at, *held.program.options()
    )
    held.is_as(
        f"holders at {at}",
        said_by_site(told["holders"]),
        by_site(held, held.moments[at]),
    )


def hold_pools(held, at):
    """The pools of the block, which a request need not name."""
    told = held.report(
        "view holders", held.path, "--at", at, "--by", "pool",
        *held.program.options(),
    )
    said = [[row["blocks"], row["bytes"]] for row in told["holders"]]
    real = held_by(held.moments[at], lambda segment, _: segment.pool.private)
    held.is_as(f"pools at {at}", sorted(said), sorted(real.values()))


def hold_holders(held):
    """At some moments."""
    dice = random.Random(len(held.moments))
    for at in dice.sample(range(len(held.moments)), 3):
        hold_sites(held, at)
        hold_pools(held, at)


def hold_bands(held):
    """One column per event, and a band for each block."""
    told = held.report("view bands", held.path, *held.program.options())
    columns = told["columns"]
    for k, at in enumerate(columns["event"]):
        moment = held.moments[at]
        held.is_as(
            f"column of {at}",
            (columns["allocated_bytes"][k], columns["reserved_bytes"][k]),
            (moment.levels["allocated_bytes"], moment.reserved),
        )
    lives = lives_of(held)
    for band in told["bands"]:
        begin, end = lives[band["id"]]
        _, block = block_of(held.moments[begin], band["id"])
        held.is_as(
            f"band of {band['id']}",
            (band["bytes"], band["alloc_event"], band["free_event"]),
            (block.size, begin, end),
        )


def hold_block(held):
    """Where a block is."""
    lives = lives_of(held)
    dice = random.Random(len(held.moments))
    for name in dice.sample(sorted(lives), min(2, len(lives))):
        begin, end = lives[name]
        told = held.report(
            "view block", held.path, "--block", name, *held.program.options()
        )
        segment, block = block_of(held.moments[begin], name)
        held.is_as(
            f"block {name}",
            [
                told[key]
                for key in (
                    "bytes",
                    "requested_bytes",
                    "alloc_event",
                    "free_event",
                    "stream",
                )
            ],
            [block.size, block.requested, begin, end, segment.stream],
        )


def hold_events(held):
    """The state after each event."""
    told = held.report(
        "view events", held.path, "--rows", 1000, *held.program.options()
    )
    held.is_as("rows", told["found"], len(held.moments))
    for row, moment in zip(told["rows"], held.moments):
        held.is_as(
            f"row {row['event']}",
            (row["allocated_bytes"], row["reserved_bytes"]),
            (moment.levels["allocated_bytes"], moment.reserved),
        )
    refused = [row["event"] for row in told["rows"] if row.get("refused")]
    failed = [k for k, moment in enumerate(held.moments) if moment.oom]
    held.is_as("refused", refused, failed)


HOLDS = hold_holders, hold_bands, hold_block, hold_events
