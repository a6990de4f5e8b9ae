# SPDX-License-Identifier: MIT
"""What a program computes of values that it knows, and reads back."""
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
