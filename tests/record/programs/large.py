# SPDX-License-Identifier: MIT
"""Much device memory filled with known values, for which the host needs
none."""

import resource

import torch


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


torch.zeros(8, device="cuda")
before = peak_mib()
x = torch.zeros(1 << 28, device="cuda")
x.fill_(1)
print("grown", peak_mib() - before > 512)
