# SPDX-License-Identifier: MIT
"""What estimators of other projects say of the same rows, beside what was
measured: PyTorch's MemTracker over fake tensors, and four times the parameters,
as accelerate estimate-memory has training with Adam.

    estimators.py TABLE CONSTANT [ROWS]

CONSTANT: MiB that PyTorch does not see, which are added.  Tensors are the
CPU's, as those of a GPU do not go backward without one.
"""

import random
import statistics
import sys

import rows
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

MIB = 1 << 20


class Mode(FakeTensorMode):
    def __deepcopy__(self, memo):
        """Modules are copied, with their tensors' mode."""
        return self


def tracked(program, row):
    """The peak of two steps, and the bytes of the parameters."""
    with Mode():
        model = program.build(row)
        optimizer = torch.optim.Adam(model.parameters())
        criterion = nn.CrossEntropyLoss()
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        with tracker:
            for _ in range(2):
                tracker.reset_mod_stats()
                data, target = program.draw(row, int(row["batch"]))
                optimizer.zero_grad()
                criterion(model(data), target).backward()
                optimizer.step()
        peak = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]
        weights = sum(p.numel() * p.itemsize for p in model.parameters())
        return peak["Total"], weights


def main():
    table, constant = sys.argv[1], float(sys.argv[2])
    program = __import__(rows.kind_of(table))
    chosen = rows.read(table)
    if len(sys.argv) > 3:
        chosen = random.Random(1).sample(chosen, int(sys.argv[3]))
    errors = {"MemTracker": [], "4 x parameters": []}
    for row in chosen:
        peak, weights = tracked(program, row)
        measured = float(row["max_gpu_memory_mib"])
        for name, size in zip(errors, (peak, 4 * weights)):
            errors[name].append(abs((size / MIB + constant) / measured - 1))
    for name, of in errors.items():
        print(
            f"{name}, {len(of)} rows: median {statistics.median(of):.1%}, "
            f"mean {statistics.mean(of):.1%}, largest {max(of):.1%}"
        )


main()
