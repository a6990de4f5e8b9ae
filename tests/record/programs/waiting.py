# SPDX-License-Identifier: MIT
"""Prints that it is ready, and waits; Ctrl-C ends it with status 7."""
import sys
import time

import torch

x = torch.empty(1 << 20, device="cuda")
open("up", "w").close()
print("ready", flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    y = torch.empty(1 << 20, device="cuda")
    sys.exit(7)
