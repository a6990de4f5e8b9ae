# SPDX-License-Identifier: MIT
"""The device is begun within a mode that makes other tensors: modes.py
default|device|fake."""
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

how = sys.argv[1]
if how == "default":
    torch.set_default_device("cuda")
    torch.cuda.current_device()
elif how == "device":
    with torch.device("cuda"):
        torch.cuda.init()
else:
    with FakeTensorMode():
        torch.cuda.init()
        torch.empty(5, device="cuda")
print(torch.arange(5, device="cuda").sum().item())
