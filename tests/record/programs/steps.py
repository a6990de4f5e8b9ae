# SPDX-License-Identifier: MIT
"""The given number of training steps of a GPT, and the time they took."""

import sys
import time

import torch
from models import GPT, next_token_loss

model = GPT(layers=4).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def step():
    tokens = torch.randint(0, 50257, (4, 256)).cuda()
    mask = tokens != 0
    next_token_loss(model(tokens), tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return mask.sum().item()


step()
begin = time.process_time()
for i in range(int(sys.argv[1])):
    step()
print("seconds %.2f" % (time.process_time() - begin), flush=True)
