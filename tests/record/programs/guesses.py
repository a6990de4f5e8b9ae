# SPDX-License-Identifier: MIT
"""Values that are read back: one that was copied there, and three computed
ones."""
import torch

sent = torch.tensor([3.0, 4.0]).cuda()
print(sent[0].item())
computed = torch.empty(100, device="cuda").cauchy_()
chosen = computed[computed > 0]
for _ in range(2):
    print(computed.sum().item())
