#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs on a GPU, and the same ones recorded without it: the entries of the
allocator's trace, one by one, and each of its counters.

    programs.py --results FOLDER [--only REGEX]

Each runs twice at once, on the device and under gpupool record, and keeps what
PyTorch itself tells (keep.py).  FOLDER then holds programs.jsonl, a row for
each, and device.tar and recorded.tar, what both kept.  What nvidia-smi shows of
each process is sampled meanwhile.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import gzip
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(ROOT, "tests", "record", "programs")
ZOO = os.path.join(ROOT, "tests", "record", "zoo")
MIB = 1 << 20


# ---- the programs ----


def programs():
    """Name, file, arguments; the most important first."""
    found = []
    for line in """training gpt2 cnn decode llama lora graphs
            compile:default loader restore streams convolutions
            attention pools settings memory compile:reduce_overhead
            counting follows logic large many:20000 sparse threads guesses
            kept""".split():
        name, _, argument = line.partition(":")
        found.append(
            (line, os.path.join(SUITE, name + ".py"), argument.split())
        )
    with open(os.path.join(ZOO, "programs.txt"), encoding="utf-8") as lines:
        for line in lines:
            name, *arguments = line.split()
            if not name.isdigit() and name not in ("vllm_generate",):
                found.append(
                    (
                        "zoo " + line.strip(),
                        os.path.join(ZOO, name + ".py"),
                        arguments,
                    )
                )
    found += named("library", "libraries.py")
    return found + named("vision", "vision.py")


def named(word, file):
    """The entries of a file's table, each a program of its own."""
    path = os.path.join(HERE, file)
    with open(path, encoding="utf-8") as source:
        names = re.findall(r'^    "([a-z0-9-]+)": ', source.read(), re.M)
    return [(f"{word} {name}", path, [name]) for name in names]


class Sampler(threading.Thread):
    """The maximum that nvidia-smi shows for each process."""

    class Info(ctypes.Structure):
        _fields_ = [
            ("pid", ctypes.c_uint),
            ("used", ctypes.c_ulonglong),
            ("instance", ctypes.c_uint),
            ("compute", ctypes.c_uint),
        ]

    def __init__(self):
        super().__init__(daemon=True)
        self.most = collections.Counter()
        self.error = None
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            self.check(self.nvml.nvmlInit_v2())
            self.device = ctypes.c_void_p()
            self.check(
                self.nvml.nvmlDeviceGetHandleByIndex_v2(
                    0, ctypes.byref(self.device)
                )
            )
        except (OSError, RuntimeError) as error:
            self.error = str(error)

    @staticmethod
    def check(code):
        if code:
            raise RuntimeError(f"NVML says {code}")

    def run(self):
        while not self.error:
            count, infos = ctypes.c_uint(128), (self.Info * 128)()
            code = self.nvml.nvmlDeviceGetComputeRunningProcesses_v3(
                self.device, ctypes.byref(count), infos
            )
            for info in infos[: count.value] if not code else ():
                if info.used < 1 << 62:
                    self.most[info.pid] = max(self.most[info.pid], info.used)
            time.sleep(0.01)


# ---- one program, on both sides ----


def environment(folder):
    scratch = os.path.join(folder, "cache")
    return dict(
        os.environ,
        KEEP=folder,
        HF_HUB_OFFLINE="1",
        OMP_NUM_THREADS="2",
        TOKENIZERS_PARALLELISM="false",
        TORCHINDUCTOR_COMPILE_THREADS="1",
        TORCHINDUCTOR_CACHE_DIR=scratch,
        TRITON_CACHE_DIR=scratch,
    )


def start(command, folder):
    os.makedirs(folder)
    # pylint: disable-next=consider-using-with
    log = open(os.path.join(folder, "log"), "wb")
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def end(process, limit):
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return "too long"


def last_line(folder):
    with open(os.path.join(folder, "log"), errors="replace") as log:
        lines = [line.strip() for line in log if line.strip()]
    errors = [
        line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)
    ]
    return (errors or lines or [""])[-1][:300]


