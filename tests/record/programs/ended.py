# SPDX-License-Identifier: MIT
"""Asks whether work has ended, before or after it waits for it."""

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
