# SPDX-License-Identifier: MIT
"""What the device's kernels of operators assert about their arguments.

Run with evaluate.py's globals. For each operator, a table has the names of the
arguments that the assertions are about, and a function of all arguments, under
the schema's names, that says whether an assertion fails. Values that are not
known count as correct. (The assertions are those of ATen's kernels,
CUDA_KERNEL_ASSERT.)
"""

import math
import struct

import torch


def known(tensor):
    return tensor is not None and tensor.is_read and tensor.numel() > 0


def outside(index, least, end):
    return known(index) and bool(((index < least) | (index >= end)).any())


def size(tensor, dim):
    return tensor.shape[dim] if tensor.dim() else 1


def along(self, dim, index, **more):
    return outside(index, 0, size(self, dim))


def along_from_end(self, dim, index, **more):
    return outside(index, -size(self, dim), size(self, dim))


def among_all(self, index, **more):
    return outside(index, -self.numel(), self.numel())


def each_dimension(self, indices, accumulate=False, **more):
    dim = 0
    for index in indices:
        is_mask = index is not None and index.dtype in (torch.bool, torch.uint8)
        if index is None or is_mask:
            dim += index.dim() if is_mask else 1
            continue
        if outside(index, -self.shape[dim], self.shape[dim]):
            # A sum reads the bounds of its indices instead.
            return not accumulate
        dim += 1
    return False


def classes(self, target, ignore_index, **more):
    if not known(target):
        return False
    wanted = target[target != ignore_index]
    end = self.shape[1 if self.dim() > 1 else 0]
    return bool(((wanted < 0) | (wanted >= end)).any())


def rows(weight, indices, **more):
    return known(indices) and bool((indices >= len(weight)).any())


def bags(weight, indices, offsets, include_last_offset=False, **more):
    """The first bag always begins at 0 and the last one ends at the end,
    whatever offsets say."""
    if rows(weight, indices):
        return True
    if not known(offsets):
        return False
    count = len(offsets) - include_last_offset
    ends = [*offsets[1:count].tolist(), len(indices)]
    return any(end < begin for begin, end in zip([0, *ends], ends))


def is_zero(self, **more):
    return known(self) and not bool(self)


def not_probabilities(tensor):
    return known(tensor) and not bool(((tensor >= 0) & (tensor <= 1)).all())


def any_negative(tensor):
    return known(tensor) and bool((tensor < 0).any())


def few_sources(self, mask, source, **more):
    return known(mask) and int(mask.expand(self.shape).sum()) > source.numel()


def beyond_output(indices, output_size, **more):
    return outside(indices, 0, math.prod(output_size))


KERNEL_ASSERTS = {
    "_assert_async": ("self", is_zero),
    "_embedding_bag": (("indices", "offsets"), bags),
    "_embedding_bag_forward_only": (("indices", "offsets"), bags),
    "_index_put_impl_": ("indices", each_dimension),
    "bernoulli_": ("p", lambda p, **more: not_probabilities(p)),
    "binary_cross_entropy": ("self", lambda self, **m: not_probabilities(self)),
    "gather": ("index", along),
    "index": ("indices", each_dimension),
    "index_add": ("index", along),
    "index_add_": ("index", along),
    "index_copy": ("index", along),
    "index_copy_": ("index", along),
    "index_fill_": ("index", along_from_end),
    "index_reduce": ("index", along),
    "index_reduce_": ("index", along),
    "index_select": ("index", along),
    "masked_scatter_": ("mask", few_sources),
    "max_unpool2d": ("indices", beyond_output),
    "max_unpool3d": ("indices", beyond_output),
    "multinomial": ("self", lambda self, **more: any_negative(self)),
    "nll_loss2d_forward": ("target", classes),
    "nll_loss_forward": ("target", classes),
    "poisson": ("self", lambda self, **more: any_negative(self)),
    "put_": ("index", among_all),
    "repeat_interleave": (
        "repeats",
        lambda repeats, **m: any_negative(repeats),
    ),
    "scatter": ("index", along),
    "scatter_": ("index", along),
    "scatter_add": ("index", along),
    "scatter_add_": ("index", along),
    "scatter_reduce": ("index", along),
    "scatter_reduce_": ("index", along),
    "take": ("index", among_all),
}


def asserted(base, arguments):
    """The arguments that the kernel's assertions are about."""
    about = KERNEL_ASSERTS.get(base, ((),))[0]
    about = (about,) if isinstance(about, str) else about
    return [
        i
        for i, a in enumerate(arguments)
        if a.name in about and "Tensor" in str(a.type)
    ]


def check(name, overload, values):
    """Returns a single truth: whether an assertion fails."""
    op, arguments, writes = operators[name, overload]
    named = {a.name: make(v) for v, a in zip(values, arguments)}
    fails = KERNEL_ASSERTS[name.split("::")[1]][1](**named)
    into = [struct.pack("q", 1)]
    pack([bool(fails)], into)
    return b"".join(into)