def file_name(program):
    return re.sub(r"\W+", "-", program)


def both(args, sampler, program):
    name, path, arguments = program
    folder = os.path.join(args.work, file_name(name))
    command = [args.python, os.path.join(HERE, "keep.py"), path, *arguments]
    began = time.monotonic()
    limit = min(args.limit, args.end - began)
    if limit < 5:
        return {"program": name, "there": "no time is left"}
    there, here = (
        os.path.join(folder, "device"),
        os.path.join(folder, "recorded"),
    )
    device = start(
        command if not args.stand_in else record(args, command), there
    )
    recorded = start(record(args, command), here)
    row = {"program": name, "there": end(device, limit)}
    row["seconds"] = round(time.monotonic() - began, 1)
    row["shown"] = sampler.most.get(device.pid)
    row["here"] = end(recorded, max(limit - row["seconds"], 5))
    for side, of in (("there", there), ("here", here)):
        if row[side]:
            row[side + "_said"] = last_line(of)
        row[side + "_path"] = path_line(of)
    try:
        row.update(compare(there, here))
    except (OSError, ValueError, KeyError) as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def record(args, command, trace="trace.jsonl"):
    """The device that it has, or that it simulates."""
    recorder = [args.gpupool, "record", "-q", "-o", trace]
    recorder += ["--gpu", args.gpu] if args.gpu else []
    recorder += ["--values", args.values]
    return [*recorder, "--", *command]


def path_line(folder):
    with open(os.path.join(folder, "log"), errors="replace") as log:
        said = [line.strip() for line in log if "path:" in line]
    return said[-1][:200] if said else ""


# ---- the comparison ----


def unpacked(path):
    with gzip.open(path) as file:
        return pickle.load(file)


def load(folder):
    with open(os.path.join(folder, "snapshot.pickle"), "rb") as file:
        snapshot = pickle.load(file)
    with open(os.path.join(folder, "counters.json")) as file:
        return snapshot, json.load(file)


def entries(snapshot):
    """Action, bytes and stream of each entry; streams by their first use."""
    streams = {}
    return [
        (e["action"], e["size"], streams.setdefault(e["stream"], len(streams)))
        for e in snapshot["device_traces"][0]
        if e["action"] != "snapshot"
    ]


def in_order(found):
    """Neighbouring frees may be in any order, because they come from a set."""
    out, frees = [], []
    for entry in [*found, None]:
        if entry and entry[0].startswith("free"):
            frees.append(entry)
            continue
        out += sorted(frees)
        frees = []
        if entry:
            out.append(entry)
    return out


def places(snapshot):
    """The place of each block: the number of its segment, and the offset."""
    starts, found, number = {}, [], 0
    for e in snapshot["device_traces"][0]:
        if e["action"] == "segment_alloc":
            starts[e["addr"]] = (number, e["size"])
            number += 1
        elif e["action"] == "segment_free":
            starts.pop(e["addr"], None)
        elif e["action"] == "alloc":
            for addr, (segment, size) in starts.items():
                if addr <= e["addr"] < addr + size:
                    found.append((segment, e["addr"] - addr))
                    break
            else:
                found.append(None)
    return found


def first_difference(there, here):
    for i, (a, b) in enumerate(zip(there, here)):
        if a != b:
            return {"at": i, "there": there[i : i + 4], "here": here[i : i + 4]}
    i = min(len(there), len(here))
    return {"at": i, "there": there[i : i + 4], "here": here[i : i + 4]}


def multiset(there, here):
    """Entries that one side has more often than the other."""
    a, b = collections.Counter(there), collections.Counter(here)
    return sum(((a - b) + (b - a)).values())


def compare_entries(there, here):
    a, b = entries(there), entries(here)
    row = {
        "entries": len(a),
        "entries_here": len(b),
        "equal": a == b,
        "others": multiset(a, b),
    }
    a, b = in_order(a), in_order(b)
    row["equal_in_order"] = a == b
    if a != b:
        row["first"] = first_difference(a, b)
    return row


