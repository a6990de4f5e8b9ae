# SPDX-License-Identifier: MIT
"""accelerate finds the largest batch that fits, by running out of memory."""
import torch
from accelerate.utils import find_executable_batch_size

torch.cuda.set_per_process_memory_fraction(0.01)


@find_executable_batch_size(starting_batch_size=1 << 16)
def train(batch_size):
    model = torch.nn.Linear(4096, 4096).cuda()
    model(torch.rand(batch_size, 4096, device="cuda")).sum().backward()
    return batch_size


print("rows:", train())
