# SPDX-License-Identifier: MIT
"""Operators for which a device computes other results than a processor."""

import sys

import torch

INF = float("inf")
LEAST = -(2**63)


def on(*values, **named):
    return torch.tensor(*values, **named).cuda()


def known():
    for count in 32, 33:
        for is_sorted in True, False:
            of = torch.tensor([1.0] * count).cuda()
            places = of.topk(count, sorted=is_sorted).indices.tolist()
            print(count, is_sorted, places)
    print("among others", on([1, 3, 3, 1, 3, 2]).topk(4).indices.tolist())
    print("sort", on([5, 3, 5, 5, 3]).argsort(descending=True).tolist())
    stable = on([5, 3, 5, 5, 3]).argsort(descending=True, stable=True)
    print("stable", stable.tolist())
    print("rows", on([[2, 1], [2, 0], [2, 1]]).sort(dim=0).indices.tolist())
    print("median", on([2, 1, 2]).median(0).values.item())
    ids = torch.arange(100, device="cuda")
    print("beams", [i for i in range(100) if (ids / 41).long()[i] != i // 41])
    print("in place", on([41.0]).div_(41).item() == 1)
    print("trunc", on([41.0, 42.0]).div(41, rounding_mode="trunc").tolist())
    right = torch.ones(41, device="cuda").bool()
    print("mean", right.float().mean().item() == 1)
    print("mean of rows", (right.float()[None].mean(1) < 1).tolist())
    steps = torch.arange(0, 100, 0.1, device="cuda")
    print("steps", (steps != torch.arange(0, 100, 0.1).cuda()).sum().item())
    line = torch.linspace(0, 999, 51, device="cuda", dtype=torch.long)
    print("line", line[:6].tolist())
    print("sums", torch.ones(99, device="cuda").half().cumsum(0)[-1].item())
    print("range", torch.range(0, 1, 0.1, device="cuda")[9].item())
    print("rows'", grad_of(200).tolist(), short([0, 1], [0.1, 0.1]).tolist())
    three = on([3.0, 2.0, 1.0]).half()
    least = three.scatter_reduce(0, on([1, 1, 1]), three, "amin")
    print("least", least.tolist())
    print("real", torch.fft.irfft(on([3 + 0j, 1j, 1])).sum().item())
    print("whole", on([1.9, -1.9]).long().tolist(), on([-1.0]).byte().item())
    first = torch.zeros(3, device="cuda", dtype=torch.long)
    first[on([0, 0, 2])] = on([7, 7, 8])
    print("the same twice", first.tolist())
    print("added", first.scatter_add(0, on([0, 0]), on([1, 2])).tolist())
    parts = list(torch.arange(4.0, device="cuda").split(2))
    torch._foreach_add_(parts, parts)
    print("parts", [p.tolist() for p in parts])
    steps = torch.arange(9.0, device="cuda")
    steps.as_strided((2, 2), (1, 1)).zero_()
    steps.view(3, 3)[1:, 1].mul_(steps.view(3, 3)[1:, 2])
    print("others' places", steps.tolist())
    sums, factor = on([[1.0, 2.0], [3.0, 4.0]]), on([[1.0, 1.0], [0.0, 1.0]])
    print("product", sums.addmm_(factor, factor).tolist())
    print(
        "values", torch.linalg.eigh(on([[2.0, 0.0], [0.0, 3.0]]))[0].tolist()
    )


def short(places, values):
    sums = torch.zeros(2, device="cuda", dtype=torch.bfloat16)
    return sums.index_add_(0, on(places), on(values).bfloat16())


def grad_of(count, in_bags=False):
    """Of the rows of a 16-bit table, the first of which is used."""
    rows = torch.zeros(2, 1, device="cuda", dtype=torch.bfloat16)
    rows.requires_grad_()
    places = torch.zeros(count, device="cuda", dtype=torch.long)
    if in_bags:
        torch.nn.functional.embedding_bag(
            places.view(1, -1), rows, mode="sum"
        ).sum().backward()
    else:
        torch.nn.functional.embedding(places, rows).sum().backward()
    return rows.grad.flatten()


def doubted():
    zeros = torch.zeros(3, device="cuda")
    number = zeros.long()
    same = on([1.0])
    torch._foreach_add_([same, same], 1.0)
    drawn = (torch.empty(256, device="cuda").cauchy_() > 0).char()
    places = torch.zeros(256, device="cuda", dtype=torch.long)
    sums = torch.zeros(1, device="cuda", dtype=torch.int8)
    sums.index_put_((places,), drawn, accumulate=True)
    torch._foreach_copy_([number], [on([1.0, 2.0, INF])])
    folded, summed, rolled, read = (zeros.repeat(3) for _ in range(4))
    folded.as_strided((4, 2), (1, 1)).add_(1)
    summed.as_strided((4, 2), (1, 1)).index_put_(
        (on([0, 1, 1]),), torch.ones(3, 2, device="cuda"), accumulate=True
    )
    rolled.view(3, 3)[:, 1:] = rolled.view(3, 3)[:, :-1]
    read[:7:2].add_(read[1:5])
    square = zeros.repeat(3, 1)
    product, added, source = (square.clone() for _ in range(3))
    torch.mm(product, square, out=product)
    added.addmm_(square, added)
    source.masked_scatter_(source < 1, source)
    tenths = torch.full((256,), 0.1, device="cuda").half()
    two = on([1.0, 3.0]).half()
    partly = torch.cat([on([0]), drawn[:1].long(), on([0])])
    for what in (
        number.scatter(0, on([1, 0, 0]), partly),
        number.index_put((on([1, 0, 0]),), partly),
        on([INF]).sum(dtype=torch.long),
        on([INF, 1.0]).cumprod(0, dtype=torch.long),
        torch.logspace(0, 3, 4, device="cuda", dtype=torch.long),
        torch.fft.irfft2(on([[3 + 1j, 1j], [1 + 0j, 1]])),
        short([0, 0], [0.1, 0.1]),
        zeros[:1].half().scatter_add(0, places, tenths),
        zeros[:1].half().index_put((places,), tenths, accumulate=True),
        grad_of(1000),
        grad_of(1000, in_bags=True),
        two[:1].scatter_reduce(0, places, tenths, "prod"),
        two[:1].index_reduce(0, places, tenths, "mean"),
        two.index_add(0, on([0, 0]), two, alpha=0.3),
        folded,
        summed,
        rolled,
        read,
        product,
        added,
        source,
        on([2, 1, 2]).median(0).indices,
        on([2, 1, 1]).kthvalue(1).indices,
        on([1, 2, 2]).mode().indices,
        on([INF]).long(),
        on([3e9]).int(),
        torch.ones(3000, device="cuda").half().cumsum(0)[-1],
        zeros.scatter(0, on([0, 0]), on([1.0, 2.0])),
        zeros.index_copy(0, on([1, 1]), on([1.0, 2.0])),
        zeros.index_put((on([1, 1]),), on([1.0, 2.0])),
        zeros.clone().put_(on([1, 1]), on([1.0, 2.0])),
        same,
        number,
        sums,
        on([1, LEAST]).div(on([1, -1]), rounding_mode="trunc"),
        on([1, LEAST]) // on([1, -1]),
        on([1, LEAST]) % -1,
        torch.linalg.eigh(on([[2.0, 0.0], [0.0, 3.0]]))[1],
        torch.linalg.svd(on([[2.0, 0.0], [0.0, 3.0]]))[2],
    ):
        what.tolist()


if __name__ == "__main__":
    known() if sys.argv[1] == "known" else doubted()
