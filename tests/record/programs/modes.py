# SPDX-License-Identifier: MIT
"""The device is first used within a mode that creates other tensors: modes.py
default|device|type|func|fake."""
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
elif how == "type":
    torch.set_default_tensor_type(torch.cuda.FloatTensor)
    torch.cuda.init()
elif how == "func":
    torch.func.grad(lambda x: x.cuda().sum())(torch.ones(3))
else:
    with FakeTensorMode():
        torch.cuda.init()
        torch.empty(5, device="cuda")
print(torch.arange(5, device="cuda").sum().item())
