# SPDX-License-Identifier: MIT
"""Reinforcement learning of language models, phase by phase: reinforce.py HOW.

ppo: an actor generates; a critic, a reference and a reward model judge; actor
and critic are trained.  grpo: groups of answers, no critic.  dpo: pairs, no
generation.  sleep: as grpo, and the cache is emptied between the phases.
"""
import sys

import torch
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

how = sys.argv[1]
random = torch.Generator().manual_seed(0)
config = LlamaConfig(
    vocab_size=8000, hidden_size=512, num_hidden_layers=4,
    num_attention_heads=8, num_key_value_heads=4, intermediate_size=1408)


def network():
    with torch.device("cuda"):
        return LlamaForCausalLM(config).bfloat16()


def logs(model, ids):
    """The log probabilities of the tokens."""
    out = model(input_ids=ids).logits[:, :-1].float().log_softmax(-1)
    return out.gather(2, ids[:, 1:, None]).squeeze(2)


def phase(name):
    if how == "sleep":
        torch.cuda.empty_cache()
    return torch.profiler.record_function(name)


actor, reference = network(), network().requires_grad_(False)
optimizers = [torch.optim.AdamW(actor.parameters(), lr=1e-5)]
critic = reward = None
if how == "ppo":
    critic, reward = network(), network().requires_grad_(False)
    optimizers.append(torch.optim.AdamW(critic.parameters(), lr=1e-5))

for step in range(3):
    prompt = int(torch.randint(32, 128, (), generator=random))
    ids = torch.randint(1, 8000, (8, prompt), generator=random).cuda()
    if how == "dpo":
        ids = torch.cat([ids, ids.flip(1)], 1)
    else:
        new = int(torch.randint(16, 48, (), generator=random))
        with phase("generate"):
            ids = actor.generate(ids, max_new_tokens=new, min_new_tokens=new,
                                 pad_token_id=0)
    with phase("judge"), torch.no_grad():
        old, ours = logs(reference, ids), logs(actor, ids)
        gain = ours - old
        if how == "ppo":
            gain = gain + logs(reward, ids) - logs(critic, ids)
    with phase("train"):
        for part in range(0, 8, 2):
            mine = logs(actor, ids[part:part + 2])
            loss = -(mine - ours[part:part + 2]).exp().mul(
                gain[part:part + 2]).mean()
            if how == "ppo":
                loss = loss + F.mse_loss(
                    logs(critic, ids[part:part + 2]), gain[part:part + 2])
            loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
