# SPDX-License-Identifier: MIT
"""Takes as many GiB as it is told, and fails with eight of them."""

import sys

import torch

count = int(sys.argv[1])
if count == 8:
    sys.exit(3)
held = torch.empty(count << 30, dtype=torch.uint8, device="cuda")
