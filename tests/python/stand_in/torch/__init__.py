# SPDX-License-Identifier: MIT
"""As much of PyTorch as gpupool.crash asks for, without PyTorch.

run_out() is what the allocator does when memory has run out.  The snapshot is
the one that SNAPSHOT names.
"""

import os
import pickle
import sys
import types


class OutOfMemoryError(RuntimeError):
    pass


def _module(name, **parts):
    module = types.ModuleType("torch." + name)
    module.__dict__.update(parts)
    sys.modules["torch." + name] = module
    return module


observers = []
called = []


def _snapshot():
    called.append("snapshot")
    if os.environ.get("SNAPSHOT_FAILS") == "oom":
        run_out()
    if os.environ.get("SNAPSHOT_FAILS"):
        raise RuntimeError("no snapshot can be taken")
    with open(os.environ["SNAPSHOT"], "rb") as file:
        return pickle.load(file)


def _record_memory_history(enabled, stacks="all", max_entries=0):
    called.append(("record", enabled, max_entries))


_C = _module("_C", _cuda_attach_out_of_memory_observer=observers.append)
cuda = _module(
    "cuda",
    OutOfMemoryError=OutOfMemoryError,
    _lazy_call=lambda call: call(),
)
cuda.memory = _module(
    "cuda.memory",
    _snapshot=_snapshot,
    _record_memory_history=_record_memory_history,
)


def run_out(message="CUDA out of memory. Tried to allocate 60.00 MiB."):
    for observer in observers:
        observer(0, 60 << 20, 1 << 30, 0)
    raise OutOfMemoryError(message)
