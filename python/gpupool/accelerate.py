# SPDX-License-Identifier: MIT
"""For Accelerate, which has no callbacks: with watch(accelerator): ..."""

import contextlib
from typing import Any, Iterator, Optional

from gpupool import crash


@contextlib.contextmanager
def watch(accelerator: Any, folder: Optional[str] = None) -> Iterator[None]:
    """Reports what happened when the block runs out of GPU memory."""
    many = accelerator.num_processes > 1
    rank = accelerator.process_index if many else None
    crash.install(folder, rank=rank)
    try:
        yield
    except BaseException as error:
        crash.tell_in_child(error)
        raise
