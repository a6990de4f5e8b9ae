# SPDX-License-Identifier: MIT
"""What torch.compile's trees of CUDA graphs do to a pool: restore it to its
state after an earlier graph."""

import torch

pool = torch.cuda.graph_pool_handle()
side = torch.cuda.Stream()
x = torch.randn(300, 1000, device="cuda")
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
torch.cuda.synchronize()

with torch.cuda.graph(first, pool=pool, stream=side):
    a = x * 2
    b = a + 1
    c = torch.empty(30_000_000, dtype=torch.uint8, device="cuda")
    d = torch.empty(700, device="cuda")
    del b
state = torch._C._cuda_getCheckpointState(0, pool)
with torch.cuda.graph(second, pool=pool, stream=side):
    e = x * 3
    f = torch.empty(2_000_000, device="cuda")

stale = [t.untyped_storage()._cdata for t in (a, c, d, e, f)]
torch._C._cuda_setCheckpointPoolState(0, state, stale, [])
y = torch.empty(100, device="cuda")
torch.cuda.synchronize()
