# SPDX-License-Identifier: MIT
"""torch_geometric: a graph network whose edges are dropped, on some nodes."""
import torch
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge, to_undirected

torch.manual_seed(0)
x, labels = torch.rand(500, 64).cuda(), torch.randint(0, 7, (500,)).cuda()
edges = to_undirected(torch.randint(0, 500, (2, 2000)).cuda())
mask = (torch.arange(500) < 140).cuda()
first, second = GCNConv(64, 256).cuda(), GCNConv(256, 7).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
for _ in range(3):
    kept, _ = dropout_edge(edges, 0.2)
    hidden = torch.dropout(first(x, kept).relu(), 0.5, True)
    scores = second(hidden, kept)
    loss = torch.nn.functional.cross_entropy(scores[mask], labels[mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
