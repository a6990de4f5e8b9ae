# SPDX-License-Identifier: MIT
"""Llama training: bfloat16 autocast, checkpointing, two batches to a step."""

import torch
from models import Llama, next_token_loss
from torch.utils.checkpoint import checkpoint

model = Llama().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)


def run(block, x):
    return checkpoint(block, x, use_reentrant=False)


for i in range(6):
    tokens = torch.randint(0, 32000, (2, 512 + 256 * (i % 3)), device="cuda")
    with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
        loss = next_token_loss(model(tokens, run), tokens) / 2
    loss.backward()
    if i % 2:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"batch {i}: loss {loss.item():.3f}")
