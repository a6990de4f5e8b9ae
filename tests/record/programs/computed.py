# SPDX-License-Identifier: MIT
"""What is computed is what the processor gives, also where only a device has
the operator: what comes out of modules, their gradients, and what they keep."""

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
with torch.no_grad():
    for of in nn.LSTM(6, 4, 2, bidirectional=True), nn.GRU(6, 4), nn.RNN(6, 4):
        on = copy.deepcopy(of).cuda()(lines.cuda())[0].cpu()
        print(type(of).__name__, torch.allclose(on, of(lines)[0], 0.01, 0.01))
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
