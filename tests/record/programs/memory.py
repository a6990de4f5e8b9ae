# SPDX-License-Identifier: MIT
"""The device's free memory, before anything is allocated and after; then an
allocation larger than that."""

import torch

MIB = 1 << 20
free, total = torch.cuda.mem_get_info()
print("taken", (total - free) / MIB)
x = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
print("used", (free - torch.cuda.mem_get_info()[0]) // MIB)
try:
    torch.empty(free // MIB * MIB, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    print("full")
