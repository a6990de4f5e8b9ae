# SPDX-License-Identifier: MIT
"""CUDA graphs: captured and replayed, sharing a pool, and made from
callables."""

import torch
from models import GPT, GPTBlock

model = GPT(layers=2).cuda().eval()
static = torch.zeros(4, 128, dtype=torch.long, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side), torch.no_grad():
    for _ in range(2):
        model(static)
torch.cuda.current_stream().wait_stream(side)

graphs, outputs, pool = [], [], None
for batch in (4, 2, 1):
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, pool=pool):
        outputs.append(model(static[:batch]))
    pool = graph.pool()
    graphs.append(graph)
for graph in graphs * 2:
    static.copy_(torch.randint(0, 50257, (4, 128)))
    graph.replay()
shapes = [o.argmax(-1).shape for o in outputs]
del graphs, graph, outputs

block = GPTBlock(768, 12).cuda()
sample = torch.randn(4, 128, 768, device="cuda", requires_grad=True)
fast = torch.cuda.make_graphed_callables(block, (sample,))
optimizer = torch.optim.SGD(block.parameters(), lr=0.1)
for _ in range(3):
    fast(torch.randn(4, 128, 768, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
torch.cuda.synchronize()
torch.cuda.empty_cache()
