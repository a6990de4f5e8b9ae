# SPDX-License-Identifier: MIT
"""KEEP=FOLDER keep.py PROGRAM [ARGUMENT...]: runs it and keeps, as
FOLDER/snapshot.pickle and FOLDER/counters.json, what PyTorch tells of its
memory: on a GPU and under gpupool record alike.  CAPACITY is what it may take
of the device, in bytes."""

import gc
import json
import os
import runpy
import sys

import torch

folder = os.path.abspath(os.environ["KEEP"])
native = "cudaMallocAsync" not in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")


def libraries():
    """CUDA's libraries that the process has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if ".so" in line}
    names = {os.path.basename(path) for path in paths}
    return sorted(
        n for n in names if n.startswith(("libcu", "libnv", "libnccl"))
    )


def keep():
    # Otherwise, objects in reference cycles are freed at any time.
    gc.collect()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    told = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "device": torch.cuda.get_device_name(),
        "free_bytes": free,
        "total_bytes": total,
        "libraries": libraries(),
        "counters": torch.cuda.memory_stats(),
    }
    with open(os.path.join(folder, "counters.json"), "w") as file:
        json.dump(told, file, indent=1)
    if native:
        torch.cuda.memory._dump_snapshot(
            os.path.join(folder, "snapshot.pickle")
        )


if native:
    torch.cuda.memory._record_memory_history(
        max_entries=10_000_000, context=None
    )
if "CAPACITY" in os.environ:
    # Half a segment more, so that rounding does not remove one.
    capacity = int(os.environ["CAPACITY"]) + (1 << 20)
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(capacity / total)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    keep()
