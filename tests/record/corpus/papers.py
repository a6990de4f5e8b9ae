# SPDX-License-Identifier: MIT
"""Rank 0 of a training as measured in papers about allocators: papers.py MODEL
HOW RANKS BATCH.

HOW is a list of words joined by +: full or lora, recompute, ragged (batches of
256 to 1024 tokens, varying in each step; else 1024).  The other ranks do not
exist: the group completes each collective at once, and shards have the size for
RANKS.
"""
import sys

import peft
import torch
import torch.distributed as dist
import transformers as t
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

model, how = sys.argv[1], sys.argv[2].split("+")
ranks, batch = int(sys.argv[3]), int(sys.argv[4])
wide = {"hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 40}
models = {
    "gpt2": (t.GPT2LMHeadModel, t.GPT2Config(
        n_embd=1024, n_layer=24, n_head=16)),
    "opt-1.3b": (t.OPTForCausalLM, t.OPTConfig(
        hidden_size=2048, num_hidden_layers=24, num_attention_heads=32,
        ffn_dim=8192, word_embed_proj_dim=2048)),
    "opt-13b": (t.OPTForCausalLM, t.OPTConfig(
        **wide, ffn_dim=20480, word_embed_proj_dim=5120)),
    "vicuna-13b": (t.LlamaForCausalLM, t.LlamaConfig(
        **wide, intermediate_size=13824)),
    "gpt-neox-20b": (t.GPTNeoXForCausalLM, t.GPTNeoXConfig()),
    "llama2-7b": (t.LlamaForCausalLM, t.LlamaConfig()),
    "qwen-moe": (t.Qwen2MoeForCausalLM, t.Qwen2MoeConfig(
        experts_implementation="eager")),
}
layers = ("GPT2Block", "OPTDecoderLayer", "LlamaDecoderLayer", "GPTNeoXLayer",
          "Qwen2MoeDecoderLayer")

kind, config = models[model]
with torch.device("meta"):
    net = kind(config)
if "lora" in how:
    net = peft.get_peft_model(net.bfloat16(), peft.LoraConfig(
        target_modules="all-linear")).bfloat16()
if "recompute" in how:
    net.gradient_checkpointing_enable({"use_reentrant": False})
    net.enable_input_require_grads()
if ranks > 1:
    dist.init_process_group("fake", store=FakeStore(), rank=0,
                            world_size=ranks)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for module in net.modules():
        if type(module).__name__ in layers:
            fully_shard(module, mp_policy=policy)
    fully_shard(net, mp_policy=policy)
net.to_empty(device="cuda").train()
optimizer = torch.optim.AdamW(p for p in net.parameters() if p.requires_grad)
random = torch.Generator().manual_seed(0)
for step in range(4):
    length = 1024
    if "ragged" in how:
        length = int(torch.randint(256, 1025, (), generator=random))
    ids = torch.randint(1, 30000, (batch, length), generator=random).cuda()
    with torch.autocast("cuda", torch.bfloat16, enabled=ranks == 1):
        loss = net(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
