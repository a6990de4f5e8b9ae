# SPDX-License-Identifier: MIT
"""Checks of unknown values that a correct program passes."""

import torch

if __name__ == "__main__":
    torch.manual_seed(0)
    network = torch.nn.Linear(4, 3).cuda()
    scores = network(torch.empty(2, 4, device="cuda").cauchy_())
    chosen = torch.distributions.Categorical(logits=scores)
    drawn = chosen.sample()
    print("drawn", chosen.log_prob(drawn).shape)
    spread = torch.distributions.Normal(scores, scores.exp())
    print("spread", spread.log_prob(spread.sample()).shape)
    lots = torch.multinomial(torch.softmax(scores, -1), 2)
    print("lots", lots.shape)
    loss = scores.square().mean()
    print("finite", bool(torch.isfinite(loss)), bool(torch.isnan(loss)))
    weights = [w.detach() for w in network.parameters()]
    each = torch.stack([torch.isfinite(w).all() for w in weights])
    print("all finite", bool(torch.isfinite(scores).all()), bool(each.all()))
    print("eigenvalues", torch.linalg.eig(scores.mT @ scores)[0].shape)
    ends = scores + 1 >= scores
    print("ordered", bool(ends.all()), bool((scores < 9).all()))
    print("one", bool(loss > 0.5), bool(ends[0, 0]), bool(ends.any()))
    bad = torch.tensor(float("nan")).cuda()
    print("known", bool(torch.isfinite(bad)), bool(torch.isnan(bad)))
    worse = torch.tensor([1.0, float("inf")]).cuda()
    print("known", bool(torch.isfinite(worse).all()))
# That no count is negative.
counts = torch.empty(3, device="cuda").cauchy_().long() % 4
print(
    "repeated",
    torch.repeat_interleave(
        torch.ones(3, 2, device="cuda"), counts, dim=0
    ).shape[1],
)
