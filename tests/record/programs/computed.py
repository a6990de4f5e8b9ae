# SPDX-License-Identifier: MIT
"""Computed values are the processor's, also for operators that only a device
has: the outputs of modules, their gradients, and what they save."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
KINDS = nn.attention.SDPBackend


class Attention(nn.Module):
    """With a bias, if it has one."""

    def __init__(self, backend, **named):
        super().__init__()
        self.backend, self.named = backend, named

    def forward(self, q, k, v, bias=None):
        attend = nn.functional.scaled_dot_product_attention
        with nn.attention.sdpa_kernel([self.backend, KINDS.MATH]):
            return attend(q, k, v, bias, **self.named)


class Of(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


class First(nn.Module):
    """A transform of another random variable."""

    def __init__(self, of):
        super().__init__()
        self.of = of

    def forward(self, *inputs):
        return self.of(*inputs)[0]


def run(module, inputs, device):
    module = copy.deepcopy(module).to(device)
    mine = [t.clone().to(device).requires_grad_() for t in inputs]
    out = module(*mine)
    out = torch.cat(out) if isinstance(out, tuple) else out
    (out * out).sum().backward()
    tensors = [out, *(t.grad for t in mine), *module.buffers()]
    tensors += [p.grad for p in module.parameters()]
    return [t.detach().cpu().float() for t in tensors]


def compare(name, module, *inputs):
    pairs = zip(run(module, inputs, "cuda"), run(module, inputs, "cpu"))
    print(name, *(torch.allclose(a, b, 0.05, 0.05) for a, b in pairs))


image = torch.randn(2, 4, 9, 9)
compare("convolution", nn.Conv2d(4, 6, 3, 2, 1, 2, 2), image)
compare("transposed", nn.ConvTranspose2d(4, 6, 3, 2, 1, 1), image)
compare("depthwise", nn.Conv2d(4, 8, 3, groups=4), image)
compare("line", nn.Conv1d(9, 4, 3), image[0])
compare("space", nn.Conv3d(2, 4, 3), image.reshape(1, 2, 4, 9, 9))
compare("batch norm", nn.BatchNorm2d(4), image)
compare("in use", nn.BatchNorm2d(4).eval(), image)


def halves(x, weight, bias):
    """Batch norm as in two processes, and its gradient for x * x."""
    eps, parts = 1e-5, x.detach().chunk(2)
    stats = [torch.batch_norm_stats(part, eps) for part in parts]
    mean, invstd = (torch.stack(s) for s in zip(*stats))
    counts = torch.full((2,), len(parts[0]) * 81.0, device=x.device)
    kept = torch.zeros(4, device=x.device), torch.ones(4, device=x.device)
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        x, mean, invstd, *kept, 0.1, eps, counts
    )
    out = [
        torch.batch_norm_elemt(part, weight, bias, mean, invstd, eps)
        for part in parts
    ]
    sums = [
        torch.batch_norm_backward_reduce(
            2 * o, part, mean, invstd, weight, True, True, True
        )
        for o, part in zip(out, parts)
    ]
    by_mean, by_var, by_weight, by_bias = (sum(s) for s in zip(*sums))
    by_input = [
        torch.batch_norm_backward_elemt(
            2 * o, part, mean, invstd, weight, by_mean, by_var, counts.int()
        )
        for o, part in zip(out, parts)
    ]
    return torch.cat(out), torch.cat(by_input), by_weight, by_bias, *kept


def compare_halves():
    one = nn.BatchNorm2d(4)
    nn.init.normal_(one.weight)
    nn.init.normal_(one.bias)
    affine = one.weight.detach().cuda(), one.bias.detach().cuda()
    found = halves(image.cuda(), *affine)
    x = image.clone().requires_grad_()
    out = one(x)
    (out * out).sum().backward()
    right = out, x.grad, one.weight.grad, one.bias.grad
    right += one.running_mean, one.running_var
    same = (
        torch.allclose(a.cpu(), b, 1e-3, 1e-3) for a, b in zip(found, right)
    )
    print("in halves", *same)


compare_halves()
compare("rms norm", nn.RMSNorm(9), image)
compare("vector", Of(lambda a, v: a @ v), image[0, 0], image[1, 0, 0])
compare("in place", Of(lambda x: (2 * x).clamp_(0).pow_(2)), image)
compare("waves", Of(lambda x: torch.fft.rfft(x).abs()), image)
grid = torch.rand(2, 5, 5, 2) * 2 - 1
sample = nn.functional.grid_sample
compare(
    "places", Of(lambda x, at: sample(x, at, align_corners=True)), image, grid
)
lines = torch.randn(3, 5, 6)
compare("lstm cell", nn.LSTMCell(6, 4), lines[0])
compare("gru cell", nn.GRUCell(6, 4), lines[0])
for of in (
    nn.LSTM(6, 4, 2, bidirectional=True),
    nn.LSTM(6, 4, proj_size=2),
    nn.GRU(6, 4, 2, batch_first=True),
    nn.RNN(6, 4, bias=False),
):
    compare(type(of).__name__, First(of), lines)
for backend, dtype in (
    (KINDS.EFFICIENT_ATTENTION, torch.float32),
    (KINDS.FLASH_ATTENTION, torch.bfloat16),
    (KINDS.CUDNN_ATTENTION, torch.bfloat16),
):
    q, k, v = (torch.randn(2, 4, 24, 16, dtype=dtype) for _ in range(3))
    compare(backend.name, Attention(backend), q, k, v)
    compare("causal", Attention(backend, is_causal=True), q, k, v)
    if backend == KINDS.FLASH_ATTENTION:
        few = Attention(backend, enable_gqa=True)
        compare("grouped", few, q, k[:, :2], v[:, :2])
    else:
        bias = torch.randn(2, 4, 24, 24, dtype=dtype)
        compare("bias", Attention(backend), q, k, v, bias)
