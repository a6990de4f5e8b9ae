# SPDX-License-Identifier: MIT
"""Uses memory through graphs, pools, other streams, and changing settings."""
import torch


def take(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


kept = take(1 << 20)
torch.cuda.set_per_process_memory_fraction(0.9)

graph = torch.cuda.CUDAGraph()
side = torch.cuda.Stream()
with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
    x, y = take(3 << 20), take(5 << 20)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = take(1000)
        x.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    del x
    w = take(100)
graph.replay()

if hasattr(torch.cuda, "MemPool"):
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        a, b = take(4 << 20), take(30)
    del a
    torch.cuda.empty_cache()
    del b, pool

with torch.cuda.stream(side):
    late = take(1 << 20)
late.record_stream(torch.cuda.current_stream())
del late
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()

torch.cuda.memory._set_allocator_settings("max_split_size_mb:64")
large = take(70 << 20)
del large, y, z, w, graph
try:
    take(100 << 30)
except RuntimeError:
    print("no room")
torch.cuda.empty_cache()