def compare(there, here):
    (a, told), (b, told_here) = load(there), load(here)
    row = compare_entries(a, b)
    at_a, at_b = places(a), places(b)
    row["placed"] = len(at_a)
    row["same_place"] = sum(x == y for x, y in zip(at_a, at_b))
    ca, cb = told["counters"], told_here["counters"]
    row["counters"] = len(ca)
    row["counters_differ"] = {
        k: [ca.get(k), cb.get(k)]
        for k in sorted(ca.keys() | cb.keys())
        if ca.get(k) != cb.get(k)
    }
    row["reserved_peak"] = ca["reserved_bytes.all.peak"]
    row["reserved_peak_here"] = cb["reserved_bytes.all.peak"]
    row["reserved_end"] = ca["reserved_bytes.all.current"]
    for key in ("free_bytes", "total_bytes", "libraries", "cudnn"):
        row[key], row[key + "_here"] = told[key], told_here[key]
    return row


# ---- all of them ----


def pack(args, side):
    with tarfile.open(os.path.join(args.results, side + ".tar"), "w") as tar:
        for name in sorted(os.listdir(args.work)):
            for file in ("snapshot.pickle", "counters.json", "trace.jsonl"):
                path = os.path.join(args.work, name, side, file)
                if os.path.exists(path) and os.path.getsize(path) < 32 * MIB:
                    with open(path, "rb") as raw, gzip.open(
                        path + ".gz", "wb"
                    ) as packed:
                        shutil.copyfileobj(raw, packed)
                    tar.add(path + ".gz", f"{name}.{file}.gz")


def verdict(row):
    if row["equal"]:
        return "equal"
    if row["equal_in_order"]:
        return "in order"
    return f"PARTS at {row['first']['at']}, {row['others']} others"


def say(row, out):
    name = row["program"]
    if row.get("there") or row.get("here"):
        result = (
            f"ENDED there {row.get('there')} {row.get('there_said', '')}"
            f" | here {row.get('here')} {row.get('here_said', '')}"
        )
    elif "error" in row:
        result = "ERROR " + row["error"]
    else:
        differ = len(row["counters_differ"])
        result = (
            f"{verdict(row)}: {row['entries']} entries, {differ} of"
            f" {row['counters']} counters differ, placed alike"
            f" {row['same_place']} of {row['placed']}, reserved"
            f" {row['reserved_peak'] // MIB} MiB, shown"
            f" {(row['shown'] or 0) // MIB} MiB"
        )
    print(f"{name}: {row.get('seconds')} s: {result}", file=out, flush=True)


def argument_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--results", required=True)
    parser.add_argument(
        "--gpupool",
        type=os.path.abspath,
        default=os.path.join(ROOT, "build", "gpupool"),
    )
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--gpu", default="")
    parser.add_argument("--values", default="known")
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--stand-in", action="store_true")
    return parser


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--limit", type=int, default=100, help="seconds each")
    parser.add_argument("--seconds", type=int, default=3600, help="all of them")
    args = parser.parse_args()
    os.makedirs(args.results, exist_ok=True)
    args.end = time.monotonic() + args.seconds
    chosen = [p for p in programs() if re.search(args.only, p[0])]
    sampler = Sampler()
    sampler.start()
    with tempfile.TemporaryDirectory() as args.work:
        with open(
            os.path.join(args.results, "programs.jsonl"), "w"
        ) as rows, concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            for row in pool.map(lambda p: both(args, sampler, p), chosen):
                rows.write(json.dumps(row) + "\n")
                rows.flush()
                say(row, sys.stdout)
        for side in ("device", "recorded"):
            pack(args, side)
    if sampler.error:
        print("nvidia-smi's figures are missing:", sampler.error)


if __name__ == "__main__":
    main()
