# SPDX-License-Identifier: MIT
"""DDP: a GPT whose gradients are averaged over the job's ranks."""

import job
import torch
import torch.distributed as dist
from models import GPT, next_token_loss
from torch.nn.parallel import DistributedDataParallel

job.start()
torch.manual_seed(1)
model = DistributedDataParallel(
    GPT(layers=2).cuda(),
    device_ids=[torch.cuda.current_device()],
    gradient_as_bucket_view=True,
)
optimizer = torch.optim.AdamW(model.parameters())

for i in range(4):
    tokens = torch.zeros(
        4, 128 + 128 * (i % 2), dtype=torch.long, device="cuda"
    )
    next_token_loss(model(tokens), tokens).backward()
    optimizer.step()
    optimizer.zero_grad()
total = torch.ones(1, device="cuda")
dist.all_reduce(total)
dist.barrier()
dist.destroy_process_group()
