# SPDX-License-Identifier: MIT
"""As many requests as are asked for, from a set of 500 live tensors."""
import sys
import time

import torch

live = [None] * 500
begin = time.process_time()
for i in range(int(sys.argv[1])):
    live[i * 7 % 500] = torch.empty(256 + i * 37 % 5000, device="cuda")
print("seconds %.2f" % (time.process_time() - begin), flush=True)
