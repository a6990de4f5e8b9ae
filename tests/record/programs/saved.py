# SPDX-License-Identifier: MIT
"""A checkpoint of unknown weights, written and, on request, read."""

import sys

import torch
from torch import nn

model = nn.Linear(256, 256).cuda()
optimizer = torch.optim.Adam(model.parameters())
model(torch.empty(8, 256, device="cuda").cauchy_()).sum().backward()
optimizer.step()
if {"safetensors", "bytes"} & set(sys.argv):
    from safetensors.torch import load_file, save_file

    save_file(model.state_dict(), "checkpoint")
    load = load_file
else:
    for zipped in True, False:
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict()},
            "checkpoint",
            _use_new_zipfile_serialization=zipped,
        )
    load = torch.load
if "load" in sys.argv:
    load("checkpoint")
