# SPDX-License-Identifier: MIT
"""Known values are the processor's: for operators with unusual results or
calls, or that differ on a processor."""

import torch
from torch import nn
from torch.autograd import graph
from torch.utils.checkpoint import checkpoint

numbers = torch.linspace(-2, 2, 16).reshape(4, 4)
order = torch.tensor([3, 1, 2, 0])


def gradient(function, x, hooks=None):
    x = x.clone().requires_grad_()
    with hooks or graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = function(x)
    (y * y).sum().backward()
    return x.grad


def on_host(function):
    return lambda x: gradient(function, x, graph.save_on_cpu())


def again(function):
    return lambda x: gradient(
        lambda t: checkpoint(function, t, use_reentrant=False), x
    )


def seen(x):
    found = []

    def pack(saved):
        found.append((saved > 0.5).sum())
        return saved

    gradient(torch.sigmoid, x, graph.saved_tensors_hooks(pack, lambda t: t))
    return torch.stack(found)


def norm(x):
    return nn.functional.layer_norm(x, (4,))


def statistics(x):
    batch_norm = nn.BatchNorm1d(4).to(x.device)
    again(batch_norm)(x)
    return torch.cat([batch_norm.running_mean, batch_norm.running_var])


def loss(x):
    return nn.functional.cross_entropy(x, order.to(x.device)).view(1)


def in_place(x):
    return (x * 1).sigmoid_().mul(2).relu_()


def step(x):
    weight = x.clone().requires_grad_()
    how = torch.optim.SGD([weight], 0.1, 0.9, fused=True)
    for _ in range(2):
        (weight * weight).sum().backward()
        how.step()
    return weight.detach()


def places(x):
    found = torch.empty(16, device=x.device)
    where = torch.empty(16, dtype=torch.long, device=x.device)
    torch.topk(x.flatten(), 2, out=(found, where))
    return where


def counts(x):
    whole = order.to(x.device)
    if not x.is_cuda:
        whole = whole.float()
    found = [torch.histc(whole, 3, 1, 2), torch.histc(whole, 2)]
    return torch.cat(found).int()


def lengths(x):
    """A number does not affect the type, beside a tensor without dimensions."""
    most = order.to(x.device).int().max()
    return torch.stack([10 - most, most // 2, most + 2, most % 2])


def conjugates(x):
    """Its elements are not those in memory."""
    c = torch.complex(x, x + 1)
    y = c.conj()
    made = [y.imag, (y * c).real, (c @ y.mT).imag, torch._neg_view(x) + 1]
    return torch.stack(made)


def halves(x):
    """In 16 bits, as with autocast; a processor converts first."""
    half = x.half().requires_grad_()
    wide = half if x.is_cuda else half.float()
    sums = sum(
        (function(wide, -1, dtype=torch.float32) ** 2).sum()
        for function in (torch.softmax, torch.log_softmax)
    )
    sums.backward()
    return torch.stack([*half.grad.float().flatten(), sums.detach()])


def norm_of_16_bits(x):
    """A device computes with 32 bits, as a processor does after a
    conversion."""
    short = x.bfloat16().requires_grad_()
    scale = torch.ones_like(short[0], requires_grad=True)
    wide = [t if x.is_cuda else t.float() for t in (short, scale)]
    out = nn.functional.layer_norm(wide[0], (4,), wide[1]).bfloat16()
    (out.abs().mean() * 0.3 / 7).backward()
    return torch.stack([*out, *short.grad, scale.grad]).detach().float()


CASES = {
    "sigmoid to the host": on_host(torch.sigmoid),
    "in place to the host": on_host(in_place),
    "norm to the host": on_host(norm),
    "loss to the host": on_host(loss),
    "counted by a hook": seen,
    "sigmoid again": again(torch.sigmoid),
    "norm again": again(norm),
    "statistics of a norm again": statistics,
    "func.grad": torch.func.grad(lambda t: (t**3).sum()),
    "func.grad in place": torch.func.grad(
        lambda t: t.clone().mul_(2).add_(t).square().sum()
    ),
    "func.jvp": lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1],
    "fused SGD": step,
    "topk into others": places,
    "histc of integers": counts,
    "numbers beside 32 bits": lengths,
    "conjugates": conjugates,
    "softmax of 16 bits": halves,
    "norm and loss of 16 bits": norm_of_16_bits,
    "log sigmoid": lambda x: gradient(nn.functional.logsigmoid, x),
    "matrix exponential": lambda x: gradient(torch.matrix_exp, x),
}
for name, case in CASES.items():
    given, right = case(numbers.cuda()).cpu(), case(numbers)
    print(name, torch.allclose(given, right))
