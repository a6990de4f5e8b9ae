# SPDX-License-Identifier: MIT
"""GPT-2 generation: greedy, sampled, beams, a static cache, an assistant."""
import sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
model, small = (GPT2LMHeadModel(GPT2Config(
    n_layer=layers, n_embd=128, n_head=4)).cuda() for layers in (2, 1))
how = {
    "greedy": {},
    "sample": {"do_sample": True, "top_k": 50, "top_p": 0.9},
    "beams": {"num_beams": 3},
    "static": {"cache_implementation": "static", "disable_compile": True},
    "assisted": {"assistant_model": small},
}[sys.argv[1]]
ids = torch.randint(0, 1000, (1 if "assistant_model" in how else 2, 16)).cuda()
out = model.generate(ids, max_new_tokens=16, pad_token_id=0, **how)
print("length is at most 32:", out.shape[1] <= 32)
