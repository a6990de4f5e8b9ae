# SPDX-License-Identifier: MIT
"""Trains a small network for a few steps."""
import torch
from torch import nn

net = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))
net.cuda()
adam = torch.optim.AdamW(net.parameters())
for step in range(5):
    x = torch.randn(64 + 32 * step, 512).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = (net(x) - x).pow(2).mean()
    loss.backward()
    adam.step()
    adam.zero_grad()
    print(step, loss.item())
