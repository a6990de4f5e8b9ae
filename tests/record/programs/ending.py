# SPDX-License-Identifier: MIT
"""Two allocations, then an end of the requested kind."""
import os
import signal
import sys

import torch

x = torch.empty(1 << 20, device="cuda")
y = torch.empty(1 << 20, device="cuda")
kind = sys.argv[1] if len(sys.argv) > 1 else "end"
if kind == "status":
    sys.exit(3)
elif kind == "exception":
    raise ValueError("as it was meant")
elif kind == "at-once":
    os._exit(5)
elif kind == "memory":
    torch.empty(100 << 30, device="cuda")
elif kind == "abort":
    os.abort()
elif kind == "reads":
    for _ in range(12):
        (x @ x).item()
    os.kill(os.getpid(), signal.SIGKILL)
elif kind == "signal":
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))
