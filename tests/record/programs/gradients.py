# SPDX-License-Identifier: MIT
"""Frees each gradient that torch.autograd.grad() returns at once."""

import torch

weight = torch.ones(64, 64, device="cuda", requires_grad=True)
places = set()
for _ in range(200):
    (gradient,) = torch.autograd.grad((weight * 2).sin().sum(), weight)
    place = gradient.data_ptr()
    del gradient
    places.add(torch.empty(64, 64, device="cuda").data_ptr() - place)
print(places)
