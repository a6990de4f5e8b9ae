# SPDX-License-Identifier: MIT
"""Says where PyTorch is and where packages are, behind a mark: sites print what
they like when Python starts.  A script does not look in the current folder."""

import importlib.util
import sys

sys.path[:] = [path for path in sys.path if path]
found = importlib.util.find_spec("torch")
folders = found and found.submodule_search_locations or [""]
packages = [
    p for p in sys.path if p.endswith(("site-packages", "dist-packages"))
]
print("\n" + sys.argv[1] + "\t".join([list(folders)[0], *packages]))
