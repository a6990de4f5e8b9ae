# SPDX-License-Identifier: MIT
"""xformers: its memory-efficient attention, forward and backward."""
import torch
from xformers.ops import memory_efficient_attention

torch.manual_seed(0)
q, k, v = (torch.rand(2, 128, 4, 64, device="cuda", dtype=torch.float16,
                      requires_grad=True) for _ in range(3))
memory_efficient_attention(q, k, v).sum().backward()
