# SPDX-License-Identifier: MIT
"""Ranks that send each other something: objects, numbers, a barrier."""

import os
import sys
import time

import torch
import torch.distributed as dist

from job import start


def say(*words):
    """Writes a line in one piece, because the other rank writes too."""
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())


ranks = start()
rank = dist.get_rank()

objects = [None] * ranks
dist.all_gather_object(objects, {"rank": rank, "text": "x" * 3000 * (rank + 1)})
say("objects", [len(o["text"]) for o in objects])

objects = [("from", rank), "another"] if rank == 0 else [None, None]
dist.broadcast_object_list(objects, src=0)
say("broadcast", objects)

objects = [None]
dist.scatter_object_list(objects, [f"for {i}" for i in range(ranks)])
say("scattered", objects == [f"for {rank}"])

count = torch.tensor([rank + 1], device="cuda")
dist.all_reduce(count)
largest = torch.tensor([float(rank)], device="cuda")
dist.all_reduce(largest, op=dist.ReduceOp.MAX)
say("sum", count.item(), "largest", largest.item())

sent = torch.tensor([10 * rank + i for i in range(ranks)]).cuda()
received = torch.empty_like(sent)
dist.all_to_all_single(received, sent)
say("exchanged", received.tolist() == [10 * i + rank for i in range(ranks)])

# Each one sends before it has received what it waits for.
coming = torch.empty(1, dtype=torch.int64, device="cuda")
work = dist.batch_isend_irecv(
    [
        dist.P2POp(dist.irecv, coming, (rank - 1) % ranks),
        dist.P2POp(dist.isend, sent[:1].clone(), (rank + 1) % ranks),
    ]
)
for one in work:
    one.wait()
say("around", coming.item() == 10 * ((rank - 1) % ranks))

# What a rank does before the barrier is visible to the others after it.
path = os.path.join(sys.argv[1], "written")
if rank == 0:
    time.sleep(0.3)
    open(path, "w").close()
dist.barrier()
say("behind the barrier", os.path.exists(path))
dist.destroy_process_group()
