# SPDX-License-Identifier: MIT
"""vision.py NAME: networks over images, trained for two steps: what cuDNN plans
for their convolutions decides how much memory they take."""

import sys

import torch
import torchvision


def train(model, images, autocast=None, last=False):
    torch.manual_seed(0)
    model = getattr(torchvision.models, model)(num_classes=10).cuda()
    layout = torch.channels_last if last else torch.contiguous_format
    model = model.to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    kind = autocast or torch.float32
    for _ in range(2):
        x = torch.rand(images, 3, 160, 160).cuda()
        x = x.to(memory_format=layout)
        y = torch.zeros(images, dtype=torch.long).cuda()
        with torch.autocast("cuda", kind, enabled=autocast is not None):
            out = model(x)
            loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()


def predict(model, images, half=False):
    model = getattr(torchvision.models, model)(num_classes=10).cuda().eval()
    x = torch.rand(images, 3, 224, 224).cuda()
    if half:
        model, x = model.half(), x.half()
    with torch.inference_mode():
        for _ in range(2):
            model(x)
    torch.cuda.synchronize()


MIXED = {"autocast": torch.bfloat16}
HALF = {"autocast": torch.float16}
LAST = {"autocast": torch.bfloat16, "last": True}
NAMES = {
    "resnet50": lambda: train("resnet50", 16),
    "resnet50-mixed": lambda: train("resnet50", 32, **MIXED),
    "resnet50-last": lambda: train("resnet50", 32, **LAST),
    "resnet50-half": lambda: predict("resnet50", 32, True),
    "resnet50-predict": lambda: predict("resnet50", 8),
    "resnet18": lambda: train("resnet18", 32),
    "resnet18-mixed": lambda: train("resnet18", 64, **HALF),
    "resnext50": lambda: train("resnext50_32x4d", 16),
    "wide-resnet50": lambda: train("wide_resnet50_2", 16, **LAST),
    "efficientnet": lambda: train("efficientnet_b0", 16),
    "efficientnet-mixed": lambda: train("efficientnet_b0", 32, **MIXED),
    "efficientnet-last": lambda: train("efficientnet_v2_s", 16, **LAST),
    "convnext": lambda: train("convnext_tiny", 16),
    "convnext-mixed": lambda: train("convnext_tiny", 16, **MIXED),
    "mobilenet": lambda: train("mobilenet_v3_large", 32),
    "mobilenet-last": lambda: train("mobilenet_v2", 32, **LAST),
    "densenet": lambda: train("densenet121", 16),
    "densenet-mixed": lambda: train("densenet121", 16, **MIXED),
    "vgg": lambda: train("vgg11_bn", 16),
    "vgg-last": lambda: train("vgg16", 16, **LAST),
    "regnet": lambda: train("regnet_y_800mf", 16),
    "googlenet": lambda: predict("googlenet", 16),
    "squeezenet": lambda: train("squeezenet1_1", 32),
    "shufflenet": lambda: train("shufflenet_v2_x1_0", 32),
    "mnasnet-mixed": lambda: train("mnasnet1_0", 32, **HALF),
}

if __name__ == "__main__":
    NAMES[sys.argv[1]]()
