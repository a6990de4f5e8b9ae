# SPDX-License-Identifier: MIT
"""timm: a CNN in channels_last, cuDNN's benchmark on, its weights averaged."""
import timm
import timm.utils
import torch

torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
model = timm.create_model("resnet10t", num_classes=10)
model = model.cuda().to(memory_format=torch.channels_last)
average = timm.utils.ModelEmaV3(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    images = torch.rand(4, 3, 128, 128).cuda(memory_format=torch.channels_last)
    loss = torch.nn.functional.cross_entropy(
        model(images), torch.randint(0, 10, (4,)).cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(model)
