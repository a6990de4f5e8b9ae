# SPDX-License-Identifier: MIT
"""Loads a library of a package with everything it requires, as Python does."""

import ctypes
import os
import sys

import torch

torch.ones(2).cuda()
ctypes.CDLL(sys.argv[1], os.RTLD_NOW)
print("loaded")
