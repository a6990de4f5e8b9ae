# SPDX-License-Identifier: MIT
"""Two steps of a training loop that marks its ranges."""
import torch
from torch import nn

net = nn.Linear(64, 8).cuda()
adam = torch.optim.AdamW(net.parameters())


def train_step(x):
    with torch.profiler.record_function("forward"):
        loss = net(x).square().mean()
    torch.cuda.nvtx.range_push("backward")
    loss.backward()
    torch.cuda.nvtx.range_pop()
    adam.step()
    adam.zero_grad()
    return loss.item(), (loss > 0).item(), loss.long().item()


for step in range(2):
    # Its numbers are unknown.
    print(*train_step(torch.empty(4, 64, device="cuda").cauchy_()))
