# SPDX-License-Identifier: MIT
"""timm: a small ViT with autocast, its weights in channels_last."""
import timm
import torch

torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
model = timm.create_model("vit_tiny_patch16_224", num_classes=10)
model = model.cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    images = torch.rand(8, 3, 224, 224).cuda()
    labels = torch.randint(0, 10, (8,)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
