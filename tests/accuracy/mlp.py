# SPDX-License-Identifier: MIT
"""Trainings of MLPs as GPUMemNet (arXiv 2602.17817) measured them, a process
each: every row of a table that is asked for is forked from one that has
imported PyTorch.

    mlp.py TABLE ROW...
"""

import ast
import csv
import os
import sys

import torch
from torch import nn

SAMPLES = 4096  # of an epoch, as the published program draws them
# Whole batches of an epoch, at most; its last batch is smaller.  With two the
# peak of some rows is not reached, which is behind the last batch.
STEPS = 10
EPOCHS = 2
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


def train(row):
    features, classes = int(row["input"]), int(row["output"])
    model = build(row).cuda()
    model(torch.rand(2, features).cuda())  # the summary's
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss()
    batch = int(row["batch"])
    batches = [batch] * min(STEPS, SAMPLES // batch)
    if SAMPLES % batch:
        batches.append(SAMPLES % batch)
    for _ in range(EPOCHS):
        for rows in batches:
            if rows == 1 and row["batchnorm"] == "True":
                return  # there is no variance in one: the program fails
            # A loader's names are bound anew before the copies are made.
            data, target = (
                torch.rand(rows, features),
                torch.randint(classes, (rows,)),
            )
            data, target = data.cuda(), target.cuda()
            optimizer.zero_grad()
            output = model(data)  # kept, as programs do, until the next one
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
            loss.item()


def main():
    with open(sys.argv[1], newline="") as table:
        rows = list(csv.DictReader(table))
    for index in map(int, sys.argv[2:]):
        child = os.fork()
        if child == 0:
            train(rows[index])
            return 0
        if os.waitpid(child, 0)[1]:
            return 1
    return 0


sys.exit(main())
