# SPDX-License-Identifier: MIT
"""torchao: 8-bit weights, and 8-bit optimizer states."""
import torch
from torchao.optim import AdamW8bit
from torchao.quantization import Int8WeightOnlyConfig, quantize_

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(1024, 4096), torch.nn.GELU(),
    torch.nn.Linear(4096, 1024)).cuda()
optimizer = AdamW8bit(model.parameters())
model(torch.rand(32, 1024).cuda()).square().mean().backward()
optimizer.step()
optimizer.zero_grad()
quantize_(model, Int8WeightOnlyConfig())
with torch.no_grad():
    model(torch.rand(32, 1024).cuda())
