# SPDX-License-Identifier: MIT
"""What a program computes from known values, and reads back."""
import warnings

import torch

counts = torch.tensor([1, 2, 0, 1]).cuda()
print("split sizes", (counts * 2).tolist())
print("sums", counts.sum().item(), counts.cumsum(0).tolist())
experts = sum((counts * 2).tolist())
print("experts", torch.zeros(experts, 8, device="cuda").shape)
x = torch.tensor([5.0, 6.0]).cuda()
x.add_(1)
print("add_", x.tolist())
x.fill_(3)
print("fill_", x.tolist())
x.zero_()
print("zero_", x.tolist())
print("made", torch.full((3,), 7, device="cuda").tolist(),
      torch.tensor(5).cuda().item(), torch.arange(4, device="cuda").tolist())
mask = torch.ones(2, 8, dtype=torch.long).cuda()
print("mask", bool(mask.sum() == mask.numel()), bool(mask.bool().all()))
print("where", torch.nonzero(counts).tolist(), counts[counts > 0].tolist(),
      torch.unique(counts).tolist())
print("repeated", torch.repeat_interleave(
    torch.arange(4, device="cuda"), counts).tolist())
print("one-hot", torch.nn.functional.one_hot(counts, 3).tolist())
print("equal", torch.equal(counts, counts), torch.equal(counts, counts + 1))
print("sorted", torch.sort(counts).values.tolist(),
      torch.topk(counts, 1).indices.tolist())
y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True, device="cuda")
(y * y).sum().backward()
print("gradient", y.grad.tolist())
rows = torch.tensor([[1, 2, 2], [1, 2, 2], [0, 2, 2]]).cuda()
print("rows", torch.unique(rows, dim=0).tolist(),
      torch.unique(rows, dim=-1).tolist(),
      torch.unique_consecutive(rows, dim=1).tolist())
encoder = torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2,
    enable_nested_tensor=True).cuda().eval()
padding = torch.tensor([[False, False, True], [False, True, True]]).cuda()
print("columns", rows[:, rows[0] > 1].tolist(), rows[:, counts[:2]].tolist())
print("numbers", (counts * 0.5).tolist(), (counts[1] + 1.5).item(),
      ((1 - mask) * -1e4).sum().item())
warnings.simplefilter("ignore")
with torch.no_grad():
    print("nested", encoder(torch.ones(2, 3, 8, device="cuda"),
                            src_key_padding_mask=padding).shape)
