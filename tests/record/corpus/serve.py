# SPDX-License-Identifier: MIT
"""A server of a language model: serve.py HOW.

cat: keys and values grow with torch.cat, answers begin and end.  paged: they
are in blocks that are allocated once.  offload: weights come from pinned
memory, layer by layer.
"""
import sys

import torch
from torch import nn

WIDTH, LAYERS, HEADS = 512, 6, 8
how = sys.argv[1]
random = torch.Generator().manual_seed(0)


def number(least, most):
    return int(torch.randint(least, most, (), generator=random))


def layer():
    return nn.ModuleDict({
        "qkv": nn.Linear(WIDTH, 3 * WIDTH), "out": nn.Linear(WIDTH, WIDTH),
        "up": nn.Linear(WIDTH, 4 * WIDTH), "down": nn.Linear(4 * WIDTH, WIDTH)})


def step(block, x, keys, values):
    q, k, v = block["qkv"](x).chunk(3, -1)
    keys = k if keys is None else torch.cat([keys, k], 1)
    values = v if values is None else torch.cat([values, v], 1)
    heads = [y.unflatten(-1, (HEADS, -1)).transpose(1, 2)
             for y in (q, keys, values)]
    seen = nn.functional.scaled_dot_product_attention(*heads)
    x = x + block["out"](seen.transpose(1, 2).flatten(2))
    return x + block["down"](block["up"](x).relu()), keys, values


@torch.inference_mode()
def serve_growing(blocks):
    """A few prompts at a time; each answer ends on its own."""
    answers = []
    for turn in range(120):
        if len(answers) < 12 and turn % 3 == 0:
            answers.append({"x": torch.zeros(
                1, number(16, 1024), WIDTH, device="cuda").half(),
                "left": number(4, 60), "kept": [(None, None)] * LAYERS})
        for answer in answers:
            x, kept = answer["x"], []
            for block, (keys, values) in zip(blocks, answer["kept"]):
                x, keys, values = step(block, x, keys, values)
                kept.append((keys, values))
            answer.update(x=x[:, -1:].clone(), kept=kept,
                          left=answer["left"] - 1)
        answers = [answer for answer in answers if answer["left"]]


@torch.inference_mode()
def serve_paged(blocks):
    pool = torch.zeros(LAYERS, 2, 8192, WIDTH, device="cuda").half()
    for _ in range(60):
        lengths = [number(1, 1024) for _ in range(number(1, 8))]
        x = torch.zeros(1, sum(lengths), WIDTH, device="cuda").half()
        for i, b in enumerate(blocks):
            rows = torch.randint(8192, (number(64, 4096),)).cuda()
            x = step(b, x, pool[i, 0][rows][None], pool[i, 1][rows][None])[0]


@torch.inference_mode()
def serve_offloaded(blocks):
    blocks = [block.cpu() for block in blocks]
    pinned = [{name: value.pin_memory()
               for name, value in block.state_dict().items()}
              for block in blocks]
    copies = torch.cuda.Stream()
    for _ in range(16):
        x = torch.zeros(4, number(16, 512), WIDTH, device="cuda").half()
        for block, weights in zip(blocks, pinned):
            with torch.cuda.stream(copies):
                there = {name: value.to("cuda", non_blocking=True)
                         for name, value in weights.items()}
            torch.cuda.current_stream().wait_stream(copies)
            for value in there.values():
                value.record_stream(torch.cuda.current_stream())
            x = x + x @ there["out.weight"]
            x = x + (x @ there["up.weight"].T).relu() @ there["down.weight"].T


network = [layer().half().cuda() for _ in range(LAYERS)]
{"cat": serve_growing, "paged": serve_paged,
 "offload": serve_offloaded}[how](network)
