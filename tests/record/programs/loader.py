# SPDX-License-Identifier: MIT
"""A DataLoader with pinned memory, whose batches are copied on a side
stream."""

import torch
from models import ResNet
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.full((3, 128, 128), float(i)), i % 10


def prefetched(batches):
    """One batch ahead, on its own stream."""
    side = torch.cuda.Stream()
    ahead = None
    for images, labels in batches:
        with torch.cuda.stream(side):
            next_one = (
                images.cuda(non_blocking=True),
                labels.cuda(non_blocking=True),
            )
        if ahead:
            yield ahead
        torch.cuda.current_stream().wait_stream(side)
        for tensor in next_one:
            tensor.record_stream(torch.cuda.current_stream())
        ahead = next_one
    yield ahead


model = ResNet((32, 64), classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Images(), batch_size=16, num_workers=2, pin_memory=True)
for images, labels in prefetched(loader):
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()
    optimizer.zero_grad()
