# SPDX-License-Identifier: MIT
"""libraries.py NAME: what one of CUDA's libraries is used for, alone in a
process, so that its workspaces and what it holds besides are told apart."""

import sys

import torch
from torch import nn
from torch.nn import functional as F


def rand(*shape, **options):
    return torch.rand(*shape, device="cuda", **options)


def half(*shape, **options):
    return rand(*shape, dtype=torch.bfloat16, **options)


def trained(module, x):
    module = module.cuda()
    if x.is_floating_point():
        module = module.to(x.dtype)
        x.requires_grad_()
    out = module(x)
    (out[0] if isinstance(out, tuple) else out).float().sum().backward()


def convolve(x, *sizes, kind=nn.Conv2d, **options):
    trained(kind(*sizes, **options), x)


def last(x):
    return x.to(memory_format=torch.channels_last)


def norm(x):
    trained(nn.Sequential(nn.BatchNorm2d(x.shape[1]), nn.ReLU()), x)


def attention(heads, length, width, backend, causal=True):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    qkv = [half(2, heads, length, width, requires_grad=True) for _ in range(3)]
    with sdpa_kernel(getattr(SDPBackend, backend)):
        out = F.scaled_dot_product_attention(*qkv, is_causal=causal)
        out.sum().backward()


def ctc():
    scores = rand(50, 16, 20, requires_grad=True)
    targets = torch.randint(1, 20, (16 * 30,), dtype=torch.int, device="cuda")
    F.ctc_loss(
        scores.log_softmax(2),
        targets,
        (50,) * 16,
        (30,) * 16,
    ).backward()


def nccl():
    import torch.distributed as dist

    dist.init_process_group(
        "nccl", store=dist.HashStore(), rank=0, world_size=1
    )
    dist.all_reduce(rand(1 << 20))
    torch.cuda.synchronize()
    dist.destroy_process_group()


def sparse(kind):
    a = (rand(512, 512) > 0.9).float()
    a = getattr(a, "to_sparse_" + kind)()
    return a @ rand(512, 64), a @ a


def solve(what):
    a = rand(256, 256)
    a = a @ a.T + 256 * torch.eye(256, device="cuda")
    batch = torch.stack([a[:32, :32]] * 16)
    for x in (a, batch):
        getattr(torch.linalg, what)(*([x, x] if "solve" in what else [x]))


