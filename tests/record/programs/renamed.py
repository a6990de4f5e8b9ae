# SPDX-License-Identifier: MIT
"""A module that two others call in turn, under different names."""

import torch
from torch import nn


class Outer(nn.Module):
    def __init__(self, name, inner):
        super().__init__()
        self.add_module(name, inner)

    def forward(self, x):
        return next(self.children())(x)


inner = nn.Linear(256, 256, device="cuda")
x = torch.ones(256, 256, device="cuda")
made = [Outer(name, inner)(x) for name in ("model", "embedder") * 2]
