# SPDX-License-Identifier: MIT
"""Networks whose tensors change size each time: shapes.py WHAT.

graphs: of a few hundred to a few thousand nodes.  tables: embeddings of a
recommender.  unet: images of several sizes.  points: point clouds, and a
network on their pairs.
"""
import sys

import torch
from torch import nn

random = torch.Generator().manual_seed(0)


def number(least, most):
    return int(torch.randint(least, most, (), generator=random))


class Graphs(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(256, 256) for _ in range(4))

    def forward(self):
        nodes, edges = number(500, 20000), number(5000, 90000)
        x = torch.zeros(nodes, 256, device="cuda")
        ends = torch.zeros(2, edges, dtype=torch.long, device="cuda")
        for each in self.layers:
            said = each(x)[ends[0]]
            x = x.index_add(0, ends[1], said).relu()
        return x


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(1 << bits, 64) for bits in range(10, 20))
        self.top = nn.Sequential(nn.Linear(640, 512), nn.ReLU(),
                                 nn.Linear(512, 1))

    def forward(self):
        batch = number(512, 4096)
        bags = torch.arange(0, 8 * batch, 8, device="cuda")
        ids = torch.zeros(8 * batch, dtype=torch.long, device="cuda")
        return self.top(torch.cat([t(ids, bags) for t in self.tables], 1))


class UNet(nn.Module):
    def __init__(self, widths=(32, 64, 128, 256)):
        super().__init__()
        self.down = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1)
            for a, b in zip((3,) + widths, widths))
        self.up = nn.ModuleList(
            nn.Conv2d(a + b, b, 3, padding=1)
            for a, b in zip(widths[:0:-1], widths[-2::-1]))

    def forward(self):
        side = 16 * number(8, 32)
        x = torch.zeros(number(2, 6), 3, side, side, device="cuda")
        seen = []
        for each in self.down:
            x = each(x).relu()
            seen.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = nn.functional.interpolate(x, scale_factor=2)
        for each, other in zip(self.up, seen[-2::-1]):
            x = nn.functional.interpolate(x, scale_factor=2)
            x = each(torch.cat([x, other], 1)).relu()
        return x


class Points(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(6, 64), nn.GELU(),
                                  nn.Linear(64, 64))
        self.out = nn.Linear(64, 8)

    def forward(self):
        n = number(64, 700)
        x = torch.zeros(4, n, 3, device="cuda")
        pairs = torch.cat([x[:, :, None].expand(-1, -1, n, -1),
                           x[:, None].expand(-1, n, -1, -1)], -1)
        return self.out(self.pair(pairs).mean(2))


what = {"graphs": Graphs, "tables": Tables, "unet": UNet, "points": Points}
model = what[sys.argv[1]]().cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(12):
    model().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
