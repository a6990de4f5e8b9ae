# SPDX-License-Identifier: MIT
"""Booleans, some of them unknown: what follows from the others is known."""

import sys

import torch

drawn = torch.empty(4, device="cuda").cauchy_() > 0
known = torch.tensor([True, False, True, False]).cuda()
either, both = drawn | known, drawn & known
print("or", either[0].item(), either[::2].tolist(), either.any().item())
print("and", both[1].item(), both[1::2].tolist(), both.all().item())
print("not", (~both)[1].item(), torch.logical_not(either)[::2].tolist())
print("scalar", (drawn | True).tolist(), (drawn & False).tolist())
either &= known
print("in place", either[1::2].tolist(), either[::2].tolist())
if len(sys.argv) > 1:
    for unknown in either | drawn, both, drawn ^ drawn, known.any() & drawn:
        print(unknown[1 if unknown is not both else 0].item())
lengths = torch.tensor([1, 0, 1, 0]).cuda() * drawn
left = lengths & ~(drawn | True)
print("integers", left.tolist(), bool(left.max() == 0),
      (lengths | -1).tolist(), (lengths.bool() & False).tolist())
