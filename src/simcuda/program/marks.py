# SPDX-License-Identifier: MIT
"""Reports ranges as marks: those of record_function, which optimizers have
around their steps, and those of NVTX.
"""

import ctypes

import torch

tell = ctypes.CDLL(None).simcuda_mark


def mark(name, stage):
    tell(str(name).encode("utf-8", "replace"), stage)


def wrap_ranges():
    r = torch.autograd.profiler.record_function
    enter, leave = r.__enter__, r.__exit__

    def __enter__(self):
        mark(self.name, 1)
        return enter(self)

    def __exit__(self, *why):
        result = leave(self, *why)
        mark(self.name, 2)
        return result

    r.__enter__, r.__exit__ = __enter__, __exit__


def wrap_nvtx():
    n = torch._C._nvtx
    push, pop, point = n.rangePushA, n.rangePop, n.markA
    names = []

    def rangePushA(name):
        names.append(name)
        mark(name, 1)
        return push(name)

    def rangePop():
        if names:
            mark(names.pop(), 2)
        return pop()

    def markA(name):
        mark(name, 0)
        return point(name)

    n.rangePushA, n.rangePop, n.markA = rangePushA, rangePop, markA


for wrap in wrap_ranges, wrap_nvtx:
    try:
        wrap()
    except Exception:
        pass
