#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpupool's results on a program's memory, verified on the device.

    proof.py --results FOLDER [--only REGEX]

Each program is recorded without the GPU.  Replays of this trace give the least
share of the device on which it runs, by settings, and the device must agree: it
runs with that much, and runs out of memory with 2 MiB less.  Then `suggest`
reads the snapshot that PyTorch wrote when it was out of memory: with the line
that it suggests, the program must run in the same capacity.  FOLDER/proof.txt
has the results, and proof.tar the snapshots.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import tarfile
import tempfile

import programs
from programs import MIB

# The program, and a capacity in MiB that is too small for it under its
# settings, but not under another one, if there is such a setting.
PROGRAMS = (
    ("kept", 1500),
    ("gpt2", 0),
    ("llama", 0),
    ("lora", 0),
    ("decode", 0),
    ("training", 0),
)
SETTINGS = (
    "",
    "expandable_segments:True",
    "max_split_size_mb:32",
    "roundup_power2_divisions:4",
    "garbage_collection_threshold:0.6",
)


def gpupool(args, *words):
    return subprocess.run(
        [args.gpupool, *words, "-q"],
        capture_output=True,
        text=True,
        check=False,
    )


def runs(args, folder, program, settings, capacity):
    """Whether it ran to its end; None: it failed for another reason."""
    os.makedirs(folder)
    env = dict(os.environ, KEEP=folder, CAPACITY=str(capacity))
    env["PYTORCH_CUDA_ALLOC_CONF"] = settings
    command = [args.python, os.path.join(programs.HERE, "keep.py"), program]
    if args.stand_in:
        command = programs.record(args, command)
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.returncode:
        return True
    if "OutOfMemoryError" in done.stderr:
        return False
    print("failed:", done.stderr[-300:])
    return None


def recorded(args, folder, program, name):
    trace = os.path.join(folder, name + ".jsonl")
    subprocess.run(
        programs.record(args, [args.python, program], trace),
        capture_output=True,
        check=False,
    )
    return trace


def program_of(name):
    return os.path.join(programs.SUITE, name + ".py")


def replayed(args, trace, settings, *more):
    said = gpupool(
        args,
        "replay",
        trace,
        "--format",
        "json",
        "--alloc-conf",
        settings,
        *more,
    )
    return json.loads(said.stdout)["runs"][0]["devices"][0]


def is_enough(args, trace, settings, capacity):
    if not args.total:
        args.total = replayed(args, trace, settings)["capacity"]
    share = repr((capacity + MIB) / args.total)
    device = replayed(args, trace, settings, "--memory-fraction", share)
    return not device["memory_stats"]["num_ooms"]


def least(args, trace, settings):
    """A capacity with which it runs, while it cannot run with 2 MiB less."""
    low, high = 0, 1 << 15
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(args, trace, settings, 2 * MIB * middle):
            high = middle
        else:
            low = middle
    return 2 * MIB * high


def edges(args, folder, name):
    """The smallest capacity, and 2 MiB less, under each of the settings."""
    program = program_of(name)
    trace = recorded(args, folder, program, name)
    for number, settings in enumerate(SETTINGS):
        capacity = least(args, trace, settings)
        at, below = (
            runs(
                args,
                os.path.join(folder, f"{name}-{number}-{less}"),
                program,
                settings,
                capacity - less * MIB,
            )
            for less in (0, 2)
        )
        right = at is True and below is False
        yield (
            f"{'ok' if right else 'FAIL'} replay {name}"
            f" {settings or 'default settings'}: {capacity // MIB} MiB;"
            f" runs there: {at}, with 2 MiB less: {below}"
        )


def cure(args, folder, name, capacity):
    """suggest's line for the snapshot that PyTorch wrote when memory was
    full."""
    program = program_of(name)
    before, after = (
        os.path.join(folder, f"{name}-{n}") for n in ("full", "cured")
    )
    first = runs(args, before, program, "", capacity * MIB)
    snapshot = os.path.join(before, "snapshot.pickle")
    said = gpupool(args, "suggest", snapshot)
    told = gpupool(
        args,
        "suggest",
        snapshot,
        "--capacity",
        f"{capacity}MiB",
        "--format",
        "json",
    )
    with open(os.path.join(args.results, "suggest.txt"), "a") as out:
        out.write(f"== {name} at {capacity} MiB\n{said.stdout}{said.stderr}\n")
    line = re.search(
        r"PYTORCH_CUDA_ALLOC_CONF=(\S+)", told.stdout + said.stdout
    )
    line = line and line[1].strip('"\\,')
    second = runs(args, after, program, line, capacity * MIB) if line else None
    right = first is False and second is True
    yield (
        f"{'ok' if right else 'FAIL'} suggest {name} at {capacity} MiB: runs as"
        f" it is: {first}; with {line}: {second}"
    )


def one(args, job):
    name, capacity = job
    try:
        rows = cure if capacity else edges
        return list(
            rows(args, args.work, name, *([capacity] if capacity else []))
        )
    except (KeyError, ValueError, OSError, TypeError) as error:
        return [f"FAIL {name}: {type(error).__name__}: {error}"]


def main():
    args = programs.argument_parser(__doc__).parse_args()
    args.total = 0
    os.makedirs(args.results, exist_ok=True)
    jobs = [p for p in PROGRAMS if p[1]] + [(name, 0) for name, _ in PROGRAMS]
    jobs = [job for job in jobs if re.search(args.only, job[0])]
    out = os.path.join(args.results, "proof.txt")
    with tempfile.TemporaryDirectory() as args.work, open(
        out, "w"
    ) as text, concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        for rows in pool.map(lambda job: one(args, job), jobs):
            for row in rows:
                print(row, flush=True)
                print(row, file=text, flush=True)
        with tarfile.open(
            os.path.join(args.results, "proof.tar"), "w:gz"
        ) as tar:
            tar.add(args.work, "proof")


if __name__ == "__main__":
    main()
