# SPDX-License-Identifier: MIT
"""One rank of a job, without the others: stage.py HOW RANK.

pipeline: one stage of four, one forward, one backward.  tensor: one rank of
four among which each layer is split.
"""
import sys

import torch
from torch import nn

how, rank, ranks = sys.argv[1], int(sys.argv[2]), 4
WIDTH, VOCABULARY, MICRO = 1024, 16000, 8


def block(width):
    return nn.Sequential(
        nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * width), nn.GELU(),
        nn.Linear(4 * width, WIDTH))


width = WIDTH if how == "pipeline" else WIDTH // ranks
layers = [block(width) for _ in range(4 if how == "pipeline" else 8)]
is_first = how == "tensor" or rank == 0
is_last = how == "tensor" or rank == ranks - 1
if is_first:
    layers.insert(0, nn.Embedding(VOCABULARY, WIDTH))
if is_last:
    layers.append(nn.Linear(WIDTH, VOCABULARY))
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def received(batch):
    """The input from the previous stage: tokens, or activations."""
    if is_first:
        return torch.zeros(batch, 256, dtype=torch.long, device="cuda")
    return torch.zeros(batch, 256, WIDTH, device="cuda", requires_grad=True)


def backward(pair):
    given, out = pair
    if is_last:
        out.float().logsumexp(-1).mean().backward()
    else:
        out.backward(torch.zeros_like(out))
    return given.grad


ahead = ranks - 1 - rank if how == "pipeline" else 0
for step in range(3):
    waiting = []
    for micro in range(MICRO):
        x = received(2 + step % 2)
        waiting.append((x, model(x)))
        if len(waiting) > ahead:
            backward(waiting.pop(0))
    while waiting:
        backward(waiting.pop(0))
    optimizer.step()
    optimizer.zero_grad()
