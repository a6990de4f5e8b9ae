# SPDX-License-Identifier: MIT
"""Allocates the given number of GiB, and fails at eight."""

import sys

import torch

count = int(sys.argv[1])
if count == 8:
    sys.exit(3)
held = torch.empty(count << 30, dtype=torch.uint8, device="cuda")
