# SPDX-License-Identifier: MIT
"""bitsandbytes and peft: adapters on 4-bit weights (QLoRA)."""
import bitsandbytes
import torch

torch.manual_seed(0)
base = bitsandbytes.nn.Linear4bit(
    1024, 1024, bias=False, quant_type="nf4",
    compute_dtype=torch.bfloat16).cuda()
down = torch.nn.Linear(1024, 8, bias=False).cuda()
up = torch.nn.Linear(8, 1024, bias=False).cuda()
optimizer = bitsandbytes.optim.PagedAdamW8bit(
    [*down.parameters(), *up.parameters()])
for _ in range(2):
    x = torch.rand(32, 1024).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = (base(x) + up(down(x))).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
