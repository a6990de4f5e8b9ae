#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose snapshots from a GPU are stored, recorded again without one:
each entry of the allocator's trace must be the same.

    again.py --python /path/of/a/venv/bin/python [--only REGEX] [--values all]

The venv has the same packages as on the GPU (results/GPU/packages.txt).
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import programs

KEPT = os.path.join(programs.ROOT, "traces", "recorded")


def again(args, program, snapshot):
    """The entries without counters, which are not stored."""
    name, path, arguments = program
    keep = os.path.join(programs.HERE, "keep.py")
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "recorded")
        command = [args.python, keep, path, *arguments]
        ended = programs.end(
            programs.start(programs.record(args, command), folder), args.limit
        )
        if ended:
            return f"it ended with {ended}: {programs.last_line(folder)}"
        row = programs.compare_entries(
            programs.unpacked(snapshot), programs.load(folder)[0]
        )
    return f"{programs.verdict(row)}: {row['entries']} entries"


def has_torch(python, release):
    said = subprocess.run(
        [python, "-c", "import torch; print(torch.__version__)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.startswith(release)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="one that has PyTorch")
    parser.add_argument(
        "--gpupool", default=os.path.join(programs.ROOT, "build/gpupool")
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--values", default="known", help="as record's")
    parser.add_argument("--limit", type=int, default=200, help="seconds each")
    args = parser.parse_args()
    args.gpupool, args.gpu = os.path.abspath(args.gpupool), "NVIDIA H200"
    if not has_torch(args.python, "2.11.0"):
        sys.exit("again.py: the kept ones are of PyTorch 2.11.0")
    for program in programs.programs():
        file = programs.file_name(program[0]) + ".pickle.gz"
        for snapshot in glob.glob(os.path.join(KEPT, "nvidia-h200", file)):
            if re.search(args.only, program[0]):
                print(
                    f"{program[0]}: {again(args, program, snapshot)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
