# SPDX-License-Identifier: MIT
"""bitsandbytes: Adam with 8-bit states."""
import bitsandbytes
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(1024, 4096), torch.nn.GELU(),
    torch.nn.Linear(4096, 1024)).cuda()
optimizer = bitsandbytes.optim.Adam8bit(model.parameters())
for _ in range(2):
    model(torch.rand(32, 1024).cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
