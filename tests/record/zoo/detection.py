# SPDX-License-Identifier: MIT
"""torchvision's Faster R-CNN: a training step, and the detection of boxes."""
import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_fpn

torch.manual_seed(0)
model = fasterrcnn_mobilenet_v3_large_fpn(
    weights=None, weights_backbone=None, num_classes=11).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
images = [torch.rand(3, 240, 320).cuda() for _ in range(2)]
targets = [{"boxes": torch.tensor([[20.0, 30.0, 120.0, 160.0]]).cuda(),
            "labels": torch.tensor([3]).cuda()} for _ in images]
losses = model(images, targets)
sum(losses.values()).backward()
optimizer.step()
model.eval()
with torch.no_grad():
    found = model(images)
print("boxes:", "some" if len(found[0]["boxes"]) else "none")
