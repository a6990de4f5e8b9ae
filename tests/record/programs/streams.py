# SPDX-License-Identifier: MIT
"""Copies on a side stream, and memory that runs out and is available again."""
import torch

side = torch.cuda.Stream()
for step in range(8):
    host = torch.zeros(1 << 20).pin_memory()
    with torch.cuda.stream(side):
        there = host.cuda(non_blocking=True)
    torch.cuda.current_stream().wait_stream(side)
    there.record_stream(torch.cuda.current_stream())
    result = (there * 2).sum()
    del there
    other = [torch.empty(1 << 18, device="cuda") for _ in range(step)]

big = [torch.empty(1 << 26, device="cuda") for _ in range(3)]
try:
    torch.empty(1 << 28, device="cuda")
except torch.cuda.OutOfMemoryError:
    print("too much")
del big
torch.cuda.empty_cache()
last = torch.empty(1 << 28, device="cuda")
