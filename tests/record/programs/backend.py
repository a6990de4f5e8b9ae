# SPDX-License-Identifier: MIT
"""A program that chooses another allocator than PyTorch's own."""
import os
import sys

if sys.argv[1] == "async":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"
if sys.argv[1] == "uncached":
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"

import torch

if sys.argv[1] == "own":
    # Any two functions will do, because the memory is not used.
    torch.cuda.memory.change_current_allocator(
        torch.cuda.memory.CUDAPluggableAllocator("libc.so.6", "valloc", "free")
    )
torch.zeros(10, device="cuda")
if sys.argv[1] == "disabled":
    torch.cuda.memory.caching_allocator_enable(False)
    torch.zeros(10, device="cuda")
print(torch.cuda.memory.get_allocator_backend())
