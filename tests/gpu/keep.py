# SPDX-License-Identifier: MIT
"""KEEP_SNAPSHOT=FILE keep.py PROGRAM: runs it, keeps PyTorch's own snapshot."""

import os
import runpy
import sys

import torch

torch.cuda.memory._record_memory_history(max_entries=10_000_000, context=None)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
snapshot = os.path.abspath(os.environ["KEEP_SNAPSHOT"])
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    torch.cuda.memory._dump_snapshot(snapshot)
