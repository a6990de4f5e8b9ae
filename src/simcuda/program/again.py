# SPDX-License-Identifier: MIT
"""Makes checkpointed layers draw the same values again.

torch.utils.checkpoint runs a function a second time in backward, where it must
compute the same tensors. On a device it does, because its values are the same.
Programs may have imported its functions already, so what these call is patched.
"""

import ctypes

calls = ctypes.CDLL(None)
part = calls.simcuda_draws_part
part.restype = ctypes.c_uint64
enter, leave = calls.simcuda_draws_enter, calls.simcuda_draws_leave
enter.argtypes = leave.argtypes = (ctypes.c_uint64,)


class Again:
    def __init__(self, function):
        self.function = function
        self.part = part()

    def __call__(self, *items, **named):
        enter(self.part)
        try:
            return self.function(*items, **named)
        finally:
            leave(self.part)


def change(module):
    reentrant = module.CheckpointFunction.forward
    around = module._checkpoint_without_reentrant_generator

    def forward(ctx, function, *items):
        return reentrant(ctx, Again(function), *items)

    def around_drawn(function, *items, **named):
        """Yields while the function runs the first time."""
        again = Again(function)
        outer = around(again, *items, **named)
        next(outer)
        enter(again.part)
        try:
            yield
        finally:
            leave(again.part)
        next(outer, None)

    module.CheckpointFunction.forward = staticmethod(forward)
    module._checkpoint_without_reentrant_generator = around_drawn


when_imported("torch.utils.checkpoint", change)
