# SPDX-License-Identifier: MIT
"""Keeps buffers, gradients and optimizer states that show neither in a call of
a module nor at the end of a step, and prints their expected sizes: seldom.py
KIND."""

import atexit
import io
import os
import sys

import torch
from torch import nn

# After gpupool's own work at the end: the trace ends with what is kept.
atexit.register(os._exit, 0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.head = nn.Linear(64, 500)
        self.register_buffer("mask", torch.ones(300))

    def encode(self, x):
        return self.head(self.embed(x)).mean()


class RunsOut(torch.optim.Optimizer):
    """Memory runs out in its step, when its states are created."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter]["last"] = parameter.grad.clone()
        raise torch.cuda.OutOfMemoryError


def uncalled(model):
    """The module that owns the buffer."""
    return WEIGHTS, 0


def cleared(model):
    """As with an optimizer that has copies on the host."""
    model.zero_grad()
    return 0, 0


def unfinished(model):
    optimizer = RunsOut(model.parameters())
    kept.append(optimizer)
    try:
        optimizer.step()
    except torch.cuda.OutOfMemoryError:
        return WEIGHTS, WEIGHTS


def sparse(model):
    """One of several gradients exists, with its state."""
    index = torch.zeros(1, 8, dtype=torch.int64)
    gradient = torch.sparse_coo_tensor(index, torch.ones(8, 64), (500, 64))
    model.embed.weight.grad = gradient.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    kept.append(optimizer)
    optimizer.step()
    size = HEAD + 8 * 64 * 4 + 8 * 8
    return size, size


def resumed(model):
    """States that are loaded before a step."""
    first = torch.optim.AdamW(model.parameters())
    first.step()
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    optimizer = torch.optim.AdamW(model.parameters())
    kept.append(optimizer)
    optimizer.load_state_dict(torch.load(file, map_location="cpu"))
    return WEIGHTS, 2 * WEIGHTS


HEAD = (500 * 64 + 500) * 4
WEIGHTS = 500 * 64 * 4 + HEAD
kept = [Net().cuda()]
kept[0].encode(torch.randint(0, 500, (2, 16)).cuda()).backward()
gradient, state = globals()[sys.argv[1]](kept[0])
print("buffer", 300 * 4)
print("gradient", gradient)
print("optimizer_state", state)
print("parameter", WEIGHTS, flush=True)
