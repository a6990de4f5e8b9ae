# SPDX-License-Identifier: MIT
"""Reports on several ranks, compared with the other model and with each rank
alone: the program, the same program again, and one that ends earlier."""

import json
import os
import random
import shutil

from runs import outcome


class Ranks:
    def __init__(self, held):
        count = len(held.program.lines)
        self.held = held
        self.end = random.Random(count).randrange(1, count)
        stem = os.path.splitext(held.path)[0]
        self.copy, self.part = f"{stem}-copy.json", f"{stem}-part.json"
        shutil.copy(held.path, self.copy)
        with open(held.path, encoding="utf-8") as whole:
            trace = json.load(whole)
        del trace["devices"][0]["events"][self.end :]
        with open(self.part, "w", encoding="utf-8") as part:
            json.dump(trace, part)

    def report(self, command):
        return self.held.report(
            command, self.held.path, self.copy, self.part,
            *self.held.program.options())  # fmt: skip

    def alone(self, command, path):
        return self.held.report(command, path, *self.held.program.options())

    def lines_of(self, path):
        lines = self.held.program.lines
        return lines[: self.end] if path == self.part else lines

    def paths(self):
        return self.held.path, self.part


def hold_runs(held, ranks):
    """Equal ranks are one class; each run is that of its rank."""
    told = ranks.report("replay")
    held.is_as(
        "classes of ranks",
        [rank["paths"] for rank in told["ranks"]["classes"]],
        [[held.path, ranks.copy], [ranks.part]],
    )
    for rank in told["rank_devices"]:
        ran = outcome(
            held, held.program.capacity, lines=ranks.lines_of(rank["trace"])
        )
        held.is_as(
            f"run of {os.path.basename(rank['trace'])}",
            (
                rank["peak_reserved_bytes"],
                rank["num_alloc_retries"],
                rank["num_ooms"],
            ),
            ran.numbers(),
        )


def hold_verdicts(held, ranks):
    """The results of each rank alone, and one setting that serves all those it
    is said to serve."""
    told = {
        device["trace"]: device["verdict"]
        for device in ranks.report("explain")["devices"]
    }
    alone = {
        path: ranks.alone("explain", path)["devices"][0]["verdict"]
        for path in ranks.paths()
    }
    # Each may need a setting of its own, and then none is good for both.
    is_joint = all(verdict["kind"] == "setting" for verdict in alone.values())
    for path, verdict in alone.items():
        said, name = told[path], os.path.basename(path)
        for key in "live", "need_as_recorded", "begins", "ends":
            held.is_as(f"{key} of {name}", said[key], verdict[key])
        if not is_joint:
            held.is_as(f"kind of {name}", said["kind"], verdict["kind"])
        if said["kind"] in ("fits", "setting"):
            ran = outcome(
                held, held.program.capacity, said["alloc_conf"],
                ranks.lines_of(path))  # fmt: skip
            held.is_as(f"served, {name}", not ran.ooms and ran.fits, True)
    advised = {
        verdict["alloc_conf"]
        for verdict in told.values()
        if verdict["alloc_conf"] is not None
    }
    held.is_as("settings for all ranks", len(advised) > 1, False)


def hold_ranks(held):
    ranks = Ranks(held)
    hold_runs(held, ranks)
    hold_verdicts(held, ranks)


HOLDS = (hold_ranks,)
