# SPDX-License-Identifier: MIT
"""Patches modules: immediately, or when they are imported.

Data that was saved with unknown values may be loaded again, so each load is
reported. This runs while torch is imported. Programs may have imported
safetensors before; then names that they imported from it are patched, too.

If another process gets a storage, it maps the whole segment; this reports that
it writes only to the storage.
"""

import ctypes
import sys

calls = ctypes.CDLL(None)
begin, end = calls.simcuda_load_begin, calls.simcuda_load_end


def changed(module, change):
    """A module that differs in another release is left unchanged."""
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


def loading(load):
    def loaded(*items, **named):
        begin()
        try:
            return load(*items, **named)
        finally:
            end()

    return loaded


def change_torch(module):
    for name in "_load", "_legacy_load":
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, loading(original))


def change_storage(module):
    kind = module.UntypedStorage
    original = kind._share_cuda_

    def share(self, *items, **named):
        calls.simcuda_share_begin()
        try:
            return original(self, *items, **named)
        finally:
            address = ctypes.c_uint64(self.data_ptr())
            calls.simcuda_share_end(address, ctypes.c_uint64(self.nbytes()))

    kind._share_cuda_ = share


def opening(original):
    """Stands in for a class that is used in annotations and with isinstance."""

    class Kind(type):
        __call__ = loading(lambda cls, *i, **n: original(*i, **n))

        def __instancecheck__(cls, item):
            return isinstance(item, original)

    return Kind(original.__name__, (), {"__doc__": original.__doc__})


def change_safetensors(package):
    for name, change in ("deserialize", loading), ("safe_open", opening):
        original = getattr(package, name, None)
        if original is None:
            continue
        mine = change(original)
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", {})
            if names.get(name) is original:
                names[name] = mine


when_imported("torch.serialization", change_torch)
when_imported("torch.storage", change_storage)
when_imported("safetensors", change_safetensors)
