# SPDX-License-Identifier: MIT
"""The files written by saved.py, read before the device is used: loaded.py
torch|safetensors|bytes."""

import sys

if sys.argv[1] == "safetensors":
    # Taken before PyTorch is imported.
    from safetensors import safe_open

    print(isinstance(None, safe_open))
import torch

if sys.argv[1] == "torch":
    torch.load("checkpoint", weights_only=False)
elif sys.argv[1] == "bytes":
    from safetensors.torch import load

    with open("checkpoint", "rb") as file:
        load(file.read())
else:
    with safe_open("checkpoint", framework="pt") as file:
        file.get_tensor("weight")
torch.ones(1, device="cuda")
