# SPDX-License-Identifier: MIT
"""Embeds documents of any length, batch by batch, and keeps the results: each
lies in memory of an earlier batch, and pins it."""

import random

import torch
from torch import nn

random.seed(0)
width = 1024
net = nn.Sequential(
    nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
).cuda()
kept = []
with torch.no_grad():
    for step in range(60):
        documents, length = random.randint(8, 64), random.randint(64, 512)
        batch = torch.rand(documents, length, width).cuda()
        kept.append(net(batch)[:, : length // 16].clone())
print(sum(t.numel() for t in kept))
