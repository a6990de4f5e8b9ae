# SPDX-License-Identifier: MIT
"""The given number of requests, with a set of 500 live tensors."""
import sys
import time

import torch

live = [None] * 500
begin = time.process_time()
for i in range(int(sys.argv[1])):
    live[i * 7 % 500] = torch.empty(256 + i * 37 % 5000, device="cuda")
print("seconds %.2f" % (time.process_time() - begin), flush=True)
