/* SPDX-License-Identifier: MIT */
/*
 * torch.distributed computes sizes of objects on the device: the largest one,
 * their sum, several in one tensor.  Kernels compute nothing here, so what this
 * one module calls for that does what PyTorch's does, and then the result is
 * put in place, from the bytes that are kept.
 */
#include "simcuda/program/objects.h"

#include <stddef.h>
#include <stdint.h>

#include "simcuda/kept.h"
#include "simcuda/process.h"

void simcuda_read_kept(uint64_t addr, void *bytes, size_t size);
void simcuda_read_kept(uint64_t addr, void *bytes, size_t size)
{
	process_before_read(addr, size);
	process_lock();
	kept_read(addr, bytes, size);
	process_unlock();
}

void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size);
void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size)
{
	process_lock();
	kept_write(addr, bytes, size);
	process_unlock();
}

void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size);
void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size)
{
	process_before_read(from, size);
	process_lock();
	kept_copy(to, from, size);
	process_unlock();
}

const char objects_script[] =
	"import atexit, builtins, ctypes, sys\n"
	"import torch\n"
	"calls = ctypes.CDLL(None)\n"
	"atexit.register(calls.simcuda_settle)\n"
	"address, size = ctypes.c_uint64, ctypes.c_size_t\n"
	"calls.simcuda_read_kept.argtypes = address, ctypes.c_void_p, size\n"
	"calls.simcuda_write_kept.argtypes = address, ctypes.c_void_p, size\n"
	"calls.simcuda_copy_kept.argtypes = address, address, size\n"
	"def is_known(tensor):\n"
	"    return (isinstance(tensor, torch.Tensor) and tensor.is_cuda and\n"
	"            tensor.is_contiguous())\n"
	"def numbers(tensor):\n"
	"    all = (ctypes.c_int64 * tensor.numel())()\n"
	"    calls.simcuda_read_kept(tensor.data_ptr(), all,\n"
	"                            ctypes.sizeof(all))\n"
	"    return list(all)\n"
	"def put(tensor, number):\n"
	"    value = ctypes.c_int64(number)\n"
	"    calls.simcuda_write_kept(tensor.data_ptr(),\n"
	"                             ctypes.byref(value), 8)\n"
	"def is_whole(tensor):\n"
	"    return is_known(tensor) and tensor.dtype == torch.int64\n"
	"def largest(*items, **how):\n"
	"    if how or len(items) != 1 or not isinstance(items[0], list) or\\\n"
	"            not builtins.all(is_whole(t) for t in items[0]):\n"
	"        return builtins.max(*items, **how)\n"
	"    best = items[0][0]\n"
	"    for item in items[0][1:]:\n"
	"        item > best\n"
	"        if numbers(item) > numbers(best):\n"
	"            best = item\n"
	"    return best\n"
	"def cat(tensors, *more, **how):\n"
	"    result = torch.cat(tensors, *more, **how)\n"
	"    if not more and not how and builtins.all(\n"
	"            is_known(t) and t.dim() == 1 for t in tensors):\n"
	"        to = result.data_ptr()\n"
	"        for tensor in tensors:\n"
	"            bytes = tensor.numel() * tensor.element_size()\n"
	"            calls.simcuda_copy_kept(to, tensor.data_ptr(), bytes)\n"
	"            to += bytes\n"
	"    return result\n"
	"def sum(tensor, *more, **how):\n"
	"    result = torch.sum(tensor, *more, **how)\n"
	"    if is_whole(tensor) and not more and not how:\n"
	"        put(result, builtins.sum(numbers(tensor)))\n"
	"    return result\n"
	"class Sizes(torch.Tensor):\n"
	"    __torch_function__ = torch._C._disabled_torch_function_impl\n"
	"    def max(self):\n"
	"        result = super().max()\n"
	"        put(result, builtins.max(numbers(self)))\n"
	"        return result\n"
	"    def __iter__(self):\n"
	"        return (t.as_subclass(Sizes) for t in super().__iter__())\n"
	"    def __add__(self, other):\n"
	"        result = super().__add__(other).as_subclass(Sizes)\n"
	"        more = numbers(other)[0] if is_whole(other) else other\n"
	"        put(result, numbers(self)[0] + more)\n"
	"        return result\n"
	"    __radd__ = __add__\n"
	"def sizes_of(result):\n"
	"    return result.as_subclass(Sizes) if is_whole(result) else result\n"
	"def zeros(*sizes, **how):\n"
	"    return sizes_of(torch.zeros(*sizes, **how))\n"
	"def empty(*sizes, **how):\n"
	"    return sizes_of(torch.empty(*sizes, **how))\n"
	"class Like(type(torch)):\n"
	"    def __getattr__(self, name):\n"
	"        return getattr(torch, name)\n"
	"module = sys.modules.get('torch.distributed.distributed_c10d')\n"
	"if module:\n"
	"    like = Like('torch')\n"
	"    like.__dict__.update(torch.__dict__)\n"
	"    for f in cat, sum, zeros, empty:\n"
	"        setattr(like, f.__name__, f)\n"
	"    module.torch, module.max = like, largest\n";
