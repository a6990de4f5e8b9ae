# SPDX-License-Identifier: MIT
"""Prints where PyTorch and other packages are installed, after a mark: sites
may print anything when Python starts. Run as a script, it does not search the
current folder."""

import importlib.util
import sys

sys.path[:] = [path for path in sys.path if path]
found = importlib.util.find_spec("torch")
folders = found and found.submodule_search_locations or [""]
packages = [
    p for p in sys.path if p.endswith(("site-packages", "dist-packages"))
]
print("\n" + sys.argv[1] + "\t".join([list(folders)[0], *packages]))
