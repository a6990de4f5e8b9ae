# SPDX-License-Identifier: MIT
"""A kernel of the program's own, launched through the runtime, so that its
arguments are unknown. What the surrounding operator receives is unknown
afterwards; so is everything, if that is an address, or if there is no operator,
as in a hook on saved tensors."""

import ctypes
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Three(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]


kernel = ctypes.create_string_buffer(8)
one = Three(1, 1, 1)


def launch(*unused):
    ctypes.CDLL(None).cudaLaunchKernel(kernel, one, one, None, None, None)


def pack(tensor):
    launch()
    return tensor


class Launching(TorchDispatchMode):
    """In place of PyTorch's kernel."""

    def __torch_dispatch__(self, operator, types, arguments, named=None):
        launch()
        return arguments[0]


def call(schema, *arguments):
    library = torch.library.Library("gpupool", "DEF")
    library.define("fill" + schema)
    library.impl("fill", launch, "CUDA")
    torch.ops.gpupool.fill(*arguments)


sizes = torch.tensor([3, 4]).cuda()
written = torch.tensor([5.0, 6.0]).cuda()
other = torch.zeros(2, device="cuda", requires_grad=True)
if sys.argv[1] == "tensor":
    call("(Tensor x) -> ()", written)
elif sys.argv[1] == "number":
    call("(Tensor x, int y) -> ()", written, 7)
elif sys.argv[1] == "address":
    call("(Tensor x, int[] y) -> ()", other, [7, written.data_ptr()])
elif sys.argv[1] == "dict":
    call("(Tensor x, Dict(str, Tensor) y) -> ()", other, {"y": written})
elif sys.argv[1] == "hook":
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        other.exp()
elif sys.argv[1] == "dispatch":
    with Launching():
        written.exp()
else:
    launch()
print(sizes.tolist())
written.tolist()
