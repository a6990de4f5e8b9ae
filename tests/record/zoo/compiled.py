# SPDX-License-Identifier: MIT
"""torch.compile: a small transformer layer, by mode."""
import sys
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(
    128, 4, 256, dropout=0.0, batch_first=True).cuda()
step = torch.compile(layer, mode=sys.argv[1])
optimizer = torch.optim.AdamW(layer.parameters())
for _ in range(3):
    step(torch.rand(4, 32, 128).cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
