# SPDX-License-Identifier: MIT
"""How often Python's garbage collector runs."""

import gc
import sys

import torch

device = sys.argv[1]
layers = [
    torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
    for _ in range(60)
]
model = torch.nn.Sequential(*layers).to(device)
optimizer = torch.optim.SGD(model.parameters(), foreach=False)
phases = []
gc.set_threshold(1000, 100, 100)
gc.collect()
gc.callbacks.append(lambda phase, info: phases.append(phase))
for step in range(22):
    loss = model(torch.ones(4, 8, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    for _ in range(300):
        cycle = [loss]
        cycle.append(cycle)
print(phases.count("start"))
