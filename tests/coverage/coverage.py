#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which lines and branches the tests run.

    coverage.py PART...

A part is an argument of tests/run.sh.  Each runs by itself, with a library that
has counters (make coverage); the table adds up what they ran, by folder.
BUILD/coverage/ has the time of each part and what it ran, for tests/mutate; a
part whose results are newer than the library and itself is not run again.
Processes that get nothing of a part's environment, such as those of host
allocators, count in BUILD/away, for all parts together.  What no part ran is in
BUILD/coverage.missing, one line or branch per line.

The counters are clang's: each condition in the source counts both ways, except
those that follow from a constant.  assert() is not in the build.  Folders of
ELSEWHERE are not in the table, nor are PyTorch's own engine if none is prepared
(make torch-engine) and the helper process in which it runs.  Nothing else is
left out.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
LIBRARY = os.path.join(BUILD, "obj/gpupool.so")
ASKED = {"src/trace": (95, 90), "src/replay": (95, 90),
         "src/allocator": (95, 90), "src/formats": (95, 90)}
# Runs in other people's programs, and on rare machines.
ELSEWHERE = ("src/simcuda", "src/device/cuda") + (
    () if os.path.exists(f"{BUILD}/torch") else ("src/allocator/torch",))
AWAY = f"{BUILD}/away"


def kept(part):
    """The file that keeps what a part ran."""
    name = os.path.relpath(os.path.abspath(part), ROOT)
    return f"{BUILD}/coverage/{name.replace('/', ',')}"


def is_kept(part):
    return os.path.exists(kept(part)) and os.path.getmtime(kept(part)) > max(
        os.path.getmtime(LIBRARY), os.path.getmtime(part))


def records_of(folder, merged):
    """The counts in the profiles of a folder, as lcov's records."""
    profiles = [f"{folder}/{name}" for name in os.listdir(folder)]
    if not profiles:
        return ""
    subprocess.run(["llvm-profdata", "merge", "-sparse", "-o", merged]
                   + profiles, check=True)
    return subprocess.run(
        ["llvm-cov", "export", "-format=lcov", LIBRARY,
         f"-instr-profile={merged}"], check=True, stdout=subprocess.PIPE,
        text=True).stdout


def has_failed(run):
    """A part whose tests are all skipped has none."""
    return run.returncode != 0 and not re.search(
        r"^0 passed, 0 failed, \d+ skipped$", run.stdout, re.M)


def count(part):
    """Runs a part; stores the result, and the records in lcov's form."""
    if is_kept(part):
        return
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, JOBS="1", BUILD=BUILD,
                   LLVM_PROFILE_FILE=f"{folder}/%c%m.profraw")
        began = time.monotonic()
        run = subprocess.run([f"{ROOT}/tests/run.sh", part], env=env,
                             stdout=subprocess.PIPE, text=True)
        seconds = time.monotonic() - began
        failed = has_failed(run)
        if failed:
            print(f"{part} fails:\n{run.stdout}", file=sys.stderr)
        text = records_of(folder, f"{folder}/merged")
    with open(f"{folder}.kept", "w") as out:
        print(f"seconds:{seconds:.3f}\nfailed:{failed:d}\n{text}",
              file=out)
    shutil.move(f"{folder}.kept", kept(part))


class Counts:
    """Per file: lines and branches, and how often they were run."""
    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.branches = collections.defaultdict(collections.Counter)

        self.failed = False

    def add(self, records):
        for record in records:
            kind, _, rest = record.rstrip("\n").partition(":")
            if kind == "SF":
                file = os.path.relpath(rest, ROOT)
            elif kind == "DA":
                line, times = map(int, rest.split(","))
                self.lines[file][line] += times
            elif kind == "BRDA":
                line, block, branch, times = rest.split(",")
                self.branches[file][int(line), block, branch] += \
                    0 if times == "-" else int(times)
            elif kind == "failed":
                self.failed |= rest != "0"


def folder_of(file):
    """src/report/gate/limits.c counts as src/report, and as src/report/gate."""
    parts = file.split("/")[:-1]
    return ["/".join(parts[:n]) for n in range(2, len(parts) + 1)]


def percent(ran, total):
    return 100 * ran / total if total else 100.0


def table(counts):
    """What to print, and which folders are below the required shares."""
    sums = collections.defaultdict(collections.Counter)
    for file, lines in counts.lines.items():
        if not file.startswith("src/") or file.startswith(ELSEWHERE):
            continue
        for folder in folder_of(file):
            sums[folder].update(
                lines=len(lines), lines_ran=sum(map(bool, lines.values())),
                branches=len(counts.branches[file]),
                branches_ran=sum(map(bool, counts.branches[file].values())))
    short = []
    print(f"{'folder':28}{'lines':>8}{'run':>8}{'branches':>10}{'run':>8}")
    for folder, s in sorted(sums.items()):
        lines = percent(s["lines_ran"], s["lines"])
        branches = percent(s["branches_ran"], s["branches"])
        print(f"{folder:28}{s['lines']:8}{lines:7.1f}%"
              f"{s['branches']:10}{branches:7.1f}%")
        least = ASKED.get(folder, (0, 0))
        if lines < least[0] or branches < least[1]:
            short.append(f"{folder}: {least[0]} % of lines and {least[1]} % "
                         "of branches are asked for")
    return short


def write_missing(counts):
    with open(f"{BUILD}/coverage.missing", "w") as out:
        for file in sorted(counts.lines):
            for line, times in sorted(counts.lines[file].items()):
                if not times:
                    print(f"{file}:{line}: line", file=out)
            for (line, block, branch), times in sorted(
                    counts.branches[file].items()):
                if not times and counts.lines[file][line]:
                    way = "never true" if branch == "0" else "never false"
                    print(f"{file}:{line}: condition {block} is {way}",
                          file=out)


def empty_away():
    """Removes the counts of an older library."""
    os.makedirs(AWAY, exist_ok=True)
    for name in os.listdir(AWAY):
        if os.path.getmtime(f"{AWAY}/{name}") < os.path.getmtime(LIBRARY):
            os.remove(f"{AWAY}/{name}")


def main(parts):
    os.makedirs(f"{BUILD}/coverage", exist_ok=True)
    empty_away()
    with ThreadPoolExecutor(int(os.environ.get("JOBS", 0))
                            or os.cpu_count()) as pool:
        list(pool.map(count, parts))
    counts = Counts()
    for part in parts:
        with open(kept(part)) as stream:
            counts.add(stream)
    counts.add(records_of(AWAY, f"{BUILD}/away.merged").splitlines())
    write_missing(counts)
    short = table(counts)
    print("\n".join(short))
    sys.exit(bool(short) or counts.failed)


if __name__ == "__main__":
    main(sys.argv[1:])
