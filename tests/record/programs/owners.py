# SPDX-License-Identifier: MIT
"""Trains models, keeps them, and prints the sizes of the memory that they
should hold: owners.py KIND..."""

import copy
import sys

import torch
from torch import nn


class Tied(nn.Module):
    """An embedding that is also the last layer's weight, and a tensor that is
    not a parameter."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        layers = nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64)
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(64, 500, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("mask", torch.ones(300))

    def forward(self, x):
        return self.head(self.body(self.embed(x)))


def adapted():
    """Frozen except for a small part, as with LoRA."""
    model = Tied()
    model.requires_grad_(False)
    adapter = nn.Linear(64, 8), nn.Linear(8, 64)
    model.body[0] = nn.Sequential(model.body[0], *adapter)
    return model


def checkpointed():
    from torch.utils.checkpoint import checkpoint

    class Again(Tied):
        def forward(self, x):
            x = checkpoint(self.body, self.embed(x), use_reentrant=False)
            return self.head(x)

    return Again()


def distributed():
    """A group of this process only."""
    from torch import distributed

    if not distributed.is_initialized():
        distributed.init_process_group(
            "nccl", store=distributed.HashStore(), rank=0, world_size=1
        )


def replicated(model):
    distributed()
    return nn.parallel.DistributedDataParallel(model)


def sharded(model):
    from torch.distributed.fsdp import fully_shard

    distributed()
    fully_shard(model.body)
    return fully_shard(model)


def compiled(model):
    return torch.compile(model, backend="aot_eager")


def transformer(kind, config, **sizes):
    import transformers

    return getattr(transformers, kind)(getattr(transformers, config)(**sizes))


def gpt2():
    return transformer(
        "GPT2LMHeadModel", "GPT2Config", n_layer=2, n_embd=64, n_head=4,
        vocab_size=500
    )


def llama():
    return transformer(
        "LlamaForCausalLM",
        "LlamaConfig",
        num_hidden_layers=2,
        hidden_size=64,
        intermediate_size=128,
        num_attention_heads=4,
        vocab_size=500,
        tie_word_embeddings=True,
    )


def eight_bits(parameters):
    import bitsandbytes

    return bitsandbytes.optim.Adam8bit(parameters)


optim = torch.optim
kinds = {
    "foreach": (Tied, optim.AdamW, {}, torch.float32),
    "fused": (Tied, optim.AdamW, {"fused": True}, torch.float32),
    "single": (Tied, optim.AdamW, {"foreach": False}, torch.float32),
    "sgd": (Tied, optim.SGD, {"lr": 0.1, "momentum": 0.9}, torch.float32),
    "bfloat16": (Tied, optim.AdamW, {}, torch.bfloat16),
    "scaled": (Tied, optim.AdamW, {}, torch.float32),
    "adapted": (adapted, optim.AdamW, {}, torch.float32),
    "checkpointed": (checkpointed, optim.AdamW, {}, torch.float32),
    "accumulated": (Tied, optim.AdamW, {}, torch.float32),
    "compiled": (Tied, optim.AdamW, {}, torch.float32),
    "replicated": (Tied, optim.AdamW, {}, torch.float32),
    "sharded": (Tied, optim.AdamW, {}, torch.float32),
    "copied": (Tied, optim.AdamW, {}, torch.float32),
    "searched": (Tied, optim.LBFGS, {"max_iter": 3}, torch.float32),
    "gpt2": (gpt2, optim.AdamW, {}, torch.float32),
    "llama": (llama, optim.AdamW, {}, torch.bfloat16),
}


wraps = {"compiled": compiled, "replicated": replicated, "sharded": sharded}


def train(kind):
    make, optimizer, options, dtype = kinds[kind]
    model = make().to(dtype).cuda()
    called = wraps.get(kind, lambda m: m)(model)
    learned = [p for p in model.parameters() if p.requires_grad]
    steps = optimizer(learned, **options)
    scaler = torch.amp.GradScaler("cuda", enabled=kind == "scaled")
    for micro in range(4 if kind == "accumulated" else 2):
        x = torch.randint(0, 500, (2, 16)).cuda()
        if kind != "accumulated" or micro % 2 == 0:
            steps.zero_grad()

        def again(x=x):
            steps.zero_grad()
            loss = called(x).mean()
            loss.backward()
            return loss

        if kind == "searched":
            steps.step(again)
            continue
        with torch.autocast("cuda", torch.float16, enabled=kind == "scaled"):
            out = called(x)
            loss = getattr(out, "logits", out).float().mean()
        scaler.scale(loss).backward()
        scaler.step(steps)
        scaler.update()
    return model, steps


def count(tensors):
    tensors = [getattr(t, "_local_tensor", t) for t in tensors]
    return sum(t.numel() * t.element_size() for t in tensors)


def vectors(state):
    """The states of an optimizer that keeps lists of them."""
    if isinstance(state, (dict, list)):
        values = state.values() if isinstance(state, dict) else state
        return [v for value in values for v in vectors(value)]
    return [state] if isinstance(state, torch.Tensor) else []


def main():
    kept = [train(kind) for kind in sys.argv[1:]]
    parameters = [p for model, _ in kept for p in model.parameters()]
    learned = [p for p in parameters if p.requires_grad]
    copies = []
    states = 0
    for kind, (model, steps) in zip(sys.argv[1:], kept):
        if kind == "copied":
            copies.append(copy.deepcopy(model))
            parameters += copies[-1].parameters()
        if kind == "searched":
            own_states = [vectors(s) for s in steps.state.values()]
            states += sum(count(own) for own in own_states)
            continue
        own = [p for p in model.parameters() if p.requires_grad]
        states += count(own) * (1 if kind == "sgd" else 2)
        states += 4 * len(own) * (kind == "fused")  # the number of the step
    print("activation 0")
    print("gradient", count(learned))
    print("optimizer_state", states)
    print("parameter", count(parameters))
    sys.stdout.flush()
    # What it holds now is what its trace ends with.
    import os

    os._exit(0)


main()
