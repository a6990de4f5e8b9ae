# SPDX-License-Identifier: MIT
"""Convolutions, batch norm, pooling; SGD with momentum; a validation pass."""

import torch
from models import ResNet
from torch.nn import functional as F

model = ResNet().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def step(batch, size):
    images = torch.randn(batch, 3, size, size, device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


for batch, size in ((32, 224), (32, 192), (48, 160), (32, 224)):
    step(batch, size)
model.eval()
with torch.no_grad():
    for batch in (64, 64, 17):
        model(torch.randn(batch, 3, 224, 224, device="cuda")).argmax(1).cpu()
