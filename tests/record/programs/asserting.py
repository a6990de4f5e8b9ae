# SPDX-License-Identifier: MIT
"""Assertions of a device's kernels. The first argument names the one that
fails, each in its own process; without it, none does."""

import os
import sys

import torch
from torch.nn import functional as F


def at(*numbers):
    return torch.tensor(numbers, device="cuda")


def few():
    return torch.arange(4.0, device="cuda")


def large():
    """Its elements are unknown."""
    made = torch.randn(700, 700, device="cuda")
    return made @ made


def unpool(last):
    at_most = at(0, 1, 2, last)[:, None, None]
    return F.max_unpool2d(few()[:, None, None], at_most, 2)


FAIL = {
    "assert": lambda: torch._assert_async(at(0)),
    "none to draw": lambda: at(0.0, 0.0).multinomial(1),
    "negative to draw": lambda: at(-1.0, 2.0).multinomial(3, True),
    "no chance": lambda: torch.bernoulli(at(2.0)),
    "index": lambda: large()[:, at(1, 700)],
    "put": lambda: few().index_put_((at(-5),), at(1.0)),
    "select": lambda: large().index_select(1, at(-1)),
    "fill": lambda: few().index_fill_(0, at(4), 1.0),
    "take": lambda: few().take(at(4)),
    "embedding": lambda: F.embedding(at(700), large()),
    "bag": lambda: F.embedding_bag(at(700)[None], large()),
    "bags": lambda: F.embedding_bag(at(1, 2, 3), large(), at(0, 2, 1)),
    "gather": lambda: large().gather(1, at(700)[None]),
    "scatter": lambda: few().scatter_(0, at(4), 1.0),
    "one-hot": lambda: F.one_hot(at(3), 3),
    "classes": lambda: F.cross_entropy(large(), at(*[0, 700] * 350)),
    "entropy": lambda: F.binary_cross_entropy(at(2.0), at(1.0)),
    "sources": lambda: few().masked_scatter_(few() > 0, at(1.0, 2.0)),
    "repeats": lambda: torch.repeat_interleave(at(2, -1), output_size=2),
    "unpool": lambda: unpool(4),
}


def passes():
    large()[:, at(-700, 699)]
    few()[at(True, False, False, True)]
    few()[None, ..., at(-4)]
    few().index_fill_(0, at(-4), 1.0)
    few().take(at(-4, 3))
    few().sum().gather(0, at(0))
    F.embedding(at(699), large(), padding_idx=-1)
    F.embedding_bag(at(1, 2), large(), at(9, 1, 1))
    F.embedding_bag(at(1, 2), large(), at(0, 2, 9), include_last_offset=True)
    F.cross_entropy(large(), at(*[-100, 699] * 350))
    F.binary_cross_entropy(at(1.0), at(1.0))
    torch._assert_async(large().sum() > 0)
    unpool(3)
    return few()[at()[:0].long()]


def run(call):
    call()
    # What is launched after it does not run.
    small = at(1, 2)
    print(small.tolist(), flush=True)


def run_alone(name):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)
    try:
        run(FAIL[name])
    except RuntimeError as error:
        print(name, str(error).split("\n")[0], flush=True)
    os._exit(0)


if sys.argv[1:]:
    for name in FAIL if sys.argv[1] == "all" else sys.argv[1:]:
        run_alone(name)
else:
    run(passes)
