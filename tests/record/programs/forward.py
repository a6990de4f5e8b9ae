# SPDX-License-Identifier: MIT
"""Forward-mode derivatives through in-place operators."""

import torch
import torch.autograd.forward_ad as forward

x = torch.tensor([0.0, 1.0, 4.0]).cuda()
for name in ("exp_", "sqrt_", "reciprocal_"):
    with forward.dual_level():
        dual = forward.make_dual(x + 1, torch.ones_like(x))
        getattr(dual, name)()
        tangent = forward.unpack_dual(dual).tangent
        print(name, [round(number, 3) for number in tangent.tolist()])
