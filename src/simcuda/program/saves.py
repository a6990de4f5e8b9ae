# SPDX-License-Identifier: MIT
"""What torch.save reads goes to a file, and no decision of the program hangs on
it before torch.load brings it back.

Programs may have taken its functions by now, so what these call is changed.
"""

import ctypes

from torch import serialization

calls = ctypes.CDLL(None)
begin, end = calls.simcuda_save_begin, calls.simcuda_save_end
load_begin = calls.simcuda_load_begin


def saving(save):
    def saved(*items, **named):
        begin()
        try:
            return save(*items, **named)
        finally:
            end()

    return saved


def loading(load):
    def loaded(*items, **named):
        load_begin()
        return load(*items, **named)

    return loaded


for change, names in (
    (saving, ("_save", "_legacy_save")),
    (loading, ("_load", "_legacy_load")),
):
    for name in names:
        original = getattr(serialization, name, None)
        if original is None:
            continue
        function = change(original)
        # A line of these is PyTorch's.
        function.__code__ = function.__code__.replace(
            co_filename=original.__code__.co_filename
        )
        setattr(serialization, name, function)
