# SPDX-License-Identifier: MIT
"""What a program derives from unknown values."""
import sys

import torch

torch.manual_seed(0)
tokens, experts = 4096, 8
hidden = torch.empty(tokens, 512, device="cuda").log_normal_()
gate = torch.nn.Linear(512, experts, bias=False, device="cuda")
how = sys.argv[1]
if how == "experts":
    _, chosen = torch.topk(gate(hidden).softmax(-1), 2)
    counts = torch.bincount(chosen.flatten(), minlength=experts)
    sizes = counts.tolist()
    for expert in range(experts):
        rows = torch.where((chosen == expert).any(-1))[0]
        assert len(rows) == sizes[expert]
        hidden[rows] * 2
    print("all tokens:", sum(sizes) == 2 * tokens,
          "experts without any:", sizes.count(0))
elif how == "sampler":
    logits = hidden[0, :100] * 3
    token = torch.multinomial(logits.softmax(-1), 8)
    print("tokens:", bool((token >= 0).all() and (token < 100).all()),
          "different:", len(set(token.tolist())) > 1)
elif how == "scaler":
    weight = torch.nn.Parameter(torch.ones(1024, 1024, device="cuda"))
    optimizer = torch.optim.Adam([weight])
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale((hidden[:, :512] @ weight[:512]).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    print("stepped:", len(optimizer.state) > 0, "scale", scaler.get_scale())
elif how == "loss":
    loss = (hidden @ hidden.T).square().mean()
    print("finite:", bool(loss.isfinite()), "not below 0:", loss.item() >= 0,
          "the same again:", loss.item() == loss.item())
elif how == "generator":
    before = torch.get_rng_state()
    torch.empty(8, device="cuda").cauchy_().tolist()
    torch.empty(8, device="cuda").geometric_(0.3).tolist()
    print("the program's own:", torch.equal(before, torch.get_rng_state()))
elif how == "exact":
    x = torch.arange(6.0, device="cuda").reshape(2, 3).requires_grad_()
    w = torch.nn.Linear(3, 2).cuda()
    with torch.no_grad():
        w.weight.fill_(0.5)
        w.bias.zero_()
    y = torch.relu(w(x)).square().sum()
    y.backward()
    print(y.item(), x.grad.tolist(), w.weight.grad.tolist())
