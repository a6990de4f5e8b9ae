# SPDX-License-Identifier: MIT
"""Models of common kinds, small, with random weights."""

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two convolutions with batch norm, as in ResNets."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.norm_first = nn.BatchNorm2d(out)
        self.second = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm_second = nn.BatchNorm2d(out)
        self.skip = nn.Identity()
        if stride != 1 or channels != out:
            self.skip = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False),
                nn.BatchNorm2d(out),
            )

    def forward(self, x):
        y = F.relu(self.norm_first(self.first(x)))
        return F.relu(self.norm_second(self.second(y)) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, widths=(64, 128, 256), classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(widths[0])
        before = (widths[0],) + tuple(widths[:-1])
        self.blocks = nn.Sequential(
            *(
                Residual(a, b, 1 if a == b else 2)
                for a, b in zip(before, widths)
            )
        )
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        x = F.adaptive_avg_pool2d(self.blocks(x), 1)
        return self.head(x.flatten(1))


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * width, width),
        )

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, self.heads, -1).transpose(1, 2)
            for t in self.qkv(x).split(width, 2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class GPT(nn.Module):
    """GPT-2: learned positions, layer norm, the head tied to the tokens."""

    def __init__(self, vocab=50257, width=768, layers=4, heads=12, room=1024):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(room, width)
        self.blocks = nn.ModuleList(
            GPTBlock(width, heads) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, run=lambda block, x: block(x)):
        at = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(at)
        for block in self.blocks:
            x = run(block, x)
        return self.head(self.norm(x))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * (wide * scale).to(x.dtype)


def rotate(x, start):
    """Rotary positions, beginning at start."""
    half = x.shape[-1] // 2
    speed = 10000 ** (-torch.arange(half, device=x.device) / half)
    at = torch.arange(start, start + x.shape[-2], device=x.device)
    angle = at[:, None] * speed
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, shared, hidden):
        super().__init__()
        self.heads, self.shared = heads, shared
        size = width // heads
        self.norm_attention = RMSNorm(width)
        self.q = nn.Linear(width, heads * size, bias=False)
        self.k = nn.Linear(width, shared * size, bias=False)
        self.v = nn.Linear(width, shared * size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm_mlp = RMSNorm(width)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def attend(self, x, cache):
        batch, length, width = x.shape
        start = cache[0].shape[2] if cache else 0
        q, k, v = (
            f(x).view(batch, length, n, -1).transpose(1, 2)
            for f, n in (
                (self.q, self.heads),
                (self.k, self.shared),
                (self.v, self.shared),
            )
        )
        q, k = rotate(q, start), rotate(k, start)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache[:] = [k, v]
        groups = self.heads // self.shared
        k, v = (t.repeat_interleave(groups, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, cache=None):
        x = x + self.attend(self.norm_attention(x), cache)
        y = self.norm_mlp(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Rotary positions, RMS norm, gated MLP, keys and values shared."""

    def __init__(
        self, vocab=32000, width=1024, layers=4, heads=16, shared=4, hidden=2816
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(
            LlamaBlock(width, heads, shared, hidden) for _ in range(layers)
        )
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens, run=None, caches=None):
        x = self.tokens(tokens)
        for i, block in enumerate(self.blocks):
            if caches is not None:
                x = block(x, caches[i])
            else:
                x = run(block, x) if run else block(x)
        return self.head(self.norm(x))


def next_token_loss(logits, tokens):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten()
    )
