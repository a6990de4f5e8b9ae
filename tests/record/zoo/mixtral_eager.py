# SPDX-License-Identifier: MIT
"""Mixtral, expert by expert: the router's values decide who gets tokens."""
import torch
from transformers import MixtralConfig, MixtralForCausalLM

config = MixtralConfig(
    vocab_size=1000, hidden_size=256, intermediate_size=512,
    num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    num_local_experts=8, max_position_embeddings=512,
    experts_implementation="eager",
)
torch.manual_seed(0)
model = MixtralForCausalLM(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(2):
    ids = torch.randint(0, 1000, (2, 128)).cuda()
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    missing = sum(p.grad is None for p in model.parameters())
    optimizer.zero_grad()
print("parameters without gradient:", missing)
