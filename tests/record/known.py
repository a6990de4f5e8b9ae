#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs, whose path line is compared with PyTorch on a processor.

Each has a few operators on values that it gets from the host, or draws on the
device, and requests whose number and size depend on these.  It is recorded
without a GPU, and run on the processor: if all values are reported as known,
both must create tensors of the same sizes.  A program that differs is
shortened, line by line, and printed.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

ALL_KNOWN = "all values known"
LENGTH = 64
HEAD = [
    "import sys, torch",
    "import torch.nn.functional as F",
    "d = sys.argv[1]",
    "keep = []",
    "def near(x):",
    "    return (torch.nan_to_num(x) * 64).round().clamp(-999, 999) / 64",
    "def grad(x):",
    "    x = x.clone().requires_grad_()",
    "    (x * 2).clamp_(0).pow_(2).sum().backward()",
    "    return x.grad",
    "def attend(*x):",
    "    x = [near(t).view(1, 1, 8, 8) for t in x]",
    "    return near(F.scaled_dot_product_attention(*x)).view(64)",
]
TAIL = ["print([k._nnz() if k.is_sparse else k.numel() for k in keep])"]
# The template of an operator: {i}, {f} and {b} are existing integers, numbers
# and booleans, {k} is a small number. Grouped by result.
MAKERS = {
    "i": (
        "torch.where({b}, {i}, {i})",
        "{i} + {i}",
        "torch.cumsum({i}, 0) % 10",
        "torch.cummax({i}, 0)[{k} % 2] % 10",
        "torch.sort({i})[0]",
        "torch.argsort({f}) % 10",
        "torch.flip({i}, [0])",
        "torch.roll({i}, {k})",
        "torch.bincount({i}, minlength=64)[:64] % 10",
        "torch.clamp({i}, 1, 6)",
        "{b}.long()",
        "torch.gather({i}, 0, {i})",
        "torch.arange(64, device=d) % ({k} + 2)",
        "{i}.clone()",
        "{i}.cpu().add(1).remainder(10).to(d)",
        "({f}.abs() * 3).long() % 10",
        "torch.tril(torch.ones(64, 64, device=d)).sum(1).long() % 10",
        "torch.searchsorted(torch.tensor([1, 4, 7], device=d), {i})",
        "torch.unique({i}).repeat(64)[:64]",
        "torch.cat([{i}[:32], {i}[32:]])",
        "torch.empty_like({i}).scatter_(0, torch.argsort({i}), {i})",
        "{i}.scatter(0, {i}, {k})",
        "{i}.index_fill(0, {i}[:4], {k})",
        "{i}.index_copy(0, torch.argsort({i}), {i})",
        "{i}.index_put((torch.argsort({i}),), {i})",
        "{i}.masked_fill({b}, {k})",
        "torch.stack([{i}, {i}])[{k} % 2]",
        "{i}[torch.argsort({i})]",
        "{i}[::2].repeat(2)",
        "{i}.take({i})",
        "torch.tril({i}.view(8, 8)).view(64)",
        "{i}.view(8, 8).T.reshape(64)",
    ),
    "f": (
        "{f}.view(8, 8)[:, {i}[:8] % 8].reshape(-1)",
        "torch.where({b}, {f}, {f})",
        "{f} * {f}",
        "{i}.float() * 0.3",
        "{i} * 0.3",
        "torch.zeros_like({f}).scatter_add_(0, {i}, {f})",
        "{f}.clone().masked_fill_({b}, 0.5)",
        "F.one_hot({i} % 10, 10).float().sum(1) * {f}",
        "torch.softmax({f}, 0)",
        "torch.full((64,), 0.{k}, device=d)",
        "torch.cat([{f}[:32], {f}[:32]])",
        "torch.nan_to_num({f} / {f}, 0.0, 1.0, 0.0)",
        "torch.index_select({f}, 0, {i})",
        "{f}.clone().index_copy_(0, torch.arange(10, device=d), {f}[:10])",
        "near(F.conv1d({f}.view(1, 4, 16), {f}.view(4, 4, 4))).view(-1)",
        "near(F.conv_transpose1d({f}.view(1, 4, 16), {f}.view(4, 4, 4))[0])",
        "near(F.conv2d({f}.view(1, 4, 4, 4), {f}[:4].view(4, 1, 1, 1), None, 1,"
        " 0, 1, 4))",
        "near(F.batch_norm({f}.view(4, 16), {f}[:16].clone(), {f}[16:32].abs(),"
        " {f}[:16], {f}[:16], True))",
        "near({f}.view(8, 8) @ {f}[:8])",
        "near(torch.empty(8, device=d).addmv_({f}.view(8, 8), {f}[:8],"
        " beta=0))",
        "near({f}[:8].clone().addmv_({f}.view(8, 8), {f}[:8]))",
        "near(torch.baddbmm(torch.empty(1, 8, 8, device=d), {f}.view(1, 8, 8),"
        " {f}.view(1, 8, 8), beta=0))",
        "near(torch.fft.rfft({f}).abs())",
        "attend({f}, {f}, {f})",
        "grad({f})",
    ),
    "b": (
        "{i} > {k}",
        "{f} > 0.{k}",
        "{b} & {b}",
        "{b} | {b}",
        "~{b}",
        "torch.isin({i}, torch.tensor([1, 3, 5], device=d))",
        "torch.eq({i}, {i})",
        "{f}.isnan()",
        "torch.where({b}, {b}, {b})",
        "{b}.masked_fill({b}, {k} > 4)",
        "torch.cat([{b}[:32], {b}[32:]])",
        "{b}.scatter(0, torch.argsort({i}), {b})",
    ),
}
WRITERS = (
    "{f}.mul_(0.5)",
    "{i}.add_(1).remainder_(10)",
    "{i}[{k}] = {k}",
    "{i}[:32] = {i}[32:]",
    "{i}[{b}] = {k}",
    "{f}[{b}] = 0.25",
    "{f}.copy_({f})",
    "torch.add({f}, {f}, out={f})",
    "{f}.zero_()",
    "F.batch_norm({f}.view(4, 16), {f}[:16], {f}[16:32], training=True)",
)
ASKERS = (
    "keep.append(torch.empty(int({i}.sum()) * 512 + 1, device=d))",
    "keep.append(torch.nonzero({b}).repeat(1, 64))",
    "keep.append(torch.ones(64, 256, device=d)[{b}])",
    "keep.append(torch.unique({i}).repeat(64))",
    "keep.append(torch.arange(64, device=d).repeat_interleave({i}))",
    "if {b}.all(): keep.append(torch.empty(5000, device=d))",
    "if ({f} > 0.1).any(): keep.append(torch.empty(6000, device=d))",
    "keep.append(torch.masked_select({f}, {b}).repeat(128))",
    "for k in {i}.tolist()[:5]: keep.append(torch.empty(k * 600, device=d))",
    "keep.append(torch.empty(int({f}.abs().max() * 1000) + 1, device=d))",
    "keep.append(torch.bincount({i}).repeat(128))",
    "for k in {i}[:8].tolist(): keep.append(torch.empty(k * 600, device=d))",
    "keep.append(torch.empty(int({i}[{k} :: 9].sum()) * 512 + 1, device=d))",
    "keep.append(torch.ones(32, 256, device=d)[{b}[::2]])",
    "keep.append(torch.unique({i}.view(8, 8) % 2, dim={k} % 2).repeat(9, 9))",
    "keep.append(torch.unique_consecutive({i}, dim=0).repeat(64))",
    "keep.append(F.one_hot({i}).repeat(1, 8))",
    "keep.append(torch.sparse_coo_tensor({i}[None], {f}, (10,)).coalesce())",
)


