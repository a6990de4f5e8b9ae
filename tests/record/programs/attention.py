# SPDX-License-Identifier: MIT
"""Attention by cuDNN, forward and backward."""

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

q, k, v = [
    torch.zeros(
        4, 16, 1024, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True
    )
    for _ in range(3)
]
with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
    F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
