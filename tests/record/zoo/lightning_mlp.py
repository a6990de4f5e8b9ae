# SPDX-License-Identifier: MIT
"""lightning: its Trainer with automatic mixed precision."""
import lightning
import torch


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(256, 1024), torch.nn.ReLU(),
            torch.nn.Linear(1024, 10))

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.rand(256, 256),
                                      torch.randint(0, 10, (256,)))
trainer = lightning.Trainer(
    max_epochs=1, accelerator="gpu", devices=1, precision="16-mixed",
    logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=64))
