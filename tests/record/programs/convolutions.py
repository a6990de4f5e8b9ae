# SPDX-License-Identifier: MIT
"""Three convolutions with batch norm, forward and backward to the images, in
the shapes of a recording that was made on a GPU of compute capability 8.x and
published (github.com/JasperSolt/EoR_NN, snapshot.pickle): its cuDNN asked for
workspaces of 82,880, 51,328 and 205,056 bytes forward and of 204,928, 84,032
and 50,168 backward."""

import torch
from torch import nn

channels = [30, 16, 32, 64]
layers = []
for inputs, outputs in zip(channels, channels[1:]):
    layers += [
        nn.Conv2d(inputs, outputs, 3, padding="same"),
        nn.ReLU(),
        nn.BatchNorm2d(outputs),
        nn.MaxPool2d(2),
    ]
model = nn.Sequential(*layers).cuda().requires_grad_(False)
for _ in range(2):
    images = torch.zeros(1, 30, 256, 256, device="cuda", requires_grad=True)
    model(images).sum().backward()
