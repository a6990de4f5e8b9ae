# SPDX-License-Identifier: MIT
"""Llama, trained with a tokenizer's mask of ones."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=1000, hidden_size=256, intermediate_size=688,
    num_hidden_layers=4, num_attention_heads=4)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    ids = torch.randint(0, 1000, (4, 256)).cuda()
    mask = torch.ones_like(ids)
    model(input_ids=ids, attention_mask=mask, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
