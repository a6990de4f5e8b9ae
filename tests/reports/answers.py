# SPDX-License-Identifier: MIT
"""Answers that take many replays, compared with the other model: the smallest
memory, other settings, and the packing that floor finds."""

import csv
import io
import random
import re
import subprocess

from runs import ENDLESS, outcome

GRAIN = 2 << 20
CONFS = (
    "",
    "max_split_size_mb:32",
    "garbage_collection_threshold:0.5",
    "expandable_segments:True",
    "roundup_power2_divisions:4",
)


def said_numbers(told):
    return (
        told["peak_reserved_bytes"],
        told["num_alloc_retries"],
        told["num_ooms"],
    )


# ---- headroom ----


def is_fine(held, capacity, conf, name):
    ran = outcome(held, capacity, conf)
    served = not ran.ooms and (name == "no_oom" or not ran.retries)
    return served and ran.fits


def hold_bound(held, name, bound, dice):
    """Enough at this size and above, and not just below it."""
    least, top = bound["capacity"], bound["known_to"]
    tried = {least, top}
    if not bound["unknown_above"]:
        for _ in range(4):
            steps = (top - least) // GRAIN
            tried.add(least + dice.randint(0, steps) * GRAIN)
    for capacity in sorted(tried):
        held.is_as(
            f"{name} at {capacity}",
            True,
            is_fine(held, capacity, None, name),
        )
    for key, fine in ("failing", False), ("fine_below", True):
        if bound[key]:
            held.is_as(
                f"{name} {key}", fine, is_fine(held, bound[key], None, name)
            )
    if bound["fine_below"] and not bound["unknown_below"]:
        below = bound["fine_below"] - GRAIN
        held.is_as(
            f"{name} below all", False, is_fine(held, below, None, name)
        )


def hold_headroom(held):
    told = held.report("headroom", held.path, *held.program.options())
    device = told["headroom"][0]["devices"][0]
    dice = random.Random(len(held.moments))
    for name in "no_oom", "no_retry":
        if device[name]:
            hold_bound(held, name, device[name], dice)
    for point in device["curve"]:
        ran = outcome(held, point["capacity"])
        held.is_as(
            f"at {point['capacity']}", said_numbers(point), ran.numbers()
        )


# ---- fit ----


def hold_fit(held):
    """PyTorch's need on another device that nobody else uses."""
    program = held.program
    told = held.report("fit --gpu t4 --trace", held.path)
    if told["devices"][0]["verdict"]["kind"] == "undecided":
        return
    lines = [line for line in program.lines if line.split()[0] != "o"]
    need = told["needs"]["pytorch_bytes"]
    for capacity, served in (need, True), (need - GRAIN, False):
        ran = outcome(held, capacity, lines=lines)
        held.is_as(f"fit at {capacity}", served, not ran.ooms)
    gpu = told["gpu"]
    room = gpu["bytes"] - gpu["non_pytorch_high_bytes"]
    ran = outcome(held, room, lines=lines)
    held.is_as("fits", told["fits"], not ran.ooms)
    if not ran.ooms:
        used = ran.peak + gpu["non_pytorch_high_bytes"]
        held.is_as("nvidia-smi", told["nvidia_smi_bytes"], used)


# ---- other settings ----

SPLIT, GC = "max_split_size_mb", "garbage_collection_threshold"


def settings_of(program):
    return [w for w in re.split(r",(?![^\[]*\])", program.conf) if w]


def hold_tried(held):
    """What was tried, and the need of each."""
    program = held.program
    told = held.report("explain", held.path, *program.options())
    dice = random.Random(len(held.moments))
    tried = [t for t in told["tried"] if not t["refusal"]]
    for trial in dice.sample(tried, min(4, len(tried))):
        conf = trial["alloc_conf"]
        ran = outcome(held, program.capacity, conf)
        held.is_as(f"tried {conf}", said_numbers(trial), ran.numbers())
        need = trial.get("need")
        if not need:
            continue
        held.is_as(
            f"need of {conf}", True, is_fine(held, need, conf, "no_oom")
        )
        held.is_as(
            f"below the need of {conf}",
            False,
            is_fine(held, need - GRAIN, conf, "no_oom"),
        )


def hold_sweep(held):
    """The numbers of each run, and the order of the runs."""
    program = held.program
    words = [word for conf in CONFS for word in ("--alloc-conf", conf)]
    told = held.report(
        "sweep", held.path, "--torch", program.torch(),
        "--capacity", program.capacity, *words,
    )  # fmt: skip
    for run in told["runs"]:
        ran = outcome(held, program.capacity, run["alloc_conf"])
        if ran is None or not run["summary"]:
            continue
        held.is_as(
            f"sweep {run['alloc_conf']}",
            said_numbers(run["summary"]),
            ran.numbers(),
        )
    order = [
        (row["summary"]["dropped"], row["summary"]["peak_reserved_bytes"])
        for row in told["ranking"]
    ]
    held.is_as("order", order, sorted(order))


def draw(program, dice):
    """Several settings at once, in addition to the program's own."""
    large = dice.choice([20, dice.randint(11, 300)])
    chosen = {
        "expandable_segments": dice.choice([None, True]),
        "roundup_power2_divisions": dice.choice([None, 1, 2, 4, 8, 32]),
        "large_segment_size_mb": large,
        SPLIT: dice.choice([0, large + dice.randint(1, 200)]),
        GC: dice.choice([0, dice.randint(1, 99) / 100]),
    }
    words = [f"{key}:{value}" for key, value in chosen.items() if value]
    for word in settings_of(program):
        if chosen.get(word.split(":")[0]) is None:
            words.append(word)
    return ",".join(words)


