# SPDX-License-Identifier: MIT
"""Elements that follow from known ones are known beside unknown ones; positions
of unknown booleans, and unknown positions, read as if the unknown were zeros,
and as distinct positions."""

import torch

large = torch.randn(3000, 3000, device="cuda")
large = large @ large
best = large[0].argmax()  # unknown
tokens = torch.cat([torch.tensor([7, 8, 9]).cuda(), best[None] % 50 + 1])
tokens = torch.nn.functional.pad(tokens, (0, 1), value=99)
ends = tokens == 99
print("known", ends[4].item(), ends[0].item(), (tokens != 7)[1].item())
print(
    "known",
    (tokens + 1)[0].item(),
    (tokens * 2.0)[4].item(),
    (-tokens)[2].item(),
)
tokens.add_(1)
print("known", tokens[4].item(), tokens[:3].tolist())
print("unknown", tokens[3].item() > 0)
print("unknown", tokens[: ends.nonzero()[0, 0]].shape)
places = large[:2].topk(3).indices
print("unknown", places.tolist(), large[0, :4].argsort().tolist())
lost = large[0, :6]
print("unknown", lost[~lost.isnan()].shape, lost[lost.isnan()].shape)
mixed = torch.cat([torch.tensor([True, False]).cuda(), lost[:2] > 0])
print("known", (~mixed)[:2].tolist())
# Routed by unknown scores, each token goes somewhere.
experts = large[:6, :4].topk(2).indices
chosen = torch.zeros(6, 4, dtype=torch.bool, device="cuda")
counts = chosen.scatter_(1, experts, True).sum(0)
print("unknown", counts.tolist(), experts.flatten().bincount().tolist())
print("unknown", torch.histc(experts.float(), 4, 0, 3).tolist())
print("unknown", [len(x) for x in large[:12].split(counts.tolist())])
# Unknown scores beside marks that follow from positions: beams.
marks = torch.where(experts > 0, lost[0], -1e9)
better = lost[:1] > marks[0]
print("unknown", bool(better.any()), bool((marks / marks.abs()).isnan().any()))
# 0 / 0 is NaN if it is known, and a number if it is unknown.
zeros = torch.cat([torch.tensor([0]).cuda(), experts[0]]) / 0
print("known", zeros[0].item())
print("unknown", zeros[1].item())
