# SPDX-License-Identifier: MIT
"""Unknown values, and their effect on known ones."""
import sys
import torch

drawn = torch.empty(8, device="cuda").cauchy_()
x = torch.tensor([5.0, 6.0]).cuda()
if sys.argv[1] == "stale":
    x += drawn[0]
    print(x.tolist())
elif sys.argv[1] == "part":
    x[0] = drawn[0]
    print(x[1].item())
    print(x.tolist())
elif sys.argv[1] == "large":
    print(drawn.tolist())
elif sys.argv[1] == "decides":
    if drawn.sum() > 0:
        print("above")
    print(drawn[drawn > 0].tolist())
elif sys.argv[1] == "graph":
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        x.add_(1)
    g.replay()
    print(x.tolist())
elif sys.argv[1] == "killed":
    drawn[0].item()
    import os, signal  # noqa: E401
    os.kill(os.getpid(), signal.SIGKILL)
elif sys.argv[1] == "freed":
    before = x.data_ptr()
    del x
    y = torch.empty(2, device="cuda")
    print(y.data_ptr() == before)
    y.tolist()
elif sys.argv[1] == "host":
    host = torch.zeros(2).pin_memory()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        host.copy_(x, non_blocking=True)
    print(host.tolist())
    x.fill_(7)
    g.replay()
    torch.cuda.synchronize()
    print(host.tolist())
elif sys.argv[1] == "operator":
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        x.add_(1)
    x.fill_(2)
    library = torch.library.Library("gpupool", "DEF")
    library.define("replay(Tensor x) -> Tensor")
    library.impl("replay", lambda y: (g.replay(), y + 1)[1], "CUDA")
    torch.ops.gpupool.replay(torch.zeros(2, device="cuda"))
    print(x.tolist())
elif sys.argv[1] == "backward":
    # The device's thread asks whether anything is 0.
    drawn.requires_grad_()
    drawn.cumprod(0).sum().backward()
