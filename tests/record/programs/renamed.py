# SPDX-License-Identifier: MIT
"""A module that two others call in turn, under another name each time."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)


class Embedder(nn.Module):
    def __init__(self, embedder):
        super().__init__()
        self.embedder = embedder

    def forward(self, x):
        return self.embedder(x)


inner = nn.Linear(256, 256, device="cuda")
x = torch.ones(256, 256, device="cuda")
made = [kind(inner)(x) for kind in (Model, Embedder, Model, Embedder)]