def hold_least(held, need):
    """No drawn setting has a lower need: with a granule less it fails, or it
    needs more than that again."""
    dice = random.Random(need)
    for _ in range(8):
        conf = draw(held.program, dice)
        if outcome(held, need, conf) is None:
            continue
        tried = [need + GRAIN * step for step in (-1, 0, 1, 3, 7, 15)]
        served = all(is_fine(held, at, conf, "no_oom") for at in tried)
        held.is_as(f"{conf} below the least need", False, served)


def hold_verdict(held):
    """The recommended setting serves everything and has the reported need; if
    the report says that nothing helps, nothing does."""
    program = held.program
    told = held.report("explain", held.path, *program.options())
    verdict = told["devices"][0]["verdict"]
    kind, conf = verdict["kind"], verdict["alloc_conf"]
    fine = is_fine(held, program.capacity, None, "no_oom")
    held.is_as("fits", kind == "fits", fine)
    if kind in ("too-small", "no-setting"):
        for other in CONFS:
            ran = outcome(held, program.capacity, other)
            if ran:
                held.is_as(f"{other} helps", False, not ran.ooms and ran.fits)
        tried = [
            trial["need"]
            for trial in told["tried"]
            if trial.get("need") and not trial["excluded"]
        ]
        held.is_as("least need", verdict["need"], min(tried))
        if verdict["complete"] and kind == "no-setting":
            hold_least(held, verdict["need"])
        return
    if conf is not None:
        served = is_fine(held, program.capacity, conf, "no_oom")
        held.is_as(f"{conf} serves", True, served)
    for below, served in (0, True), (GRAIN, False):
        need = verdict["need"] - below
        held.is_as(f"at {need}", served, is_fine(held, need, conf, "no_oom"))


# ---- every value of a setting ----


def is_within(value, least, most, is_gc):
    """Whether a class includes that value; None: the setting is not set."""
    if is_gc and least is None:
        return value is None  # garbage collection is off
    if value is None:
        return most is None
    return least <= value and (most is None or value <= most)


def hold_classes(held):
    """Each value belongs to a class, and has the result of the class's run."""
    program = held.program
    dice = random.Random(len(held.moments))
    axes = dice.choice([[SPLIT], [GC], [SPLIT, GC]])
    words = [word for axis in axes for word in ("--set", f"{axis}=all")]
    told = held.report(
        "sweep", held.path, "--torch", program.torch(),
        "--capacity", program.capacity, "--most-runs", 400, *words,
    )  # fmt: skip
    kept = [
        word for word in settings_of(program) if word.split(":")[0] not in axes
    ]
    # PyTorch takes no smaller ones (2.9 on).
    large = re.search(r"large_segment_size_mb:(\d+)", program.conf)
    least = int(large[1]) if large else 21
    values = {
        SPLIT: lambda: dice.choice([None, dice.randint(least, 1024)]),
        GC: lambda: dice.choice([None, dice.randint(1, 99) / 100]),
    }
    for _ in range(6):
        point = {axis: values[axis]() for axis in axes}
        conf = ",".join(
            kept + [f"{a}:{v}" for a, v in point.items() if v is not None]
        )
        own = [
            at
            for at, entry in enumerate(told["combinations"])
            if all(
                is_within(point[axis], *entry["alike"][axis], axis == GC)
                for axis in axes
            )
        ]
        if told["classes"]["complete"]:
            held.is_as(f"a class for {conf}", True, bool(own))
        ran = outcome(held, program.capacity, conf)
        for run in told["runs"]:
            if ran and run["combination"] in own and run["summary"]:
                held.is_as(
                    f"the class of {conf}",
                    said_numbers(run["summary"]),
                    ran.numbers(),
                )


# ---- floor ----


def hold_packing(held, text, most):
    """No two blocks that are live at the same time overlap."""
    blocks = [
        {key: int(value) for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
    shared = [
        (a["id"], b["id"])
        for i, a in enumerate(blocks)
        for b in blocks[:i]
        if a["lower"] < b["upper"]
        and b["lower"] < a["upper"]
        and a["offset"] < b["offset"] + b["size"]
        and b["offset"] < a["offset"] + a["size"]
    ]
    held.is_as("packed over another", shared, [])
    ends = [block["offset"] + block["size"] for block in blocks]
    held.is_as("packing", most, max(ends, default=0))


def hold_floor(held):
    program = held.program
    options = program.options()
    told = held.report("floor", held.path, *options)["floor"]["devices"][0]
    live = most = 0
    sizes = {}
    for event in program.events:
        if event["op"] == "alloc":
            sizes[event["id"]] = -(-event["size"] // 512) * 512
            live += sizes[event["id"]]
        elif event["op"] == "free":
            live -= sizes.pop(event["id"], 0)
        most = max(most, live)
    held.is_as("bound", told["bound"], most)
    ran = outcome(held, program.capacity)
    if ran.ooms:
        ran = outcome(held, ENDLESS)  # all requests are counted
    held.is_as("beside the packing", told["peak_reserved_bytes"], ran.peak)
    beyond = told["beyond_packing"]
    held.is_as(
        "parts beyond the packing",
        told["packing"] + sum(beyond.values()),
        ran.peak,
    )
    text = subprocess.run(
        [held.gpupool, "floor", held.path, *options, "--format", "csv"],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    hold_packing(held, text, told["packing"])


# ---- the contents of a trace ----


def hold_info(held):
    told = held.report("info", held.path)["devices"][0]
    seen = {}
    for event in held.program.events:
        seen[event["op"]] = seen.get(event["op"], 0) + 1
    held.is_as("events", told["events"], seen)


HOLDS = (
    hold_headroom,
    hold_fit,
    hold_tried,
    hold_verdict,
    hold_sweep,
    hold_classes,
    hold_floor,
    hold_info,
)
