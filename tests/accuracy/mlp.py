# SPDX-License-Identifier: MIT
"""Trainings of MLPs as GPUMemNet (arXiv 2602.17817) measured them.

    mlp.py TABLE ROW...
"""

import ast
import itertools

import rows
import torch
import training
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


def can_train(row, count):
    """One row has no variance: the program fails."""
    return count > 1 or row["batchnorm"] != "True"


def train(row):
    model = build(row).cuda()
    model(draw(row, 2)[0].cuda())  # the summary's
    counts = itertools.takewhile(
        lambda count: can_train(row, count),
        rows.batches(SAMPLES, int(row["batch"])),
    )
    training.train(model, (draw(row, count) for count in counts))


if __name__ == "__main__":
    rows.main(train)