def scaled():
    x, y = (rand(256, 256).to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    torch._scaled_mm(x, y.T, one, one, out_dtype=torch.bfloat16)


def compiled():
    fast = torch.compile(lambda x: (x.sin() + 1).sum())
    fast(rand(64, 64)).item()


def graph():
    x = rand(64, 64)
    x @ x
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        x @ x
    captured.replay()


def streams():
    x = rand(64, 64)
    for _ in range(3):
        with torch.cuda.stream(torch.cuda.Stream()):
            x @ x


PICTURE = (4, 64, 56, 56)
NAMES = {
    "context": lambda: torch.empty(1, device="cuda"),
    "fill": lambda: torch.zeros(1, device="cuda"),
    "pointwise": lambda: rand(1000).add_(1).sum().item(),
    "sort": lambda: rand(100000).sort(),
    "unique": lambda: torch.randint(0, 9, (1000,), device="cuda").unique(),
    "matmul": lambda: rand(256, 256) @ rand(256, 256),
    "matmul-half": lambda: half(4096, 4096) @ half(4096, 4096),
    "linear": lambda: trained(nn.Linear(512, 512), half(64, 512)),
    "batched": lambda: rand(16, 64, 64) @ rand(16, 64, 64),
    "scaled": scaled,
    "grouped": lambda: torch._grouped_mm(
        half(64, 128),
        half(4, 128, 128).transpose(-2, -1),
        offs=torch.tensor([16, 32, 48, 64], dtype=torch.int, device="cuda"),
    ),
    "convolution": lambda: convolve(rand(*PICTURE), 64, 128, 3),
    "convolution-half": lambda: convolve(half(*PICTURE), 64, 128, 3, padding=1),
    "convolution-last": lambda: convolve(last(half(*PICTURE)), 64, 128, 3),
    "convolution-strided": lambda: convolve(
        rand(8, 3, 224, 224), 3, 64, 7, stride=2, padding=3
    ),
    "convolution-depthwise": lambda: convolve(
        rand(*PICTURE), 64, 64, 3, groups=64
    ),
    "convolution-grouped": lambda: convolve(
        half(*PICTURE), 64, 64, 3, groups=4
    ),
    "convolution-dilated": lambda: convolve(
        rand(*PICTURE), 64, 64, 3, dilation=2
    ),
    "convolution-1d": lambda: convolve(
        rand(8, 32, 4096), 32, 64, 9, kind=nn.Conv1d
    ),
    "convolution-3d": lambda: convolve(
        rand(2, 8, 32, 32, 32), 8, 16, 3, kind=nn.Conv3d
    ),
    "transposed": lambda: convolve(
        rand(*PICTURE), 64, 32, 4, stride=2, padding=1, kind=nn.ConvTranspose2d
    ),
    "batch-norm": lambda: norm(rand(*PICTURE)),
    "batch-norm-last": lambda: norm(last(half(32, 64, 56, 56))),
    "layer-norm": lambda: trained(nn.LayerNorm(512), half(64, 512)),
    "lstm": lambda: trained(nn.LSTM(64, 128, 2, dropout=0.1), rand(20, 8, 64)),
    "lstm-half": lambda: trained(
        nn.LSTM(64, 128, bidirectional=True), half(20, 8, 64)
    ),
    "gru": lambda: trained(nn.GRU(256, 512), rand(50, 32, 256)),
    "gru-inference": lambda: nn.GRU(64, 64).cuda().eval()(rand(20, 8, 64)),
    "rnn": lambda: trained(nn.RNN(64, 64, batch_first=True), rand(8, 20, 64)),
    "ctc": ctc,
    "attention-flash": lambda: attention(8, 1024, 64, "FLASH_ATTENTION"),
    "attention-efficient": lambda: attention(
        8, 1024, 64, "EFFICIENT_ATTENTION"
    ),
    "attention-cudnn": lambda: attention(8, 1024, 64, "CUDNN_ATTENTION"),
    "attention-cudnn-wide": lambda: attention(
        16, 512, 128, "CUDNN_ATTENTION", False
    ),
    "attention-math": lambda: attention(8, 256, 64, "MATH"),
    "fft": lambda: torch.fft.rfft2(rand(8, 224, 224)),
    "fft-prime": lambda: torch.fft.fft(rand(64, 10007)),
    "fft-3d": lambda: torch.fft.fftn(rand(64, 64, 64)),
    "istft": lambda: torch.stft(
        rand(4, 16000), 400, window=rand(400), return_complex=True
    ),
    "cholesky": lambda: solve("cholesky"),
    "qr": lambda: solve("qr"),
    "svd": lambda: solve("svd"),
    "eigh": lambda: solve("eigh"),
    "eig": lambda: solve("eig"),
    "inverse": lambda: solve("inv"),
    "lu": lambda: solve("lu"),
    "solve": lambda: solve("solve"),
    "sparse-csr": lambda: sparse("csr"),
    "sparse-coo": lambda: (
        (rand(512, 512) > 0.9).float().to_sparse() @ rand(512, 64)
    ),
    "multinomial": lambda: rand(64, 1000).multinomial(10),
    "embedding": lambda: trained(
        nn.EmbeddingBag(1000, 64),
        torch.randint(0, 1000, (64, 10), device="cuda"),
    ),
    "cumsum": lambda: rand(1000, 1000).cumsum(0).cumsum(1),
    "topk": lambda: rand(64, 50000).topk(50),
    "nonzero": lambda: torch.eye(100, device="cuda").nonzero(),
    "nccl": nccl,
    "compiled": compiled,
    "graph": graph,
    "streams": streams,
}

if __name__ == "__main__":
    for _ in range(2):
        NAMES[sys.argv[1]]()
