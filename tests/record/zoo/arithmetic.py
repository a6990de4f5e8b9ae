# SPDX-License-Identifier: MIT
"""The memory held after a step and after a forward pass, by arithmetic:
parameters, gradients, states, and what autograd saved, compared with the
requested bytes."""
import sys
import torch
from torch.autograd.graph import saved_tensors_hooks


def requested():
    return torch.cuda.memory_stats()["requested_bytes.all.current"]


def held(tensors):
    """Tensors that share a storage count once."""
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes()
                for t in tensors if t.is_cuda and t.numel()}.values())


def model_of(name):
    if name == "mlp":
        return torch.nn.Sequential(
            torch.nn.Linear(512, 2048), torch.nn.GELU(),
            torch.nn.Linear(2048, 2048), torch.nn.ReLU(),
            torch.nn.Linear(2048, 100)), torch.rand(64, 512)
    if name == "resnet":
        import torchvision
        return torchvision.models.resnet18(), torch.rand(4, 3, 128, 128)
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=1000, hidden_size=256, intermediate_size=688,
        num_hidden_layers=4, num_attention_heads=4)), torch.zeros(
            4, 256, dtype=torch.long)


def say(when, expected):
    found = requested() - others
    print(f"arithmetic: {when} {expected} B, differs by {found - expected} B")


model, x = model_of(sys.argv[1])
first = torch.nn.Linear(2, 2).cuda()
first(torch.ones(2, 2).cuda()).sum().backward()
del first
others = requested()  # cuBLAS's workspaces
model, x = model.cuda(), x.cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    saved = []
    with saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        out = model(x)
        out = getattr(out, "logits", out)
    lasting = [x, *model.parameters(), *model.buffers()]
    lasting += [t for s in optimizer.state.values() for t in s.values()]
    if step:
        lasting += [p.grad for p in model.parameters()]
        say("behind a forward", held(lasting + saved + [out]))
    loss = out.float().square().mean()
    saved.clear()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    del out, loss
lasting = [x, *model.parameters(), *model.buffers()]
lasting += [p.grad for p in model.parameters()]
lasting += [t for s in optimizer.state.values() for t in s.values()]
say("behind a step", held(lasting))
