# SPDX-License-Identifier: MIT
"""Known integers are moved among unknown ones, and back."""

import torch

order = torch.tensor([2, 0, 3, 1]).cuda()
where = torch.arange(4, device="cuda")
unknown = (torch.empty(4, device="cuda").cauchy_() * 100).long()
mask = torch.tensor([True, False, True, False]).cuda()
print("scatter_", torch.empty_like(order).scatter_(0, order, where).tolist())
made = torch.empty_like(order)
made[order] = where
print("index_put_", made.tolist())
print("index_copy_", torch.empty_like(order).index_copy_(0, order, where)[1])
both = torch.cat([where, unknown])
print("cat", both[:4].tolist(), torch.stack([unknown, order])[1].tolist())
print("index", both[order].tolist(), both.gather(0, order).tolist())
print("index_select", both.index_select(0, order).tolist())
print("flip", both.flip(0)[4:].tolist(), both.roll(4)[4:].tolist())
print("where", torch.where(mask, where, unknown)[::2].tolist())
print("masked_fill_", unknown.masked_fill(mask, 7)[::2].tolist())
print("index_fill_", unknown.index_fill(0, order[:2], 9)[order[:2]].tolist())
packed = torch.nn.utils.rnn.pack_padded_sequence(
    torch.empty(4, 7, 8, device="cuda").cauchy_(),
    torch.tensor([3, 7, 2, 5]),
    batch_first=True,
    enforce_sorted=False,
)
back, lengths = torch.nn.utils.rnn.pad_packed_sequence(packed)
print("lengths", lengths.tolist(), tuple(back.shape))
columns = torch.zeros(3, 4, device="cuda")
columns[:, 0] = torch.empty(3, device="cuda").cauchy_()
print("beside", columns[:, 1].tolist())
print("told", both[4].item(), torch.where(mask, where, unknown)[1].item())
