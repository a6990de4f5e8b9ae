# SPDX-License-Identifier: MIT
"""Dropout within fused operators: backward drops the same elements, because the
result is proportional to the values, or to the input."""

import torch
from torch import nn

torch.manual_seed(0)
KINDS = nn.attention.SDPBackend
attend = nn.functional.scaled_dot_product_attention
for backend, dtype in (
    (KINDS.EFFICIENT_ATTENTION, torch.float32),
    (KINDS.FLASH_ATTENTION, torch.bfloat16),
    (KINDS.CUDNN_ATTENTION, torch.bfloat16),
):
    q, k, v = (torch.randn(2, 4, 24, 16).to("cuda", dtype) for _ in range(3))
    v.requires_grad_()
    with nn.attention.sdpa_kernel(backend):
        out, whole = (attend(q, k, v, dropout_p=p).float() for p in (0.5, 0))
    out.sum().backward()
    by = (v.float() * v.grad.float()).sum()
    print(
        backend.name,
        (by - out.sum()).abs().item() < 1,
        (out - whole).abs().max().item() > 0.1,
    )
of = nn.RNN(6, 4, 2, "relu", bias=False, dropout=0.5).cuda()
x = torch.randn(3, 5, 6, device="cuda", requires_grad=True)
out = of(x)[0].sum()
out.backward()
print("relu", (out - (x * x.grad).sum()).abs().item() < 1e-3)
