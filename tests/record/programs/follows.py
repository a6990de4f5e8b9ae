# SPDX-License-Identifier: MIT
"""Computes, on the device, values that follow from the host's, and ends with an
error if a result is wrong."""

import torch

x = torch.tensor([5.0, 6.0]).cuda()
x.add_(1)
counts = torch.tensor([1, 2, 0, 1]).cuda()
numbers = torch.arange(4, device="cuda")
mask = torch.ones(2, 8, dtype=torch.long).cuda()
weight = torch.ones(4, 4, device="cuda", requires_grad=True)
(weight * weight).sum().backward()

assert x.tolist() == [6, 7]
assert (counts * 2).tolist() == [2, 4, 0, 2]
assert numbers.repeat_interleave(counts).tolist() == [0, 1, 1, 3]
assert torch.nonzero(numbers > 1).flatten().tolist() == [2, 3]
assert mask.sum() == mask.numel()
assert weight.grad.sum().item() == 32
