# SPDX-License-Identifier: MIT
"""torchtitan: its Llama, the smallest flavor, a step of training."""
import torch
from torchtitan.models.llama3 import llama3_configs

torch.manual_seed(0)
config = llama3_configs["debugmodel"]
config = config() if callable(config) else config
with torch.device("cuda"):
    model = config.build()
model.init_states() if hasattr(model, "init_states") else model.init_weights()
ids = torch.randint(0, 1000, (2, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(ids).float().square().mean().backward()
optimizer.step()
