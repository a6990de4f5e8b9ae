# SPDX-License-Identifier: MIT
"""Random numbers of a device, as printed by others' programs on GPUs."""

import sys

import torch

on = {"device": "cuda"}
if sys.argv[1] == "latents":
    # On a device that draws them in four rounds: pytorch#158398.
    of_42 = torch.Generator(**on).manual_seed(42)
    print(torch.randn([1, 64, 2048], generator=of_42, **on))
    sys.exit()
if sys.argv[1] == "devices":
    # Each one has its own.
    torch.manual_seed(0)
    drawn = [torch.rand(4, device=f"cuda:{d}").tolist() for d in (0, 1, 1, 0)]
    print(drawn[0] == drawn[1], drawn[2] == drawn[3], drawn[0] == drawn[3])
    sys.exit()
torch.manual_seed(0)
print(torch.rand(8, **on))
torch.manual_seed(0)
print(torch.randn(2, 4, **on))
torch.manual_seed(10)
print(torch.randn(3, **on))
torch.manual_seed(0)
print(torch.randint(0, 100, (8,), **on))
print(torch.rand(3, 4, generator=torch.Generator(**on).manual_seed(42), **on))

# One continues with the other's state, and then again.
torch.manual_seed(3)
state = torch.cuda.get_rng_state()
parts = [torch.rand(1000, **on), torch.randn(1000, **on)]
parts += [torch.randint(0, 9, (1000,), **on), torch.rand(99, **on)]
torch.cuda.set_rng_state(state)
again = [torch.rand(1000, **on), torch.randn(1000, **on)]
print([torch.equal(a, b) for a, b in zip(parts, again)])

# The number of rows depends on a mask.
chosen = torch.rand(4096, **on) < 0.15
print(len(torch.ones(4096, 512, **on)[chosen]))

# The order in memory does not depend on the order of the dimensions.
a, b = torch.empty(6, 5, **on), torch.empty(5, 6, **on)
torch.manual_seed(1)
a.uniform_(-1, 1)
torch.manual_seed(1)
b.t().uniform_(-1, 1)
print(torch.equal(a.flatten(), b.flatten()), a.min().item() >= -1)
torch.manual_seed(1)
print(torch.equal(torch.rand(30, **on) * 2 - 1, a.flatten()))

# The numbers of dropout are those of its gradient.
x = torch.ones(64, 33, requires_grad=True, **on)
y = torch.nn.functional.dropout(x, 0.3)
y.sum().backward()
print(torch.equal(x.grad, y), (y == 0).sum().item())
for p in torch.full((4, 8), 0.3, **on), 0.3:
    drawn = torch.empty(4, 8, **on).bernoulli_(p)
    print(drawn.sum().item(), drawn.unique().tolist())
for dtype in torch.int64, torch.int32, torch.float16, torch.bool:
    drawn = torch.empty(50, dtype=dtype, **on).random_()
    print(dtype, drawn.min().item() >= 0, len(drawn.unique()) > 1)

# Near a tensor: those of randn.
torch.manual_seed(4)
around = torch.randn(5, **on) * 3 + 2
two, three = torch.full((5,), 2.0, **on), torch.full((5,), 3.0, **on)
for mean, std in (two, three), (two, 3.0), (2.0, three):
    torch.manual_seed(4)
    print(torch.allclose(torch.normal(mean, std), around))
