# SPDX-License-Identifier: MIT
"""accelerate: BERT with gradients accumulated, and clipped."""
import torch
from accelerate import Accelerator
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
model = BertForSequenceClassification(BertConfig(
    hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=512))
model, optimizer = accelerator.prepare(
    model, torch.optim.AdamW(model.parameters()))
for _ in range(4):
    ids = torch.randint(0, 1000, (4, 64)).to(accelerator.device)
    with accelerator.accumulate(model):
        loss = model(input_ids=ids, attention_mask=torch.ones_like(ids),
                     labels=torch.zeros_like(ids[:, 0])).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
