# SPDX-License-Identifier: MIT
"""Traces a tensor that contains two others and has no memory of its own."""
import torch
from torch.testing._internal.two_tensor import TwoTensor


def scale(two, by):
    return two * by


if __name__ == "__main__":
    scale = torch.compile(scale, backend="aot_eager")
    for device in "cpu", "cuda":
        part = torch.ones(4, device=device)
        two = scale(TwoTensor(part, part.clone()), torch.tensor(0.5))
        print(two.a.tolist())
