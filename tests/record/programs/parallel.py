# SPDX-License-Identifier: MIT
"""Replicas of a module, each on its own device and in its own thread."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
model = nn.DataParallel(model.cuda())
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    optimizer.zero_grad()
    model(torch.randn(12, 64)).pow(2).mean().backward()
    optimizer.step()
