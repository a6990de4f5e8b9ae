# SPDX-License-Identifier: MIT
"""Hooks on what is saved for backward see what the operator gives.

They are called while it is under way, and read it: to move it to the host, to
make it smaller, or to end what is computed again as soon as all is there.
"""

import ctypes

import torch

before = ctypes.CDLL(None).simcuda_before_saving
before.argtypes = (ctypes.c_void_p,)
before.restype = None
autograd = torch._C._autograd
push = autograd._push_saved_tensors_default_hooks


def push_told(pack, unpack):
    # A compiled one is asked for by its type.
    if isinstance(pack, torch.fx.GraphModule):
        return push(pack, unpack)

    def packed(tensor):
        before(tensor._cdata)
        return pack(tensor)

    return push(packed, unpack)


autograd._push_saved_tensors_default_hooks = push_told
