# SPDX-License-Identifier: MIT
"""Gradients of an embedding with rows only for the tokens of a batch."""
import torch

if __name__ == "__main__":
    embedding = torch.nn.Embedding(50, 32, sparse=True).cuda()
    optimizer = torch.optim.SparseAdam(embedding.parameters())
    for tokens in [3, 4, 4, 7, 9, 3], [1, 1, 1, 1, 1, 1]:
        embedding(torch.tensor(tokens).cuda()).sum().backward()
        gradient = embedding.weight.grad
        print("rows", gradient._nnz(), gradient.coalesce().indices().tolist())
        optimizer.step()
        optimizer.zero_grad()
    drawn = torch.empty(1, 6, device="cuda").cauchy_().long() % 50
    print("drawn", torch.sparse_coo_tensor(
        drawn, torch.ones(6, device="cuda"), (50,)).coalesce()._nnz() <= 6)
