# SPDX-License-Identifier: MIT
"""Asks whether work is complete, before or after waiting for it."""

import sys

import torch

event = torch.cuda.Event()
x = torch.ones(4, device="cuda") * 2
event.record()
if sys.argv[1] == "waits":
    event.synchronize()
if sys.argv[1] == "stream":
    torch.cuda.current_stream().query()
else:
    event.query()
side = torch.cuda.Stream()
x.record_stream(side)
del x
torch.ones(4, device="cuda").sum()
