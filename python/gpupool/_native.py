# SPDX-License-Identifier: MIT
"""Where the program and the library are installed."""

import os

_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")


def program() -> str:
    """The path of the command line's program."""
    return os.path.join(_HERE, "bin", "gpupool")


def library() -> str:
    return os.path.join(_HERE, "lib", "libgpupool.so.0")
