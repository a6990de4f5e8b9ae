# SPDX-License-Identifier: MIT
"""Finalizers that request memory, which a garbage collection runs anytime."""

import gc

import torch


class Cycle:
    def __init__(self):
        self.itself = self

    def __del__(self):
        torch.empty(1 << 20, device="cuda")


def nested(depth):
    if depth:
        nested(depth - 1)
    else:
        torch.empty(1 << 20, device="cuda")


gc.set_threshold(5)
for i in range(500):
    Cycle()
    nested(i % 40)
