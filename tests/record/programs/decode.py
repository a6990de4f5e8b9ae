# SPDX-License-Identifier: MIT
"""KV-cache decoding: keys and values grow by one token a step."""

import torch
from models import Llama

with torch.device("cuda"):
    model = Llama(layers=4).bfloat16().eval()

with torch.no_grad():
    for batch, prompt, steps in ((1, 64, 12), (4, 200, 10), (8, 32, 14)):
        tokens = torch.randint(0, 32000, (batch, prompt), device="cuda")
        caches = [[] for _ in model.blocks]
        for step in range(steps):
            new = tokens if not step else tokens[:, -1:]
            logits = model(new, caches=caches)[:, -1]
            chosen = torch.softmax(logits.float(), -1).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, chosen], 1)
        print(tokens.shape)
