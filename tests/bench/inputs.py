# SPDX-License-Identifier: MIT
"""The inputs of bench.py, in every format that is read; made once per run."""
import gzip
import json
import os
import pickle
import random
import subprocess


def operations(count):
    """Allocations and frees, last in first out, with some that stay longer."""
    draw = random.Random(1)
    live, number = [], 0
    while number < count:
        if live and draw.random() < 0.5:
            yield ("free", *live.pop(-1 - draw.randrange(min(8, len(live)))))
        else:
            block = (0x7F0000000000 + 512 * number, draw.randrange(1, 9) << 18)
            live.append(block)
            yield ("alloc", *block)
        number += 1


def rmm(path, count):
    with open(path, "w") as out:
        out.write("Thread,Time,Action,Pointer,Size,Stream\n")
        for number, (action, addr, size) in enumerate(operations(count)):
            second, micro = divmod(number, 1000000)
            word = "allocate" if action == "alloc" else "free"
            out.write(f"1,10:00:{second:02}.{micro:06},{word},{addr:#x},"
                      f"{size},0x0\n")


def profile(path, count):
    total = 0
    with open(path, "w") as out:
        out.write('{"schemaVersion": 1, "profile_memory": 1, "traceEvents": [')
        for number, (action, addr, size) in enumerate(operations(count)):
            change = size if action == "alloc" else -size
            total += change
            event = {
                "ph": "i", "cat": "cpu_instant_event", "s": "t",
                "name": "[memory]", "pid": 4, "tid": 4, "ts": 100.5 + number,
                "args": {"Device Type": 1, "Device Id": 0, "Addr": addr,
                         "Bytes": change, "Total Allocated": total,
                         "Total Reserved": 1 << 40}}
            out.write(("," if number else "") + "\n" + json.dumps(event))
        out.write("\n]}\n")


def listed(value):
    """As json.dump writes the result of memory_snapshot()."""
    return json.dumps(value, default=list)


def make(gpupool, folder, steps):
    """The path of each input, by name."""

    def run(*arguments):
        subprocess.run([gpupool, *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def at(name):
        return os.path.join(folder, name)

    run("gen", "-q", "ragged", f"steps={steps}", "-o", at("trace.jsonl"))
    for name in "trace.json", "trace.bin", "trace.jsonl.gz", "trace.jsonl.zst":
        run("convert", "-q", at("trace.jsonl"), at(name))
    run("convert", "-q", "--run", at("trace.jsonl"), at("snapshot.pickle"))
    with open(at("snapshot.pickle"), "rb") as file:
        snapshot = pickle.load(file)
    with open(at("snapshot.json"), "w") as out:
        out.write(listed(snapshot))
    with open(at("snapshot.json"), "rb") as file:
        with gzip.open(at("snapshot.json.gz"), "wb", 1) as out:
            out.write(file.read())
    profile(at("profile.json"), 280 * steps)
    rmm(at("rmm.csv"), 280 * steps)
    names = sorted(os.listdir(folder))
    return {name: at(name) for name in names}
