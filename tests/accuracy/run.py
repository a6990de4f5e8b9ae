#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions beside what was measured on real GPUs.

Rows of a table of measured trainings are recorded without a GPU; what gpupool
fit says that nvidia-smi would show is compared with what it showed.  Rows that
an earlier run has done are not done again.
"""

import argparse
import csv
import glob
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

import rows

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
# Rows per recording: importing PyTorch takes most of a row's time.
TOGETHER = 25


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "table", nargs="?", help="gpumemnet-mlp.csv or one like it"
    )
    parser.add_argument("--python", help="one that has PyTorch")
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("--gpu", default="a100-40gb")
    parser.add_argument("--rows", type=int, default=50, help="0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="build/accuracy.csv")
    return parser.parse_args()


def shown_mib(args, trace):
    text = subprocess.run(
        [args.gpupool, "fit", "-q", "--gpu", args.gpu, "--trace", trace]
        + ["--format", "json"],
        check=True,
        capture_output=True,
    ).stdout
    return json.loads(text)["nvidia_smi_bytes"] / MIB


def record(args, indices):
    """The value that nvidia-smi would show, by row."""
    program = os.path.join(HERE, rows.kind_of(args.table) + ".py")
    with tempfile.TemporaryDirectory() as folder:
        pattern = os.path.join(folder, "t.json")
        subprocess.run(
            [args.gpupool, "record", "-q", "--gpu", args.gpu, "-o", pattern]
            + ["--", args.python, program, args.table]
            + [str(i) for i in indices],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        # A single process writes trace.json, several write trace.1.json and so
        # on.
        several = len(glob.glob(os.path.join(folder, "t.*.json")))
        names = [f"t.{i + 1}.json" for i in range(several)] or ["t.json"]
        if len(names) != len(indices):
            sys.exit(f"{len(indices)} rows gave {len(names)} traces")
        return {
            index: shown_mib(args, os.path.join(folder, name))
            for index, name in zip(indices, names)
        }


def done_before(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as kept:
        return {
            int(r["row"]): float(r["predicted_mib"])
            for r in csv.DictReader(kept)
        }


def keep(path, shown):
    fresh = not os.path.exists(path)
    with open(path, "a", newline="") as kept:
        writer = csv.writer(kept)
        if fresh:
            writer.writerow(["row", "predicted_mib"])
        writer.writerows(shown.items())


def main():
    args = arguments()
    if not args.table or not args.python:
        print(
            "skip accuracy: TABLE= names no table, or PYTHON= none with PyTorch"
        )
        return
    table = rows.read(args.table)
    chosen = list(range(len(table)))
    random.Random(args.seed).shuffle(chosen)
    chosen = sorted(chosen[: args.rows or len(table)])
    shown = done_before(args.keep)
    left = [i for i in chosen if i not in shown]
    for begin in range(0, len(left), TOGETHER):
        part = record(args, left[begin : begin + TOGETHER])
        keep(args.keep, part)
        shown.update(part)
    errors = []
    for i in chosen:
        measured = float(table[i]["max_gpu_memory_mib"])
        predicted = shown[i]
        errors.append((abs(predicted / measured - 1), i, measured, predicted))
    errors.sort(reverse=True)
    plain = [e[0] for e in errors]
    print(
        f"{len(errors)} rows: error median {statistics.median(plain):.3%}, "
        f"mean {statistics.mean(plain):.3%}, largest {plain[0]:.3%}"
    )
    for error, i, measured, predicted in errors[:5]:
        print(
            f"  row {i}: measured {measured:.0f} MiB, predicted {predicted:.0f}"
        )


main()
