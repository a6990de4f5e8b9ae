# SPDX-License-Identifier: MIT
"""For Accelerate, which has no callbacks: with watch(accelerator): ..."""

import contextlib
from typing import Any, Iterator, Optional

from gpupool import crash


@contextlib.contextmanager
def watch(accelerator: Any, folder: Optional[str] = None) -> Iterator[None]:
    """Says what happened when the block runs out of GPU memory."""
    many = accelerator.num_processes > 1
    rank = accelerator.process_index if many else None
    crash.install(folder, rank=rank)
    try:
        yield
    except BaseException as error:
        if many:
            # Launchers show errors of processes in their own way, or not.
            crash.tell(error)
        raise
