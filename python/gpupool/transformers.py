# SPDX-License-Identifier: MIT
"""A callback for Transformers: Trainer(callbacks=[MemoryCallback()])."""

from typing import Any, Optional

from transformers import TrainerCallback

from gpupool import crash


class MemoryCallback(TrainerCallback):  # type: ignore[misc]
    """Reports what happened when training runs out of GPU memory.

    The Trainer does not pass errors to callbacks: the verdict follows the
    traceback.
    """

    def __init__(self, folder: Optional[str] = None) -> None:
        self.folder = folder

    def on_train_begin(
        self, args: Any, state: Any, control: Any, **_: Any
    ) -> None:
        rank = args.process_index if args.world_size > 1 else None
        crash.install(self.folder, rank=rank)
