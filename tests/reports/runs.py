# SPDX-License-Identifier: MIT
"""Runs of the other model over a program's lines."""

import collections
import dataclasses

MARK = "mark"  # an event that asks for nothing
ENDLESS = 1 << 50  # memory that nothing uses up


class Counts(collections.Counter):
    """The peaks of the whole run, whatever the program resets."""

    def clear(self):
        pass


@dataclasses.dataclass
class Outcome:
    peak: int
    retries: int
    ooms: int
    fits: bool  # others keep all that they hold, too

    def numbers(self):
        return self.peak, self.retries, self.ooms


def ran_out(model, allocator, lines):
    """For each event, whether there was no memory for it."""
    for line in lines:
        op, *words = line.split()
        try:
            if op != MARK:
                allocator.step(op, words)
        except model.OutOfMemory:
            yield True
        else:
            yield False


def run_behind(model, program, event):
    """The allocator after that event."""
    allocator = model.Allocator(
        program.release, model.Device(program.capacity), program.conf
    )
    allocator.count = Counts()
    for _ in ran_out(model, allocator, program.lines[: event + 1]):
        pass
    return allocator


def outcome(held, capacity, conf=None, lines=None):
    """None: PyTorch refuses something."""
    model, program = held.model, held.program
    device = model.Device(capacity)
    conf = program.conf if conf is None else conf
    ran = Outcome(0, 0, 0, True)
    try:
        allocator = model.Allocator(program.release, device, conf)
        allocator.count = Counts()
        for failed in ran_out(model, allocator, lines or program.lines):
            ran.ooms += failed
            ran.peak = max(ran.peak, allocator.total)
            ran.fits = ran.fits and device.used + device.other <= capacity
    except model.Refused:
        return None
    ran.retries = allocator.count["num_alloc_retries"]
    return ran
