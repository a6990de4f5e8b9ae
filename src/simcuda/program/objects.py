# SPDX-License-Identifier: MIT
"""The sizes of Python objects that ranks send each other.

torch.distributed computes with them on the device: the largest one, their sum,
several in one tensor. Kernels compute nothing here. So the functions that it
calls for this are replaced: they do what PyTorch's functions do, and then store
the result, computed from the kept bytes (interpreter.c).
"""

import atexit
import builtins
import ctypes
import sys

import torch

calls = ctypes.CDLL(None)
atexit.register(calls.simcuda_settle)
address, size = ctypes.c_uint64, ctypes.c_size_t
calls.simcuda_read_kept.argtypes = address, ctypes.c_void_p, size
calls.simcuda_write_kept.argtypes = address, ctypes.c_void_p, size
calls.simcuda_copy_kept.argtypes = address, address, size


def is_known(tensor):
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.is_cuda
        and tensor.is_contiguous()
    )


def numbers(tensor):
    all = (ctypes.c_int64 * tensor.numel())()
    calls.simcuda_read_kept(tensor.data_ptr(), all, ctypes.sizeof(all))
    return list(all)


def put(tensor, number):
    value = ctypes.c_int64(number)
    calls.simcuda_write_kept(tensor.data_ptr(), ctypes.byref(value), 8)


def is_whole(tensor):
    return is_known(tensor) and tensor.dtype == torch.int64


def largest(*items, **how):
    if (
        how
        or len(items) != 1
        or not isinstance(items[0], list)
        or not builtins.all(is_whole(t) for t in items[0])
    ):
        return builtins.max(*items, **how)
    best = items[0][0]
    for item in items[0][1:]:
        item > best
        if numbers(item) > numbers(best):
            best = item
    return best


def cat(tensors, *more, **how):
    result = torch.cat(tensors, *more, **how)
    if (
        not more
        and not how
        and builtins.all(is_known(t) and t.dim() == 1 for t in tensors)
    ):
        to = result.data_ptr()
        for tensor in tensors:
            bytes = tensor.numel() * tensor.element_size()
            calls.simcuda_copy_kept(to, tensor.data_ptr(), bytes)
            to += bytes
    return result


def sum(tensor, *more, **how):
    result = torch.sum(tensor, *more, **how)
    if is_whole(tensor) and not more and not how:
        put(result, builtins.sum(numbers(tensor)))
    return result


class Sizes(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    def max(self):
        result = super().max()
        put(result, builtins.max(numbers(self)))
        return result

    def __iter__(self):
        return (t.as_subclass(Sizes) for t in super().__iter__())

    def __add__(self, other):
        result = super().__add__(other).as_subclass(Sizes)
        more = numbers(other)[0] if is_whole(other) else other
        put(result, numbers(self)[0] + more)
        return result

    __radd__ = __add__


def sizes_of(result):
    return result.as_subclass(Sizes) if is_whole(result) else result


def zeros(*sizes, **how):
    return sizes_of(torch.zeros(*sizes, **how))


def empty(*sizes, **how):
    return sizes_of(torch.empty(*sizes, **how))


class Like(type(torch)):
    def __getattr__(self, name):
        return getattr(torch, name)


module = sys.modules.get("torch.distributed.distributed_c10d")
if module:
    like = Like("torch")
    like.__dict__.update(torch.__dict__)
    for f in cat, sum, zeros, empty:
        setattr(like, f.__name__, f)
    module.torch, module.max = like, largest
