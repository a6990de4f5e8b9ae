# SPDX-License-Identifier: MIT
"""A pool that one thread uses, while others allocate as usual."""

import threading

import torch


def take(megabytes):
    return torch.empty(megabytes << 20, dtype=torch.uint8, device="cuda")


kept = []
layer = torch.nn.Linear(1024, 1024).cuda()
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    kept.append(take(3))
    thread = threading.Thread(target=lambda: kept.append(take(5)))
    thread.start()
    thread.join()
    kept.append(take(1))
    # The backward pass has its own threads.
    layer(torch.randn(64, 1024, device="cuda")).sum().backward()
kept.append(take(7))
kept.clear()
torch.cuda.empty_cache()
