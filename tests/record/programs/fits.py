# SPDX-License-Identifier: MIT
"""Asks how much memory there is, and allocates 20 GiB regardless."""

import torch

free, total = torch.cuda.mem_get_info()
print(total >> 20)
held = [torch.empty(1 << 28, device="cuda") for _ in range(20)]
print(torch.cuda.mem_get_info()[0] >> 20)
