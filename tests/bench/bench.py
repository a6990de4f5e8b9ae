#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast things are, as ratios within one run.

    bench.py GPUPOOL OUT [BASELINE]

Seconds differ from machine to machine and from hour to hour; a command's cost
in replays of the same trace does not.  "replays" is processor time, the minimum
of some runs that alternate with replays.  "instructions" is the same, counted
by valgrind on shorter inputs, and independent of other work on the machine.
Writes OUT (JSON), and fails if a ratio of instructions, or of time without
valgrind, is more than a fifth above BASELINE's.
"""
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time

import inputs

STEPS = int(os.environ.get("BENCH_STEPS", "300"))
COUNTED_STEPS = int(os.environ.get("BENCH_COUNTED_STEPS", "40"))
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
SLOWER = 1.2
ANSWERS = (0, 1)  # 1: what was looked for is not there

TRACE = "trace.bin"
REPLAY = ["replay", "--capacity", "unlimited"]
SWEEP = ["--format", "csv",
         "--set", "max_split_size_mb=none,32..288+32",
         "--set", "roundup_power2_divisions=none,2,4,8,16",
         "--set", "expandable_segments=none,True",
         "--set", "garbage_collection_threshold=none,0.8"]

# A command and its input.
ROWS = {
    **{f"read {name}": (REPLAY, name) for name in (
        "trace.jsonl", "trace.json", "trace.jsonl.gz", "trace.jsonl.zst",
        "snapshot.pickle", "snapshot.json", "snapshot.json.gz",
        "profile.json", "rmm.csv")},
    "explain": (["explain"], TRACE),
    "html": (["replay", "--format", "html"], TRACE),
    "headroom": (["headroom"], TRACE),
    "suggest": (["suggest"], TRACE),
    "floor": (["floor"], TRACE),
    "sweep of 200": (["sweep", "--jobs", "1", *SWEEP], TRACE),
}


class Bench:
    def __init__(self, gpupool, folder, steps):
        self.gpupool = gpupool
        self.inputs = inputs.make(gpupool, folder, steps)

    def command(self, row):
        arguments, name = row
        return [self.gpupool, *arguments, self.inputs[name]]

    def seconds(self, row):
        """Processor time."""
        process = subprocess.Popen(self.command(row),
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in ANSWERS:
            sys.exit(f"{' '.join(self.command(row))}: {process.returncode}")
        return usage.ru_utime + usage.ru_stime

    def replays(self, row):
        turns = [(self.seconds(row), self.seconds((REPLAY, TRACE)))
                 for _ in range(RUNS)]
        return min(own for own, _ in turns) / min(unit for _, unit in turns)

    def instructions(self, row):
        done = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no",
             "--cachegrind-out-file=/dev/null", *self.command(row)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return int(re.search(r"I +refs: +([\d,]+)", done.stderr)[1]
                   .replace(",", ""))

    def timing(self, name):
        done = subprocess.run(
            [*self.command((REPLAY, name)), "--timing", "--format", "json"],
            capture_output=True, check=True, text=True)
        return json.loads(done.stdout)["timing"]

    def text_rate(self, name):
        """Megabytes per second, of the text that a reader sees."""
        plain = name.removesuffix(".gz").removesuffix(".zst")
        seconds = min(self.timing(name)["read_s"] for _ in range(RUNS))
        return os.path.getsize(self.inputs[plain]) / seconds / 1e6

    def replay_ns(self):
        timings = [self.timing(TRACE) for _ in range(RUNS)]
        return min(t["replay_s"] / t["events"] for t in timings) * 1e9

    def pickle_loads(self):
        """Reading a snapshot, in units of pickle.load."""
        path = self.inputs["snapshot.pickle"]
        loads, reads = [], []
        for _ in range(RUNS):
            start = time.perf_counter()
            with open(path, "rb") as file:
                pickle.load(file)
            loads.append(time.perf_counter() - start)
            reads.append(self.timing("snapshot.pickle")["read_s"])
        return min(reads) / min(loads)


def measure_time(gpupool, figures):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(gpupool, folder, STEPS)
        figures["replay"] = {"ns an event": bench.replay_ns()}
        for name, row in ROWS.items():
            figures[name] = {"replays": bench.replays(row)}
            if row[1] != TRACE:
                figures[name]["MB/s"] = bench.text_rate(row[1])
        figures["read snapshot.pickle, in pickle.load"] = {
            "replays": bench.pickle_loads()}


def count(gpupool, figures):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(gpupool, folder, COUNTED_STEPS)
        unit = bench.instructions((REPLAY, TRACE))
        for name, row in ROWS.items():
            figures[name]["instructions"] = bench.instructions(row) / unit


def slower(figures, baseline, unit):
    for name, kept in baseline.items():
        now = figures.get(name, {})
        if unit in now and unit in kept and now[unit] > SLOWER * kept[unit]:
            yield f"{name}: {now[unit]:.3g} {unit}, was {kept[unit]:.3g}"


def show(figures):
    for name, figure in figures.items():
        values = ", ".join(f"{value:.3g} {unit}"
                           for unit, value in figure.items())
        print(f"{name:40} {values}")


def main():
    gpupool, out = sys.argv[1:3]
    figures = {}
    measure_time(gpupool, figures)
    unit = "replays"
    if shutil.which("valgrind"):
        unit = "instructions"
        count(gpupool, figures)
    with open(out, "w") as file:
        json.dump(figures, file, indent=1)
        file.write("\n")
    show(figures)
    if len(sys.argv) < 4:
        return 0
    with open(sys.argv[3]) as file:
        found = list(slower(figures, json.load(file), unit))
    for line in found:
        print("FAIL", line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
