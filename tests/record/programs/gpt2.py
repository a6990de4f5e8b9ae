# SPDX-License-Identifier: MIT
"""GPT-2 training: autocast, a scaler, two batches to a step, ragged lengths."""

import torch
from models import GPT, next_token_loss

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scaler = torch.amp.GradScaler("cuda")
lengths = [256, 128, 512, 256, 384, 512]

for i, length in enumerate(lengths):
    tokens = torch.randint(0, 50257, (4, length)).cuda()
    with torch.autocast("cuda", torch.float16, cache_enabled=False):
        loss = next_token_loss(model(tokens), tokens) / 2
    scaler.scale(loss).backward()
    if i % 2:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
