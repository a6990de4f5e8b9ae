# SPDX-License-Identifier: MIT
"""What a program sees of a device that does not compute."""

import torch

sent = torch.tensor([3, 4]).cuda()
print("sent and read back", sent.tolist(), sent.clone().tolist())
print("computed", torch.ones(5, device="cuda").sum().item())
print("pinned", torch.empty(3).pin_memory().is_pinned())

start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
torch.ones(3, device="cuda").sum()
end.record()
end.synchronize()
print("took time", start.elapsed_time(end) > 0)
while not torch.cuda.current_stream().query():
    pass

recurrent = torch.nn.LSTM(8, 16, 2, bidirectional=True).cuda()
print("LSTM", *recurrent(torch.randn(3, 2, 8, device="cuda"))[0].shape)
square = torch.randn(8, 8, device="cuda")
print("solved", *torch.linalg.solve(square, square).shape)
print("factored", *torch.linalg.qr(square.expand(4, 8, 8)).Q.shape)
print("transformed", *torch.fft.rfft2(square).shape)
print("chosen", *torch.nonzero(square).shape)
