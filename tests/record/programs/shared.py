# SPDX-License-Identifier: MIT
"""A process that uses what another one put on the device."""

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


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=use, args=(queue, done))
    process.start()
    tensor = torch.zeros(1024, 1024, device="cuda")
    queue.put(tensor)
    done.wait()
    process.join()
    print("ended", process.exitcode)
