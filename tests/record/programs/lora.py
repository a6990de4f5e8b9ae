# SPDX-License-Identifier: MIT
"""LoRA: a frozen bfloat16 Llama, low-rank adapters at queries and values."""

import torch
from models import Llama, next_token_loss
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank=8, scale=2.0):
        super().__init__()
        self.base, self.scale = base, scale
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(x))


model = Llama(layers=6).bfloat16().requires_grad_(False)
for block in model.blocks:
    block.q = Adapted(block.q).bfloat16()
    block.v = Adapted(block.v).bfloat16()
model.cuda()
adapters = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(adapters, lr=1e-4)

for i in range(4):
    tokens = torch.randint(0, 32000, (4, 256 + 128 * (i % 2)), device="cuda")
    loss = next_token_loss(model(tokens), tokens)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(adapters, 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

saved = {n: p.cpu() for n, p in model.state_dict().items() if "up" in n}
