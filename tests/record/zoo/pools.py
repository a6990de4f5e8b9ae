# SPDX-License-Identifier: MIT
"""A CUDA graph of a training step, and a MemPool beside it."""
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(),
                            torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters(), capturable=True)
x = torch.rand(64, 256).cuda()


def step():
    optimizer.zero_grad(set_to_none=True)
    model(x).square().mean().backward()
    optimizer.step()


side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    graph.replay()
with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
    torch.empty(8 << 20, device="cuda")
