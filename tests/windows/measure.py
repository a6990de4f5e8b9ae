#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How good estimates for windows are.

    measure.py GPUPOOL [--all] [PROGRAM...]

Whole programs are written as PyTorch would have recorded them under some
settings, cut as by its ring buffer of entries, and estimated under others.  The
truth is the whole program's replay under those, from the same request on.
The setting that suggest recommends for a window that runs out of memory is
replayed with the whole program on the same device.  Without --all, only a few
programs, cuts and settings are used.  Prints a table, and "ok NAME" or "FAIL
NAME: WHY" for each kind of what-if, and for the recommendations.
"""

import collections
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("GPUPOOL_SHARED", os.path.join(ROOT, "..", "shared"))
RECORDED = os.path.join(ROOT, "traces", "recorded")

FEW = ["ddp-2.15", "fsdp-2.15", "llama-2.15", "lora-2.15"]
MORE = ["cnn-2.15", "compile-2.15", "fsdp-2.11", "gpt2-2.11", "gpt2-2.15",
        "llama-2.11", "loader-2.15", "lora-2.11", "oom-2.15"]
FROM_SHARED = {"gpt2-ragged": "gpt2-ragged.default.pickle",
               "fsdp-of-64": "fsdp-rank0-of-64.default.pickle"}
# Generated: nothing was fitted to these.
SCENARIOS = ["ragged", "decoding", "spikes", "tenants", "transformer"]

EXPANDABLE = "expandable_segments:True"
RECORDINGS = ["", EXPANDABLE]
FEW_SETTINGS = [EXPANDABLE, "max_split_size_mb:128",
                "roundup_power2_divisions:8", ""]
ALL_SETTINGS = FEW_SETTINGS + [
    "max_split_size_mb:64", "max_split_size_mb:512",
    "roundup_power2_divisions:4",
    EXPANDABLE + ",roundup_power2_divisions:8"]
GRAIN = 2 << 20
PARTS = 1, 0.8, 0.6, 0.3  # of the way from what is live to the need
# Of what is said, the most that may be wrong of the whole program.
MOST_WRONG = {"sure": 0.05, "worth a try": 0.25, "too small": 0}

FEW_KEPT, ALL_KEPT = [0.6, 0.35], [0.8, 0.65, 0.5, 0.35]

# For each kind, what must hold: the largest allowed median error, and the
# smallest allowed share of truths within the bounds. README.md has the measured
# values.
KINDS = {
    "segments-to-expandable": (0.04, 0.85),
    "expandable-to-expandable": (0.02, 0.8),
    "segments-to-segments": (0.06, 0.85),
    "expandable-to-segments": (0.15, 0.8),
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


def programs(gpupool, wanted, is_all, folder):
    """(name, path, release) of each program."""
    for name in FEW + (MORE if is_all else []):
        if not wanted or name in wanted:
            path = os.path.join(RECORDED, "programs", name + ".jsonl.gz")
            yield name, path, name.split("-")[-1]
    for name, file in FROM_SHARED.items():
        path = os.path.join(SHARED, "recorded", file)
        if is_all and os.path.exists(path) and (not wanted or name in wanted):
            yield name, path, "2.15"
    for scenario in SCENARIOS if is_all else []:
        if not wanted or scenario in wanted:
            path = os.path.join(folder, scenario + ".jsonl")
            run(gpupool, "gen", scenario, "-q", "-o", path)
            yield scenario, path, "2.15"


def reserved_by_request(gpupool, path, conf, release, folder):
    """[(requests so far, bytes reserved)] after each action."""
    events = os.path.join(folder, "events")
    run(gpupool, "replay", path, "--alloc-conf", conf, "--torch", release,
        "--capacity", "unlimited", "-q", "--events", events,
        "-o", os.path.join(folder, "report"))
    series, reserved, requests = [], 0, -1
    with open(events) as lines:
        for line in lines:
            event = json.loads(line)
            if event["action"] in ("segment_alloc", "segment_map"):
                reserved += event["size"]
            elif event["action"] in ("segment_free", "segment_unmap"):
                reserved -= event["size"]
            elif event["action"] == "alloc":
                requests += 1
            series.append((requests, reserved))
    return series


def windows(gpupool, path, conf, release, kept, folder):
    """(path, requests before it) of each window."""
    whole = os.path.join(folder, "whole.pickle")
    run(gpupool, "convert", "--run", path, "--alloc-conf", conf, "--torch",
        release, "--capacity", "unlimited", "-q", "-o", whole)
    with open(whole, "rb") as file:
        snapshot = pickle.load(file)
    entries = snapshot["device_traces"][0]
    for part in kept:
        first = int(len(entries) * (1 - part))
        snapshot["device_traces"][0] = entries[first:]
        window = os.path.join(folder, "window.pickle")
        with open(window, "wb") as file:
            pickle.dump(snapshot, file, 4)
        yield window, sum(entry["action"] == "alloc"
                          for entry in entries[:first])


def kind_of(recorded, asked):
    names = ["expandable" if EXPANDABLE in conf else "segments"
             for conf in (recorded, asked)]
    return "-to-".join(names)


def measure(gpupool, program, settings, kept, folder):
    """(kind, estimate or None, truth) of each what-if."""
    _, path, release = program
    series = {conf: reserved_by_request(gpupool, path, conf, release, folder)
              for conf in settings}
    for recorded in RECORDINGS:
        for window, before in windows(gpupool, path, recorded, release, kept,
                                      folder):
            for conf in settings:
                if conf == recorded:
                    continue
                truth = max((r for n, r in series[conf] if n >= before),
                            default=0)
                report = json.loads(run(
                    gpupool, "replay", window, "--alloc-conf", conf,
                    "--torch", release, "--capacity", "unlimited",
                    "--format", "json"))
                device = report["runs"][0]["devices"][0]
                if truth:
                    yield kind_of(recorded, conf), device["estimate"], truth


def verdict_of(gpupool, window, release, *more):
    report = json.loads(run(gpupool, "suggest", window, "--torch", release,
                            "--format", "json", *more))
    return report["devices"][0]["verdict"]


def advised(verdict):
    """(which promise, setting) of a window that runs out of memory."""
    if verdict["kind"] == "setting":
        return "sure", verdict["alloc_conf"]
    if verdict.get("likely") and verdict["need"] <= verdict["capacity"]:
        return "worth a try", verdict["likely"]
    return None, None


def serves(gpupool, program, capacity, conf):
    _, path, release = program
    report = json.loads(run(
        gpupool, "replay", path, "--torch", release, "--capacity", capacity,
        "--alloc-conf", conf, "--format", "json"))
    return not report["runs"][0]["devices"][0]["memory_stats"]["num_ooms"]


def is_too_small(gpupool, program, window, live):
    """Whether a device with less memory than the live bytes is reported as too
    small, and no setting serves the whole program on it."""
    capacity = str(live // GRAIN * GRAIN - GRAIN)
    verdict = verdict_of(gpupool, window, program[2], "--capacity", capacity)
    return verdict["kind"] == "too-small" and not any(
        serves(gpupool, program, capacity, conf) for conf in FEW_SETTINGS)


def advice(gpupool, program, kept, folder):
    """(promise, whether it holds for the whole program on the same device) of
    each window that runs out of memory."""
    _, path, release = program
    for window, _ in windows(gpupool, path, "", release, kept, folder):
        base = verdict_of(gpupool, window, release, "--capacity", "unlimited")
        need = base["need_as_recorded"]
        yield "too small", is_too_small(gpupool, program, window, base["live"])
        for part in PARTS:
            capacity = int(base["live"] + (need - base["live"]) * part)
            capacity = str(capacity // GRAIN * GRAIN - GRAIN)
            promise, conf = advised(verdict_of(
                gpupool, window, release, "--capacity", capacity))
            if promise:
                yield promise, serves(gpupool, program, capacity, conf)


def judge_advice(promise, results):
    wrong = results.count(False)
    print("%-25s %5d  %d wrong" % (promise, len(results), wrong))
    if wrong > len(results) * MOST_WRONG[promise]:
        return "%d of %d are wrong" % (wrong, len(results))
    return None


def judge(kind, results):
    most_median, least_within = KINDS[kind]
    given = [(e, t) for e, t in results if e]
    if len(given) < len(results):
        return "%d of %d have no estimate" % (len(results) - len(given),
                                              len(results))
    errors = sorted(abs(e["reserved"] / t - 1) for e, t in given)
    within = sum(e["low"] <= t <= e["high"] for e, t in given) / len(given)
    width = statistics.median((e["high"] - e["low"]) / t for e, t in given)
    median = statistics.median(errors)
    print("%-25s %5d  median %5.1f %%  90 %% within %5.1f %%  "
          "within bounds %3.0f %%  their width %3.0f %%"
          % (kind, len(given), median * 100,
             errors[int(len(errors) * 0.9)] * 100, within * 100, width * 100))
    if median > most_median:
        return "the median error is %.1f %%" % (median * 100)
    if within < least_within:
        return "only %.0f %% are within bounds" % (within * 100)
    return None


def main():
    gpupool = sys.argv[1]
    is_all = "--all" in sys.argv[2:]
    wanted = [word for word in sys.argv[2:] if word != "--all"]
    settings = ALL_SETTINGS if is_all else FEW_SETTINGS
    kept = ALL_KEPT if is_all else FEW_KEPT
    by_kind = collections.defaultdict(list)
    by_promise = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for program in programs(gpupool, wanted, is_all, folder):
            for kind, estimate, truth in measure(gpupool, program, settings,
                                                 kept, folder):
                by_kind[kind].append((estimate, truth))
            for promise, is_kept in advice(gpupool, program, ALL_KEPT,
                                           folder):
                by_promise[promise].append(is_kept)
    for kind in KINDS:
        if not by_kind[kind]:
            continue
        why = judge(kind, by_kind[kind])
        print("FAIL %s: %s" % (kind, why) if why else "ok " + kind)
    for promise in MOST_WRONG:
        why = judge_advice(promise, by_promise[promise])
        print("FAIL %s: %s" % (promise, why) if why else "ok " + promise)


main()
