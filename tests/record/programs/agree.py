# SPDX-License-Identifier: MIT
"""Ranks that agree on values which none of them knows: whether a gradient is
too large, as DeepSpeed asks before each step, and a sum of random numbers."""

import os

import torch
import torch.distributed as dist

from job import start


def say(text):
    """Writes in one piece, because the other rank writes too."""
    os.write(1, f"{text}\n".encode())


ranks = start()

gradient = torch.rand(1 << 26, device="cuda") * 2
overflow = torch.isfinite(gradient.amax()).logical_not().byte()
dist.all_reduce(overflow, op=dist.ReduceOp.MAX)
say(f"overflow {overflow.item()}")

number = torch.rand(1, device="cuda")
mine = number.item()
dist.all_reduce(number)
told = [None] * ranks
dist.all_gather_object(told, (mine, number.item()))
total = sum(mine for mine, _ in told)
say(f"agreed {all(abs(said - total) < 1e-3 for _, said in told)}")