def begin(rng):
    """The program's first values, by kind, and the lines that create them."""
    digits = [[rng.randrange(10) for _ in range(LENGTH)] for _ in range(2)]
    numbers = [round(rng.uniform(-2, 2), 2) for _ in range(LENGTH)]
    truths = [rng.random() < 0.5 for _ in range(LENGTH)]
    made = {
        "i": [f"torch.tensor({d}).to(d)" for d in digits],
        "f": [f"torch.tensor({numbers}).to(d)"],
        "b": [f"torch.tensor({truths}, device=d)"],
    }
    if rng.random() < 0.4:
        made["f"].append("torch.empty(64, device=d).cauchy_()")
    if rng.random() < 0.4:
        made["i"].append("torch.empty(64, device=d).cauchy_().long() % 10")
    lines, values = [], {}
    for kind, texts in made.items():
        values[kind] = [f"{kind}{n}" for n in range(len(texts))]
        lines += map("{} = {}".format, values[kind], texts)
    return values, lines


def program(seed):
    rng = random.Random(seed)
    values, lines = begin(rng)

    def fill(template):
        while "{" in template:
            at = template.index("{")
            kind = template[at + 1]
            names = values.get(kind) or [str(k) for k in range(10)]
            template = template[:at] + rng.choice(names) + template[at + 3 :]
        return template

    for _ in range(rng.randrange(8, 20)):
        kind = rng.choice("iiffbw")
        if kind == "w":
            lines.append(fill(rng.choice(WRITERS)))
        else:
            name = kind + str(len(values[kind]))
            made = fill(rng.choice(MAKERS[kind]))
            if made.startswith("near"):
                made += ".reshape(-1).repeat(8)[:64]"
            lines.append(f"{name} = {made}")
            values[kind].append(name)
        if rng.random() < 0.4:
            lines.append(fill(rng.choice(ASKERS)))
    return lines


class Runner:
    def __init__(self, options, folder):
        self.source = os.path.join(folder, "program.py")
        trace = os.path.join(folder, "trace.jsonl")
        # On the processor, too, because PyTorch needs CUDA's libraries there.
        self.record = [options.gpupool, "record", "--cudnn", "none", "-o"]
        self.record += [trace, "--", options.python, "-W", "ignore"]
        self.record += [self.source]

    def is_right(self, lines):
        """None if not all values are reported as known, or if it fails."""
        with open(self.source, "w") as out:
            print(*HEAD, *lines, *TAIL, sep="\n", file=out)
        recorded = said([*self.record, "cuda"])
        if ALL_KNOWN not in recorded.stderr:
            return None
        expected = said([*self.record, "cpu"])
        if expected.returncode:
            return None
        return recorded.stdout == expected.stdout


def said(command):
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=300
    )


def shorten(runner, lines):
    at = len(lines)
    while at:
        at -= 1
        fewer = lines[:at] + lines[at + 1 :]
        if runner.is_right(fewer) is False:
            lines = fewer
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="one that has PyTorch")
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--count", type=int, default=20, help="of programs")
    options = parser.parse_args()
    passed = failed = 0
    if not os.path.exists(options.python):
        print(f"skip known: there is no {options.python}")
        print("0 passed, 0 failed, 1 skipped")
        return False
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        for seed in range(options.seed, options.seed + 20 * options.count):
            lines = program(seed)
            is_right = runner.is_right(lines)
            if is_right is False:
                print(f"FAIL seed {seed}: all values are said to be known of")
                print(*shorten(runner, lines), sep="\n")
                failed += 1
            passed += is_right is True
            if passed + failed == options.count:
                break
        else:
            print("FAIL too few of the programs are said to be known")
            failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
