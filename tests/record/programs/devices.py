# SPDX-License-Identifier: MIT
"""Several devices: copies between them, and access to each other's memory."""

import torch

devices = torch.cuda.device_count()
print("devices", devices, torch.cuda.can_device_access_peer(0, 1))
first = torch.tensor([1, 2, 3], device="cuda:0")
second = first.to("cuda:1")
print(second.device, second.tolist())
second.copy_(torch.tensor([4, 5, 6], device="cuda:0"))
print(second.to("cuda:0", non_blocking=True).tolist())
rows = torch.randn(64, 64, device="cuda:0").t()
rows.to("cuda:1").add_(1)
model = torch.nn.Linear(64, 64).to("cuda:0")
copies = torch.nn.parallel.replicate(model, [0, 1])
parts = torch.nn.parallel.scatter(torch.randn(8, 64), [0, 1])
outputs = torch.nn.parallel.parallel_apply(copies, parts)
print("gathered", *torch.nn.parallel.gather(outputs, 0).shape)
parallel = torch.nn.DataParallel(model)
parallel(torch.randn(8, 64, device="cuda:0")).sum().backward()
