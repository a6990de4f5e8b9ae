# SPDX-License-Identifier: MIT
"""Compares the engine cupy with CuPy's own pool.

    python3 cupy_pool.py GPUPOOL WORK CASES

Generated programs are run through cupy.cuda.MemoryPool, as the wheel has it,
and through gpupool replay --engine cupy, and the actions of both, with their
addresses, are compared. No device is needed: the pool obtains its memory from
Python functions, which act as gpupool's simulated device does, and its calls of
the runtime are answered here.

Of free chunks of the same size, CuPy takes the one whose Python object has the
lowest address, which is chance. A case ends where it takes another one than
gpupool, after a check that both were free and of the same size.
"""
import ctypes
import gc
import json
import random
import subprocess
import sys

GRAIN = 2 << 20
BASE = 0x700000000000
OUT_OF_MEMORY = 2
EVENTS = 250


def answer_for_runtime():
    """In place of the runtime: there is one device, and it is current."""
    from cupy_backends.cuda.api import runtime

    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                  ctypes.c_void_p]
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    kept = []
    # Cython modules import each other's functions from here.
    functions = runtime.__pyx_capi__
    for name, value in ("getDevice", 0), ("getDeviceCount", 1):
        function = kind(lambda _, value=value: value)
        signature = api.PyCapsule_GetName(functions[name])
        address = ctypes.cast(function, ctypes.c_void_p)
        functions[name] = api.PyCapsule_New(address, signature, None)
        kept += [function, signature]
    return runtime.CUDARuntimeError, kept


class Device:
    """First fit from the lowest address, in grains."""

    def __init__(self, capacity, error):
        self.grains = capacity // GRAIN
        self.segments = {}  # first grain -> grains
        self.error = error
        self.log = []
        self.stream = 0

    def malloc(self, size, _):
        need = -(-size // GRAIN)
        if need + sum(self.segments.values()) > self.grains:
            raise self.error(OUT_OF_MEMORY)
        at = 0
        for first in sorted(self.segments):
            if first - at >= need:
                break
            at = first + self.segments[first]
        self.segments[at] = need
        self.log.append(("segment_alloc", BASE + at * GRAIN, size,
                         self.stream))
        return BASE + at * GRAIN

    def free(self, addr, _):
        del self.segments[(addr - BASE) // GRAIN]
        self.log.append(("segment_free", addr))


def made_up(seed):
    """A capacity, and events in a trace's form."""
    dice = random.Random(seed)
    few = [dice.randrange(1, 1 << dice.randrange(9, 26)) for _ in range(6)]
    live, events = [], []
    for number in range(EVENTS):
        what = dice.random()
        if what < 0.02:
            events.append({"op": "empty_cache"})
        elif live and what < 0.46:
            at = dice.randrange(len(live))
            events.append({"op": "free", "id": live.pop(at)})
        else:
            size = dice.choice(few) if seed % 3 == 0 else int(
                2 ** dice.uniform(11, 26))
            live.append(number + 1)
            events.append({"op": "alloc", "id": number + 1, "size": size,
                           "stream": dice.choice([0, 0, 0, 7])})
    return dice.choice([64, 200, 4000]) << 20, events


def of_cupy(memory, streams, capacity, events, error):
    device = Device(capacity, error)
    source = memory.PythonFunctionAllocator(device.malloc, device.free)
    pool = memory.MemoryPool(source.malloc)
    blocks = {}
    for event in events:
        if event["op"] == "empty_cache":
            pool.free_all_blocks()
        elif event["op"] == "free":
            block = blocks.pop(event["id"], None)
            if block is not None:
                device.log.append(("free", block.ptr))
                # The last reference to the block: this frees it.
                del block
        else:
            device.stream = event["stream"]
            with streams[device.stream]:
                try:
                    block = pool.malloc(event["size"])
                except memory.OutOfMemoryError:
                    device.log.append(("oom", event["size"]))
                    continue
            device.log.append(("alloc", block.ptr, event["size"],
                               device.stream))
            blocks[event["id"]] = block
            del block
    return list(device.log)  # the destruction of the pool does not count


def of_gpupool(program, work, capacity, events, engine="cupy"):
    path = work + "/trace.json"
    with open(path, "w") as out:
        json.dump({"format": "gpupool-trace", "version": 1, "devices": [
            {"device": 0, "total_memory": capacity, "events": events}]}, out)
    said = subprocess.run(
        [program, "replay", path, "-q", "--engine", engine, "--capacity",
         str(capacity), "--events", "-"],
        stdout=subprocess.PIPE, check=False, text=True).stdout
    log = []
    for line in said.splitlines():
        e = json.loads(line)
        if e["action"] in ("alloc", "segment_alloc"):
            log.append((e["action"], e["addr"], e["size"], e["stream"]))
        elif e["action"] == "oom":
            log.append(("oom", e["size"]))
        elif e["action"] == "segment_free":
            log.append(("segment_free", e["addr"]))
        elif e["action"] == "free_completed":
            log.append(("free", e["addr"]))
    return log


def in_order(log):
    """Segments that are released together may be in any order."""
    run, out = [], []
    for entry in log:
        if entry[0] == "segment_free":
            run.append(entry)
            continue
        out += sorted(run) + [entry]
        run = []
    return out + sorted(run)


class Chunks:
    """Free memory after the part that both have in common."""

    def __init__(self, log):
        self.segments = {}
        self.used = {}
        for what, *rest in log:
            if what == "segment_alloc":
                self.segments[rest[0]] = rest[1], rest[2]
            elif what == "segment_free":
                del self.segments[rest[0]]
            elif what == "alloc":
                self.used[rest[0]] = -(-rest[1] // 512) * 512
            elif what == "free":
                del self.used[rest[0]]

    def free(self, stream):
        """Address -> size."""
        chunks = {}
        for base, (size, of) in self.segments.items():
            if of != stream:
                continue
            at = base
            for addr in sorted(a for a in self.used
                               if base <= a < base + size):
                if addr > at:
                    chunks[at] = addr - at
                at = addr + self.used[addr]
            if base + size > at:
                chunks[at] = base + size - at
        return chunks


def is_chance(log, ours, theirs):
    if ours[0] != "alloc" or theirs[0] != "alloc" or ours[2:] != theirs[2:]:
        return False
    chunks = Chunks(log).free(ours[3])
    return chunks.get(ours[1], 0) == chunks.get(theirs[1], 1)


def main():
    program, work, cases = sys.argv[1], sys.argv[2], int(sys.argv[3])
    error, _kept = answer_for_runtime()
    import cupy
    from cupy.cuda import memory

    streams = {number: cupy.cuda.ExternalStream(number) for number in (0, 7)}
    gc.freeze()  # CuPy runs the garbage collector when memory runs out.
    alike = whole = 0
    for seed in range(cases):
        capacity, events = made_up(seed)
        theirs = in_order(of_cupy(memory, streams, capacity, events, error))
        ours = in_order(of_gpupool(program, work, capacity, events))
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b),
                  None)
        if at is None and len(ours) == len(theirs):
            at = len(ours)
            whole += 1
        elif at is None or not is_chance(ours[:at], ours[at], theirs[at]):
            at = min(len(ours), len(theirs)) if at is None else at
            print("case %d, action %d: gpupool %s, CuPy %s" % (
                seed, at, ours[at:at + 1], theirs[at:at + 1]))
            return 1
        alike += at
    print("CuPy %s: %d of %d cases alike to the end, %d actions" % (
        cupy.__version__, whole, cases, alike))
    return 0 if whole * 4 > cases else 1


if __name__ == "__main__":
    sys.exit(main())
