# SPDX-License-Identifier: MIT
"""A checkpoint of unknown weights, one file per rank: save|load."""

import sys

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict

model = nn.Linear(256, 256).cuda()
optimizer = torch.optim.Adam(model.parameters())
model(torch.empty(8, 256, device="cuda").cauchy_()).sum().backward()
optimizer.step()
states = get_state_dict(model, optimizer)
state = {"model": states[0], "optimizer": states[1]}
dcp.save(state, checkpoint_id="checkpoints")
if sys.argv[1] == "load":
    dcp.load(state, checkpoint_id="checkpoints")
