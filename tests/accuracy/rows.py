# SPDX-License-Identifier: MIT
"""Rows of a table of measured trainings, a process each: they are forked from
one that has imported PyTorch.

    PROGRAM.py TABLE ROW...
"""

import csv
import os
import sys

# Whole batches of an epoch, at most; its last batch is smaller.  With two the
# peak of some rows is not reached, which is behind the last batch.
STEPS = 10
EPOCHS = 2


def batches(samples, batch):
    """The number of rows of all epochs together."""
    whole = [batch] * min(STEPS, samples // batch)
    return EPOCHS * (whole + [samples % batch] * (samples % batch > 0))


def kind_of(table):
    """gpumemnet-mlp.csv belongs to mlp.py, and so does
    gpumemnet-mlp.three.csv."""
    return os.path.basename(table).split(".")[0].split("-")[-1]


def read(table):
    with open(table, newline="") as lines:
        return list(csv.DictReader(lines))


def main(train):
    rows = read(sys.argv[1])
    for index in map(int, sys.argv[2:]):
        child = os.fork()
        if child == 0:
            train(rows[index])
            sys.exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)
