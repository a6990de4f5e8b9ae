# SPDX-License-Identifier: MIT
"""Products of columns and rows, for which newer releases have a kernel in
Triton; the columns do not begin at the start of their block."""
import torch

counts = torch.tensor([2, 3]).cuda()
columns = torch.arange(16.0).view(2, 8, 1).cuda()[:, 4:]
rows = torch.tensor([2.0, 3.0]).view(2, 1, 1).cuda()
print(torch.bmm(columns, rows).flatten().tolist(), counts.tolist())
