# SPDX-License-Identifier: MIT
"""Says where PyTorch is, behind a mark: sites print what they like when Python
starts.  The current folder is not where a script looks."""

import importlib.util
import sys

sys.path[:] = [path for path in sys.path if path]
found = importlib.util.find_spec("torch")
folders = found and found.submodule_search_locations or [""]
print("\n" + sys.argv[1] + list(folders)[0])
