# SPDX-License-Identifier: MIT
"""FSDP2: a Llama whose blocks are sharded over the job's ranks."""

import job
import torch
import torch.distributed as dist
from models import Llama, next_token_loss
from torch.distributed.device_mesh import init_device_mesh

try:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
except ImportError:  # before 2.6
    from torch.distributed._composable.fsdp import (
        MixedPrecisionPolicy,
        fully_shard,
    )

mesh = init_device_mesh("cuda", (job.start(),))
with torch.device("meta"):
    model = Llama(layers=4)
policy = MixedPrecisionPolicy(
    param_dtype=torch.bfloat16, reduce_dtype=torch.float32
)
for block in model.blocks:
    fully_shard(block, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
model.to_empty(device="cuda")
optimizer = torch.optim.AdamW(model.parameters())

for i in range(3):
    tokens = torch.zeros(
        2, 256 + 128 * (i % 2), dtype=torch.long, device="cuda"
    )
    next_token_loss(model(tokens), tokens).backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
dist.destroy_process_group()
