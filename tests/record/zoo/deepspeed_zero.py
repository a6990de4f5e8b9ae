# SPDX-License-Identifier: MIT
"""DeepSpeed: ZeRO by stage, with the optimizer offloaded or not."""
import sys
import deepspeed
import torch

stage, offload = int(sys.argv[1]), sys.argv[2:] == ["offload"]
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)])
settings = {
    "train_micro_batch_size_per_gpu": 4,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3,
                                              "torch_adam": True}},
    "bf16": {"enabled": True},
    "zero_allow_untested_optimizer": True,
    "zero_force_ds_cpu_optimizer": False,
    "zero_optimization": {"stage": stage} | (
        {"offload_optimizer": {"device": "cpu"}} if offload else {}),
}
engine, *_ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=settings)
for _ in range(2):
    x = torch.rand(4, 1024).to(engine.device, torch.bfloat16)
    engine.backward(engine(x).float().square().mean())
    engine.step()
