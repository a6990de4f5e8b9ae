# SPDX-License-Identifier: MIT
"""Permutations on the device, by keys of 32 and 64 bits, some of them equal."""

import torch

torch.manual_seed(3)
for n in (0, 1, 2, 10, 25000, 30000, 31000, 60000):
    for _ in range(5):
        mixed = torch.randperm(n, device="cuda").tolist()
        if n > 2 and mixed == list(range(n)) or len(set(mixed)) < n:
            print(n, "is no permutation")
print(max(mixed))
mixed = torch.empty(12, device="cuda", dtype=torch.float16)[::2]
torch.randperm(6, out=mixed, generator=torch.Generator("cuda").manual_seed(3))
print(sorted(mixed.tolist()))
