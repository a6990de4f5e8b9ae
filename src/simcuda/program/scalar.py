# SPDX-License-Identifier: MIT
"""The value that a scalar of the device reads as, in releases whose operators
cannot be followed: SIMCUDA_SCALAR.
"""

import ctypes
import os
import warnings

import torch

tell = ctypes.CDLL(None).simcuda_notify_guess


def set_scalar(value):
    def read(tensor):
        torch.cuda.current_stream(tensor.device).synchronize()
        tell()
        if tensor.dtype.is_floating_point:
            return value
        return value != 0 if tensor.dtype == torch.bool else int(value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = torch.library.Library("aten", "IMPL")
        library.impl("_local_scalar_dense", read, "CUDA")
    set_scalar.library = library


if "SIMCUDA_SCALAR" in os.environ:
    set_scalar(float(os.environ["SIMCUDA_SCALAR"]))
