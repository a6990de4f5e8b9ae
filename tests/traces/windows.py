#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Windows of generated programs, replayed.

    windows.py GPUPOOL GENERATE [FIRST [LAST [CLASS...]]]

Programs of some seeds are written as PyTorch would have recorded them, and cut
as by its ring buffer of entries.  Every address of the rest must be the
recorded one, which it is not if the start state is rebuilt too small or too
large, or if a request inferred from an outcome is wrong.  Prints "ok NAME" or
"FAIL NAME: WHY" for each class of programs.
"""

import json
import os
import pickle
import random
import subprocess
import sys
import tempfile

CUTS = 3
# Everything that matters in these is recorded.
CLASSES = ["default", "boundary", "split", "roundup", "large", "expandable",
           "streams", "many-streams", "oom", "oom-split", "oom-expandable",
           "pools", "pools-expandable", "pools-streams", "devices"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def recorded(gpupool, program, folder):
    """The snapshot of a whole generated program."""
    path = os.path.join(folder, "program.json")
    whole = os.path.join(folder, "whole.pickle")
    with open(path, "w") as file:
        file.write(program)
    done = run(gpupool, "convert", "-q", "--run", path,
               *json.loads(program)["args"], whole)
    if done.returncode:
        sys.exit(done.stderr)
    with open(whole, "rb") as file:
        return pickle.load(file)


def difference(gpupool, whole, cut, folder):
    """What is wrong with the window after that many entries; None: nothing."""
    window = os.path.join(folder, "window.pickle")
    rest = [entries[cut:] for entries in whole["device_traces"]]
    with open(window, "wb") as file:
        pickle.dump(dict(whole, device_traces=rest), file, 4)
    done = run(gpupool, "replay", "-q", "--strict", window)
    if done.returncode and "no addresses to compare" not in done.stderr:
        return "behind %d entries: %s" % (cut, done.stderr.strip())
    return None


def differences(gpupool, generate, name, seeds, folder):
    for seed in seeds:
        program = run(generate, str(seed), name).stdout
        whole = recorded(gpupool, program, folder)
        draw = random.Random(seed)
        longest = max(map(len, whole["device_traces"]))
        for cut in [0] + [draw.randrange(longest) for _ in range(CUTS)]:
            wrong = difference(gpupool, whole, cut, folder)
            if wrong:
                yield "seed %d, %s" % (seed, wrong)


def main(gpupool, generate, first="1", last="2", *names):
    seeds = range(int(first), int(last) + 1)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or CLASSES:
            found = list(differences(gpupool, generate, name, seeds, folder))
            for wrong in found:
                print("FAIL windows of %s: %s" % (name, wrong), flush=True)
            if not found:
                print("ok windows of " + name, flush=True)


main(*sys.argv[1:])
