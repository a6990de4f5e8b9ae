# SPDX-License-Identifier: MIT
"""Memory that a Triton kernel can reach is unknown afterwards: what its
arguments point to, and everything if they point to addresses or into a block.
The same holds within an operator of the program's own that does not name the
memory."""

import sys
import torch
import triton
import triton.language as tl
from torch.utils._python_dispatch import TorchDispatchMode


@triton.jit
def fill(to, count: tl.constexpr):
    tl.store(to + tl.arange(0, count), 1.0)


@triton.jit
def fill_indirect(addresses, count: tl.constexpr):
    to = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(to + tl.arange(0, count), 1.0)


class Filling(TorchDispatchMode):
    """Whatever PyTorch is asked for."""

    def __torch_dispatch__(self, operator, types, arguments, named=None):
        fill[(1,)](written, 4)
        return arguments[0]


sizes = torch.tensor([3, 4]).cuda()
written = torch.tensor([5.0, 6.0, 7.0, 8.0]).cuda()
if sys.argv[1] == "direct":
    fill[(1,)](written, 4)
elif sys.argv[1] == "inside":
    fill[(1,)](written[2:], 2)
elif sys.argv[1] == "operator":
    library = torch.library.Library("gpupool", "DEF")
    library.define("fill(Tensor x) -> ()")
    library.impl("fill", lambda x: fill[(1,)](written, 4) and None, "CUDA")
    torch.ops.gpupool.fill(torch.zeros(1, device="cuda"))
elif sys.argv[1] == "dispatch":
    other = torch.zeros(1, device="cuda")
    with Filling():
        other.exp()
else:
    fill_indirect[(1,)](torch.tensor([written.data_ptr()]).cuda(), 4)
print(sizes.tolist())
written.tolist()
