#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the device's memory pool reserves, call by call: cudaMallocAsync and
cudaFreeAsync on one stream, the pool as PyTorch's backend sets it.

    pool.py OUT.jsonl.gz [--gpupool PROGRAM] [TRACE...]

Each row: the probe, what was called, bytes, address, the pool's reserved and
used bytes behind it.  Probes are made up, or a trace's requests in their order.
"""

import argparse
import ctypes
import gzip
import json
import os
import random
import subprocess

import torch

THRESHOLD, RESERVED, USED = 4, 5, 7
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Pool:
    def __init__(self, out):
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        major = torch.version.cuda.split(".", maxsplit=1)[0]
        self.cuda = ctypes.CDLL(f"libcudart.so.{major}")
        self.pool = ctypes.c_void_p()
        self.call("cudaDeviceGetDefaultMemPool", ctypes.byref(self.pool), 0)
        self.stream = ctypes.c_void_p()
        self.call("cudaStreamCreate", ctypes.byref(self.stream))
        self.set_threshold((1 << 64) - 1)
        self.out = out
        self.probe = ""

    def call(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code:
            raise RuntimeError(f"{name}: {code}")

    def set_threshold(self, size):
        value = ctypes.c_uint64(size)
        self.call(
            "cudaMemPoolSetAttribute", self.pool, THRESHOLD, ctypes.byref(value)
        )

    def attribute(self, which):
        value = ctypes.c_uint64()
        self.call(
            "cudaMemPoolGetAttribute", self.pool, which, ctypes.byref(value)
        )
        return value.value

    def note(self, what, size, addr=0):
        row = [self.probe, what, size, addr]
        row += [self.attribute(RESERVED), self.attribute(USED)]
        self.out.write(json.dumps(row) + "\n")

    def take(self, size):
        addr = ctypes.c_void_p()
        self.call(
            "cudaMallocAsync",
            ctypes.byref(addr),
            ctypes.c_size_t(size),
            self.stream,
        )
        self.note("malloc", size, addr.value)
        return addr, size

    def give(self, block):
        addr, size = block
        self.call("cudaFreeAsync", addr, self.stream)
        self.note("free", size, addr.value)

    def synchronize(self):
        self.call("cudaDeviceSynchronize")
        self.note("synchronize", 0)

    def trim(self, keep=0):
        self.call("cudaMemPoolTrimTo", self.pool, ctypes.c_size_t(keep))
        self.note("trim", keep)

    def empty(self, blocks=()):
        for block in blocks:
            self.give(block)
        self.synchronize()
        self.trim()


def one_size(pool):
    for size in (
        1,
        512,
        513,
        4 * KIB,
        64 * KIB,
        100_000,
        MIB,
        2 * MIB,
        3 * MIB,
    ):
        pool.probe = f"one size {size}"
        pool.empty([pool.take(size) for _ in range(40)])
    for size in (10, 20, 31, 32, 33, 48, 63, 64, 65, 100, 200, 1000, 1025):
        pool.probe = f"one size {size} MiB"
        pool.empty([pool.take(size * MIB) for _ in range(5)])


def mixed(pool):
    for seed in range(12):
        random.seed(seed)
        pool.probe = f"mixed {seed}"
        blocks = []
        top = (16, 64, 256, 1024)[seed % 4]
        for _ in range(300):
            if blocks and random.random() < 0.45:
                pool.give(blocks.pop(random.randrange(len(blocks))))
            else:
                size = (
                    int(2 ** random.uniform(9, 20))
                    * random.randint(1, top)
                    // 4
                )
                blocks.append(pool.take(min(size, GIB) or 1))
            if random.random() < 0.02:
                pool.synchronize()
            if random.random() < 0.01:
                pool.trim(random.choice((0, 64 * MIB)))
        pool.empty(blocks)


def holes(pool):
    for small, large in (
        (MIB, 2 * MIB),
        (8 * MIB, 16 * MIB),
        (40 * MIB, 80 * MIB),
    ):
        pool.probe = f"holes {small}"
        blocks = [pool.take(small) for _ in range(16)]
        for block in blocks[::2]:
            pool.give(block)
        pool.trim()
        blocks = blocks[1::2] + [pool.take(large) for _ in range(6)]
        for block in blocks[::2]:
            pool.give(block)
        pool.synchronize()
        pool.trim()
        pool.empty(blocks[1::2])


def grows(pool):
    """Each request is larger than the previous one, which is freed: how much of
    that is used again?"""
    for step in (MIB, 5 * MIB, 40 * MIB):
        pool.probe = f"grows {step}"
        last = pool.take(step)
        for i in range(2, 30):
            now = pool.take(i * step)
            pool.give(last)
            last = now
        pool.empty([last])


def thresholds(pool):
    for keep in (0, 64 * MIB):
        pool.probe = f"threshold {keep}"
        pool.set_threshold(keep)
        blocks = [pool.take(10 * MIB) for _ in range(20)]
        for block in blocks[:15]:
            pool.give(block)
        pool.synchronize()
        for block in blocks[15:]:
            pool.give(block)
        pool.synchronize()
        pool.trim()
    pool.set_threshold((1 << 64) - 1)


def replayed(pool, gpupool, trace, most=12000):
    lines = subprocess.run(
        [gpupool, "convert", trace, "-", "--format", "jsonl", "-q"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    pool.probe = "trace " + os.path.basename(trace)
    blocks = {}
    for line in lines[:most]:
        event = json.loads(line)
        if event.get("op") == "alloc" and event["size"]:
            blocks[event["id"]] = pool.take(event["size"])
        elif event.get("op") == "free" and event["id"] in blocks:
            pool.give(blocks.pop(event["id"]))
        elif event.get("op") == "empty_cache":
            pool.synchronize()
            pool.trim()
    pool.empty(blocks.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("traces", nargs="*")
    args = parser.parse_intermixed_args()
    with gzip.open(args.out, "wt") as out:
        pool = Pool(out)
        for probe in (one_size, mixed, holes, grows, thresholds):
            probe(pool)
        for trace in args.traces:
            replayed(pool, args.gpupool, trace)
    print("total", torch.cuda.mem_get_info())


if __name__ == "__main__":
    main()
