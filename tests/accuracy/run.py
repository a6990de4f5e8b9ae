#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions beside what was measured on real GPUs.

Rows of a table of measured trainings are recorded without a GPU and replayed;
the peak of reserved, and what the process holds besides, is compared with what
nvidia-smi showed. Rows that an earlier run has done are not done again.
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

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
# Rows that one recording takes: importing PyTorch is most of a row's time.
TOGETHER = 25


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", help="gpumemnet-mlp.csv or one like it")
    parser.add_argument("--python", required=True, help="one that has PyTorch")
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("--gpu", default="a100-40gb")
    parser.add_argument("--rows", type=int, default=50, help="0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--besides",
        type=int,
        default=1429,
        help="MiB that nvidia-smi shows and PyTorch's allocator did not reserve",
    )
    parser.add_argument("--keep", default="build/accuracy.csv")
    return parser.parse_args()


def peak_reserved_mib(gpupool, trace):
    text = subprocess.run(
        [gpupool, "replay", trace, "--format", "json"],
        check=True,
        capture_output=True,
    ).stdout
    device = json.loads(text)["runs"][0]["devices"][0]
    return device["measures"]["peak_reserved_bytes"] / MIB


def record(args, indices):
    """Peaks of reserved, by row, as recorded."""
    with tempfile.TemporaryDirectory() as folder:
        pattern = os.path.join(folder, "t.json")
        subprocess.run(
            [args.gpupool, "record", "-q", "--gpu", args.gpu, "-o", pattern]
            + ["--", args.python, os.path.join(HERE, "mlp.py"), args.table]
            + [str(i) for i in indices],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        # One process gives trace.json, several trace.1.json and so on.
        several = len(glob.glob(os.path.join(folder, "t.*.json")))
        names = [f"t.{i + 1}.json" for i in range(several)] or ["t.json"]
        if len(names) != len(indices):
            sys.exit(f"{len(indices)} rows gave {len(names)} traces")
        return {
            index: peak_reserved_mib(args.gpupool, os.path.join(folder, name))
            for index, name in zip(indices, names)
        }


def done_before(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as kept:
        return {int(r["row"]): float(r["reserved_mib"]) for r in csv.DictReader(kept)}


def keep(path, peaks):
    fresh = not os.path.exists(path)
    with open(path, "a", newline="") as kept:
        writer = csv.writer(kept)
        if fresh:
            writer.writerow(["row", "reserved_mib"])
        writer.writerows(peaks.items())


def main():
    args = arguments()
    with open(args.table, newline="") as table:
        rows = list(csv.DictReader(table))
    chosen = list(range(len(rows)))
    random.Random(args.seed).shuffle(chosen)
    chosen = sorted(chosen[: args.rows or len(rows)])
    peaks = done_before(args.keep)
    left = [i for i in chosen if i not in peaks]
    for begin in range(0, len(left), TOGETHER):
        part = record(args, left[begin : begin + TOGETHER])
        keep(args.keep, part)
        peaks.update(part)
    errors = []
    for i in chosen:
        measured = float(rows[i]["max_gpu_memory_mib"])
        predicted = peaks[i] + args.besides
        errors.append((abs(predicted / measured - 1), i, measured, predicted))
    errors.sort(reverse=True)
    plain = [e[0] for e in errors]
    print(
        f"{len(errors)} rows: error median {statistics.median(plain):.3%}, "
        f"mean {statistics.mean(plain):.3%}, largest {plain[0]:.3%}"
    )
    for error, i, measured, predicted in errors[:5]:
        print(f"  row {i}: measured {measured:.0f} MiB, predicted {predicted:.0f}")


main()
