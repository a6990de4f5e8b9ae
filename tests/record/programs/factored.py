# SPDX-License-Identifier: MIT
"""Linear algebra that reads, while it runs, whether a library found errors; and
the number of distinct unknown values, which is at least one."""

import torch

torch.manual_seed(0)
tall = torch.randn(12, 5)
square = tall.mT @ tall
for what, of in (
    (torch.linalg.svdvals, tall),
    (torch.linalg.eigvalsh, square),
    (lambda x: torch.svd_lowrank(torch.diag(x.diag()), 5)[1], square),
):
    there, here = what(of.cuda()).tolist(), what(of).tolist()
    print(max(abs(a - b) for a, b in zip(there, here)) < 1e-3 * max(here))
found = torch.rand(2000, 2000, device="cuda").mul(9).int().unique()
print(found.numel() > 0)
