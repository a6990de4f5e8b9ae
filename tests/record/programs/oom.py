# SPDX-License-Identifier: MIT
"""Runs out of memory, on a small device, and goes on with half the batch."""

import torch
from models import GPT, next_token_loss

model = GPT(layers=4).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
batch, done, errors = 8, 0, 0

while done < 4:
    tokens = torch.zeros(batch, 512, dtype=torch.long, device="cuda")
    try:
        loss = next_token_loss(model(tokens), tokens)
        loss.backward()
        optimizer.step()
        done += 1
    except torch.cuda.OutOfMemoryError:
        errors += 1
        batch //= 2
    loss = tokens = None
    optimizer.zero_grad(set_to_none=True)
    torch.cuda.empty_cache()
print(f"{errors} out-of-memory errors, {batch} sequences fit")
