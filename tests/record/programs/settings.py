# SPDX-License-Identifier: MIT
"""Changes a setting for a while, and restores the original one."""
import os
import torch


def take(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


given = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
large = take(40 << 20)
torch.cuda.memory._set_allocator_settings("max_split_size_mb:20")
other = take(30 << 20)
torch.cuda.memory._set_allocator_settings(given)
del large
# In the memory of the large one, which may be split again.
small = take(10 << 20)
