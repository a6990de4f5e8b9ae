# SPDX-License-Identifier: MIT
"""Liger's Triton kernels in a Llama: a training step."""
import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
apply_liger_kernel_to_llama()
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=1000, hidden_size=256, intermediate_size=688,
    num_hidden_layers=2, num_attention_heads=4)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    ids = torch.randint(0, 1000, (2, 128)).cuda()
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
