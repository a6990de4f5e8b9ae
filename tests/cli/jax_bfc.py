# SPDX-License-Identifier: MIT
"""Compares the engine bfc with jaxlib's own allocator.

    LD_LIBRARY_PATH=DRIVER python3 jax_bfc.py GPUPOOL WORK CASES

Generated programs are run by jaxlib, as its wheels have it, with arrays in
place of blocks, and through gpupool replay --engine bfc. The actions of both,
with their addresses, are compared, and then the numbers of jaxlib's
memory_stats. No device is needed: DRIVER has the libcuda.so.1 of
scripts/engines/xla_driver.c, whose memory is provided here, as by gpupool's
simulated device.
"""
import ctypes
import multiprocessing
import os
import random
import sys
import time

import jax
import jax_plugins.xla_cuda12
import jaxlib
import numpy
from jaxlib import xla_client

from cupy_pool import Device, made_up, of_gpupool

SETTLE = 10  # seconds for the work of jaxlib's threads
TAKE = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)
GIVE = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
# It waits ten seconds before it gives up, so few cases run out of memory.
CASES_OF_AN_OOM = 20


class Served(Device):
    """Answers the driver's requests."""

    def __init__(self, capacity):
        super().__init__(capacity, MemoryError)
        self.take = TAKE(self.give_some)
        self.back = GIVE(lambda addr: self.free(addr, 0))
        ctypes.CDLL("libcuda.so.1").xla_driver_serve(
            ctypes.c_uint64(capacity), self.take, self.back)

    def give_some(self, size):
        try:
            return self.malloc(size, 0)
        except MemoryError:
            return 0


class Arrays:
    """Arrays of bytes; jaxlib keeps its allocator as long as the process
    lives."""

    def __init__(self, fraction, preallocate):
        xla_client.load_pjrt_plugin_dynamically("cuda", os.path.join(
            list(jax_plugins.xla_cuda12.__path__)[0], "xla_cuda_plugin.so"))
        xla_client.initialize_pjrt_plugin("cuda")
        client = xla_client.make_c_api_client("cuda", {
            "allocator": "bfc", "memory_fraction": fraction,
            "preallocate": preallocate}, None)
        self.device = client.devices()[0]
        self.sharding = jax.sharding.SingleDeviceSharding(self.device)

    def stats(self):
        return self.device.memory_stats()

    def put(self, size):
        array = xla_client.batched_device_put(
            jax.core.ShapedArray((size,), numpy.uint8), self.sharding,
            [numpy.empty(size, numpy.uint8)], [self.device])
        array.block_until_ready()
        return array

    def delete(self, array):
        """A thread that made a copy may hold the array a little longer."""
        before = self.stats()["bytes_in_use"]
        array.delete()
        until = time.monotonic() + SETTLE
        while self.stats()["bytes_in_use"] >= before:
            if time.monotonic() > until:
                raise TimeoutError("an array is not freed")
            time.sleep(0.0001)


def of_jax(capacity, events, fraction, preallocate):
    device = Served(capacity)
    arrays = Arrays(fraction, preallocate)
    live = {}
    for event in events:
        if event["op"] == "free":
            array = live.pop(event["id"], None)
            if array is not None:
                device.log.append(("free", array.unsafe_buffer_pointer()))
                arrays.delete(array)
            continue
        try:
            array = arrays.put(event["size"])
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            device.log.append(("oom", event["size"]))
            continue
        device.log.append(("alloc", array.unsafe_buffer_pointer(),
                           event["size"], 0))
        live[event["id"]] = array
    return list(device.log), arrays.stats()


def one_stream(events):
    return [dict(e, stream=0) if e["op"] == "alloc" else e
            for e in events if e["op"] != "empty_cache"]


def until_memory_ends(log, events, with_it):
    """Up to the first request that fails."""
    requests = 0
    for action in log:
        if action[0] == "oom":
            break
        requests += action[0] == "alloc"
    else:
        return events
    for at, event in enumerate(events):
        if event["op"] == "alloc":
            if not requests:
                return events[:at + with_it]
            requests -= 1
    return events


def told(log):
    """The numbers that memory_stats should have: requests, and the most
    held."""
    requests = held = most = 0
    segments = {}
    for what, *rest in log:
        if what == "segment_alloc":
            segments[rest[0]] = rest[1]
            held += rest[1]
            most = max(most, held)
        elif what == "segment_free":
            held -= segments.pop(rest[0])
        requests += what == "alloc"
    return requests, most


def compare(program, work, seed):
    """Returns the difference, or None, and the number of actions."""
    dice = random.Random(seed)
    capacity, events = made_up(seed)
    fraction = dice.choice([0.75, 0.9, 0.3])
    preallocate = seed % 2 == 0
    engine = "bfc:garbage_collection=false:fraction=%g:preallocate=%s" % (
        fraction, "true" if preallocate else "false")
    events = one_stream(events)
    ours = of_gpupool(program, work, capacity, events, engine)
    events = until_memory_ends(ours, events, seed % CASES_OF_AN_OOM == 0)
    ours = of_gpupool(program, work, capacity, events, engine)
    with multiprocessing.Pool(1) as process:
        theirs, stats = process.apply(of_jax, (capacity, events, fraction,
                                               preallocate))
    for at, pair in enumerate(zip(ours, theirs)):
        if pair[0] != pair[1]:
            return "action %d: gpupool %s, jaxlib %s" % (at, *pair), at
    if len(ours) != len(theirs):
        return "gpupool %d actions, jaxlib %d" % (len(ours), len(theirs)), 0
    theirs = stats["num_allocs"], stats["peak_pool_bytes"]
    if told(ours) != theirs:
        return "totals: gpupool %s, jaxlib %s" % (told(ours), theirs), 0
    return None, len(ours)


def main():
    program, work, cases = sys.argv[1], sys.argv[2], int(sys.argv[3])
    actions = 0
    for seed in range(cases):
        wrong, alike = compare(program, work, seed)
        if wrong:
            print("case %d: %s" % (seed, wrong))
            return 1
        actions += alike
    print("jaxlib %s: %d cases, %d actions" % (jaxlib.__version__, cases,
                                               actions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
