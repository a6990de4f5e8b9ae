# SPDX-License-Identifier: MIT
"""transformers' Trainer: GPT-2 with gradient checkpointing and bfloat16."""
import tempfile
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(0)
ids = torch.randint(0, 1000, (16, 128))
data = [{"input_ids": row, "labels": row} for row in ids]
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=4))
with tempfile.TemporaryDirectory() as folder:
    Trainer(model=model, train_dataset=data, args=TrainingArguments(
        output_dir=folder, max_steps=3, per_device_train_batch_size=4,
        bf16=True, gradient_checkpointing=True, report_to=[],
        disable_tqdm=True, save_strategy="no")).train()
