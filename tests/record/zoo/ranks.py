# SPDX-License-Identifier: MIT
"""Two ranks: DDP, FSDP2, tensor, pipeline and context parallel."""
import os
import sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

how, rank = sys.argv[1], int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
dist.init_process_group("nccl", device_id=device)
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(512, 2048), torch.nn.ReLU(),
    torch.nn.Linear(2048, 512)).to(device)
x = torch.rand(16, 512).to(device)


def train(module, steps=2):
    optimizer = torch.optim.AdamW(module.parameters())
    for _ in range(steps):
        module(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if how == "ddp":
    train(torch.nn.parallel.DistributedDataParallel(model, [rank]))
elif how == "fsdp2":
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        fully_shard(layer, mesh=mesh)
    train(fully_shard(model, mesh=mesh))
elif how == "tensor":
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module)
    train(parallelize_module(
        model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()}))
elif how == "pipeline":
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    part = torch.nn.Sequential(*list(model)[:2] if rank == 0
                               else list(model)[2:])
    schedule = ScheduleGPipe(PipelineStage(part, rank, 2, device), 4,
                             loss_fn=torch.nn.functional.mse_loss)
    for _ in range(2):
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=x, losses=[])
else:
    from torch.distributed.tensor.experimental import context_parallel
    q, k, v = (torch.rand(2, 4, 128, 32, device=device) for _ in range(3))
    with context_parallel(mesh, buffers=[q, k, v], buffer_seq_dims=[2] * 3):
        torch.nn.functional.scaled_dot_product_attention(
            q.clone().requires_grad_(), k, v, is_causal=True).sum().backward()
dist.destroy_process_group()
