# SPDX-License-Identifier: MIT
"""diffusers: a training step of a small UNet, and a few sampling steps."""
import torch
from diffusers import DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(sample_size=32, block_out_channels=(32, 64),
                    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                    up_block_types=("AttnUpBlock2D", "UpBlock2D")).cuda()
scheduler = DDPMScheduler(num_train_timesteps=20)
optimizer = torch.optim.AdamW(model.parameters())
images = torch.rand(4, 3, 32, 32).cuda()
noise = torch.randn(4, 3, 32, 32).cuda()
steps = torch.randint(0, 20, (4,)).cuda()
found = model(scheduler.add_noise(images, noise, steps), steps).sample
torch.nn.functional.mse_loss(found, noise).backward()
optimizer.step()
scheduler.set_timesteps(4)
x = torch.randn(1, 3, 32, 32, device="cuda")
with torch.no_grad():
    for t in scheduler.timesteps:
        x = scheduler.step(model(x, t).sample, t, x).prev_sample
