# SPDX-License-Identifier: MIT
"""A checkpoint of weights that nobody knows, written and, if asked, read."""

import sys

import torch
from torch import nn

model = nn.Linear(256, 256).cuda()
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(8, 256, device="cuda")).sum().backward()
optimizer.step()
for zipped in True, False:
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict()},
        "checkpoint.pt",
        _use_new_zipfile_serialization=zipped,
    )
if "load" in sys.argv:
    torch.load("checkpoint.pt")
