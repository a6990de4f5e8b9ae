# SPDX-License-Identifier: MIT
"""The command line: python -m gpupool, and the gpupool of a wheel."""

import os
import sys
from typing import NoReturn

from gpupool._native import program


def main() -> NoReturn:
    """Replaces this process by the program, so that signals and the exit status
    are the program's own."""
    path = program()
    try:
        os.execv(path, ["gpupool", *sys.argv[1:]])
    except OSError as error:
        sys.exit("gpupool: {}: {}".format(path, error.strerror))


if __name__ == "__main__":
    main()
