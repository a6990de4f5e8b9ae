# SPDX-License-Identifier: MIT
"""Replays traces of PyTorch's GPU memory: what happened, and what helps.

    import gpupool

    trace = gpupool.load("snapshot.pickle")
    print(trace.suggest(capacity="80GiB"))
    trace.replay(max_split_size_mb=128).runs[0].devices[0].memory_stats

In a training script, gpupool.install() reports what happened when it runs out
of GPU memory, below the traceback.
"""

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from gpupool._answers import Answer, Record, Rows, Sweep
    from gpupool._errors import Error, InputError, MachineError, UsageError
    from gpupool._trace import Page, Trace, load, look
    from gpupool.crash import install

    __version__: str

__all__ = [
    "Answer",
    "Error",
    "InputError",
    "MachineError",
    "Page",
    "Record",
    "Rows",
    "Sweep",
    "Trace",
    "UsageError",
    "install",
    "load",
    "look",
]

# Imported on first use: the command gpupool needs none of them.
_PARTS = {
    "_answers": ("Answer", "Record", "Rows", "Sweep"),
    "_errors": ("Error", "InputError", "MachineError", "UsageError"),
    "_trace": ("Page", "Trace", "load", "look"),
    "crash": ("install",),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        library = importlib.import_module("gpupool._library")
        return library.version()
    for part, names in _PARTS.items():
        if name in names:
            module = importlib.import_module("gpupool." + part)
            value = globals()[name] = getattr(module, name)
            return value
    raise AttributeError("gpupool has no {!r}".format(name))


def __dir__() -> List[str]:
    return sorted([*globals(), *__all__])
