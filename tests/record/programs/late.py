# SPDX-License-Identifier: MIT
"""Collectives that are never waited for, messages that are waited for late, and
DDP; the rank named is late."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", rank)
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)


def be_late():
    if rank == int(sys.argv[1]):
        time.sleep(0.15)


def messages():
    """In both directions at once, and in one."""
    other = 1 - rank
    mine = [torch.ones(1 << 20, device=device) for _ in range(3)]
    theirs = [torch.empty(1 << 20, device=device) for _ in range(3)]
    both = [dist.P2POp(dist.isend, x, other) for x in mine]
    both += [dist.P2POp(dist.irecv, x, other) for x in theirs]
    works = dist.batch_isend_irecv(both)
    del mine, theirs, both
    be_late()
    dist.all_reduce(torch.ones(1 << 19, device=device), async_op=True)
    for work in works:
        work.wait()
    be_late()
    move = dist.irecv if rank else dist.isend
    works = [move(torch.ones(i << 18, device=device), other) for i in (1, 2)]
    dist.all_reduce(torch.ones(2 << 20, device=device))
    for work in works:
        work.wait()


for i in range(5):
    be_late()
    dist.all_reduce(torch.ones(i + 1, 1 << 20, device=device), async_op=True)
messages()
model = DistributedDataParallel(
    torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)
    ).to(device),
    [rank],
)
optimizer = torch.optim.AdamW(model.parameters())
for i in range(3):
    be_late()
    model(torch.ones(16, 512, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
