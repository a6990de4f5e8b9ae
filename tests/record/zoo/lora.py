# SPDX-License-Identifier: MIT
"""peft: low-rank adapters in a frozen Llama."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = get_peft_model(LlamaForCausalLM(LlamaConfig(
    vocab_size=1000, hidden_size=256, intermediate_size=688,
    num_hidden_layers=4, num_attention_heads=4)), LoraConfig(r=8)).cuda()
optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)
for _ in range(2):
    ids = torch.randint(0, 1000, (4, 256)).cuda()
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
