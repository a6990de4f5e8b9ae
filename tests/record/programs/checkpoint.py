# SPDX-License-Identifier: MIT
"""FSDP2 whose sharded state is saved and loaded by all ranks."""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch.distributed.checkpoint.state_dict import (
    get_state_dict,
    set_state_dict,
)

from job import start

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:
    from torch.distributed._composable.fsdp import fully_shard

start()
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(3)]).cuda()
for layer in model:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.randn(4, 64, device="cuda")).sum().backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()

weights, state = get_state_dict(model, optimizer)
both = {"model": weights, "optimizer": state}
checkpoint.save(both, checkpoint_id=sys.argv[1])
checkpoint.load(both, checkpoint_id=sys.argv[1])
set_state_dict(
    model, optimizer, model_state_dict=weights, optim_state_dict=state
)
os.write(1, b"saved and loaded\n")
dist.destroy_process_group()
