# SPDX-License-Identifier: MIT
"""A callback for Lightning: Trainer(callbacks=[MemoryCallback()])."""

from typing import Any, Optional

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from gpupool import crash


class MemoryCallback(Callback):  # type: ignore[misc]
    """Reports what happened when training runs out of GPU memory."""

    def __init__(self, folder: Optional[str] = None) -> None:
        self.folder = folder

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        rank = trainer.global_rank if trainer.world_size > 1 else None
        crash.install(self.folder, rank=rank)

    def on_exception(
        self, trainer: Any, pl_module: Any, exception: BaseException
    ) -> None:
        # Elsewhere Lightning raises the error again, and the verdict follows
        # the traceback.
        crash.tell_in_child(exception)
