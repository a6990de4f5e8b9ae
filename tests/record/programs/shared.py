# SPDX-License-Identifier: MIT
"""A process that uses memory which another one allocated on the device."""

import sys

import torch
import torch.multiprocessing as multiprocessing


def use(queue, done):
    tensor = queue.get()
    allocated = torch.cuda.memory_allocated()
    print("received", tensor.device, *tensor.shape, allocated)
    (tensor + 1).sum()
    del tensor
    torch.cuda.ipc_collect()
    done.set()


def change(counts, done):
    counts.add_(1)
    torch.cuda.synchronize()
    done.set()


def counts_of(context):
    counts, done = torch.zeros(2, device="cuda"), context.Event()
    beside = torch.ones(2, device="cuda")
    process = context.Process(target=change, args=(counts, done))
    process.start()
    done.wait()
    process.join()
    print("beside", beside.tolist())
    return counts


if __name__ == "__main__" and sys.argv[1:] == ["write"]:
    print(counts_of(multiprocessing.get_context("spawn")).tolist())
elif __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=use, args=(queue, done))
    process.start()
    tensor = torch.zeros(1024, 1024, device="cuda")
    queue.put(tensor)
    done.wait()
    process.join()
    print("ended", process.exitcode)
