# SPDX-License-Identifier: MIT
"""Trainings of MLPs as GPUMemNet (arXiv 2602.17817) measured them.

    mlp.py TABLE ROW...
"""

import ast

import rows
import torch
from torch import nn

SAMPLES = 4096  # of an epoch, as the published program draws them
ACTIVATIONS = {
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "identity": nn.Identity,
    "leaky_relu": nn.LeakyReLU,
    "mish": nn.Mish,
    "prelu": nn.PReLU,
    "relu": nn.ReLU,
    "selu": nn.SELU,
    "softplus": nn.Softplus,
    "swish": nn.SiLU,
    "tanh": nn.Tanh,
}


def build(row):
    layers = ast.literal_eval(row["layers"])
    linear = [features for kind, features, _ in layers if kind == "linear"]
    features, modules = int(row["input"]), []
    for out in linear[:-1]:
        modules.append(nn.Linear(features, out))
        if row["batchnorm"] == "True":
            modules.append(nn.BatchNorm1d(out))
        modules.append(ACTIVATIONS[row["act"]]())
        if row["dropout_on"] == "True":
            modules.append(nn.Dropout(float(row["dropout"])))
        features = out
    modules += [nn.Linear(features, linear[-1]), nn.Softmax(dim=1)]
    return nn.Sequential(*modules)


def draw(row, count):
    """Data and targets."""
    return (
        torch.rand(count, int(row["input"])),
        torch.randint(int(row["output"]), (count,)),
    )


def train(row):
    model = build(row).cuda()
    model(draw(row, 2)[0].cuda())  # the summary's
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss()
    for _ in range(rows.EPOCHS):
        for count in rows.batches(SAMPLES, int(row["batch"])):
            if count == 1 and row["batchnorm"] == "True":
                return  # there is no variance in one: the program fails
            # A loader's names are bound anew before the copies are made.
            data, target = draw(row, count)
            data, target = data.cuda(), target.cuda()
            optimizer.zero_grad()
            output = model(data)  # kept, as programs do, until the next one
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
            loss.item()


if __name__ == "__main__":
    rows.main(train)
