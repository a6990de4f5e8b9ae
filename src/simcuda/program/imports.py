# SPDX-License-Identifier: MIT
"""What other scripts change in a module: at once, or when it is imported."""

import sys


def changed(module, change):
    """A release in which it looks different is left as it is."""
    try:
        change(module)
    except Exception:
        pass


class Finder:
    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self.watch(spec.loader)
                return spec
        return None

    def watch(self, loader):
        load = loader.exec_module

        def exec_module(module):
            load(module)
            changed(module, self.change)

        loader.exec_module = exec_module


def when_imported(name, change):
    if name in sys.modules:
        changed(sys.modules[name], change)
    else:
        sys.meta_path.insert(0, Finder(name, change))
