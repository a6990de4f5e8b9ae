# SPDX-License-Identifier: MIT
"""A loop that ends when an unknown number changes."""

import torch

many = torch.rand(2048, 2048, device="cuda")
for _ in range(1200):
    if (many @ many).argmax().item() > 0:
        break
