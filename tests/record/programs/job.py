# SPDX-License-Identifier: MIT
"""The ranks of a job: those torchrun started; alone, the first of eight."""

import os

import torch
import torch.distributed as dist


def start(backend="nccl"):
    """Joins the job; says how many ranks it has."""
    if "RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group(backend)
    else:
        dist.init_process_group(
            backend, rank=0, world_size=8, store=dist.HashStore()
        )
    return dist.get_world_size()
