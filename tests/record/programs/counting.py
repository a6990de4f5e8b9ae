# SPDX-License-Identifier: MIT
"""Advances by one more than an unknown value, as in speculative decoding."""
import torch

if __name__ == "__main__":
    tokens, steps = torch.zeros(1, 4, dtype=torch.long, device="cuda"), 0
    while tokens.shape[1] < 12:
        drafted = torch.empty(1, 5, device="cuda").cauchy_().argsort()
        chosen = torch.empty(1, 5, device="cuda").cauchy_().argsort()
        matches = (~(drafted == chosen)).cumsum(-1).eq(0).sum()
        tokens = torch.cat((tokens, chosen[:, : matches + 1]), -1)
        steps += 1
    print("ended", tokens.shape[1] >= 12, steps <= 8)
