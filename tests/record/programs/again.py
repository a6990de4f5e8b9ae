# SPDX-License-Identifier: MIT
"""Checkpointed experts: the second time, tokens go to the same experts:
again.py reentrant|other|nested|late."""
import sys

import torch
from torch import nn

how = sys.argv[1]
if how == "late":
    torch.empty(1, device="cuda")
from torch.utils.checkpoint import checkpoint  # noqa: E402

routes = []


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 4)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        scores = self.router(x) + torch.rand(len(x), 4, device=x.device)
        chosen = scores.argmax(-1)
        routes.append([int((chosen == e).sum()) for e in range(4)])
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = (chosen == e).nonzero()[:, 0]
            out = out.index_add(0, rows, torch.relu(expert(x[rows])))
        return x + out


def run(layer, x):
    return checkpoint(layer, x, use_reentrant=how == "reentrant")


def pair(x):
    return run(layers[1], run(layers[0], x))


layers = nn.ModuleList(Experts() for _ in range(2)).cuda()
x = torch.randn(64, 16, device="cuda", requires_grad=True)
for _ in range(2):
    if how == "nested":
        loss = run(pair, x).sum()
    else:
        loss = pair(x).sum()
    first, routes = routes, []
    loss.backward()
    print(len(routes), all(route in first for route in routes),
          len({tuple(route) for route in first}))
    routes = []
