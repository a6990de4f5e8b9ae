# SPDX-License-Identifier: MIT
"""torch.compile: a transformer with varying lengths; CUDA graphs; tuned GEMMs.

Takes the modes to run; by default the first two.
"""

import sys

import torch
from models import GPT, next_token_loss
from torch import nn


def train(model, batches, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for batch in batches:
        loss_of(batch).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def default():
    model = GPT(vocab=1000, width=256, layers=1, heads=4, room=128).cuda()
    fast = torch.compile(model)

    def loss_of(tokens):
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            return next_token_loss(fast(tokens), tokens)

    train(
        model,
        (
            torch.randint(0, 1000, (4, n), device="cuda")
            for n in (64, 64, 96, 128, 96)
        ),
        loss_of,
    )


def reduce_overhead():
    model = nn.Sequential(
        nn.Linear(256, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 64)
    ).cuda()
    fast = torch.compile(model, mode="reduce-overhead")
    batches = (torch.randn(n, 256, device="cuda") for n in (32, 32, 32, 8) * 3)
    train(model, batches, lambda x: fast(x).float().pow(2).mean())
    with torch.no_grad():
        for _ in range(3):
            fast(torch.randn(32, 256, device="cuda")).sum().item()


def max_autotune():
    x = torch.randn(256, 256, device="cuda", dtype=torch.bfloat16)
    layer = nn.Linear(256, 256, device="cuda", dtype=torch.bfloat16)
    fast = torch.compile(layer, mode="max-autotune-no-cudagraphs")
    for _ in range(3):
        fast(x).sum().backward()


def small():
    fast = torch.compile(lambda x: (x.sin() + 1).sum())
    fast(torch.randn(64, 64, device="cuda")).item()


modes = {
    f.__name__: f for f in (default, reduce_overhead, max_autotune, small)
}
for name in sys.argv[1:] or ["default", "reduce_overhead"]:
    modes[name]()
