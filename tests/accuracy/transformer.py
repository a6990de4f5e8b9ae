# SPDX-License-Identifier: MIT
"""Trainings of transformer encoders as GPUMemNet (arXiv 2602.17817) measured
them.

    transformer.py TABLE ROW...
"""

import rows
import torch
import training
from torch import nn


class Classifier(nn.Module):
    """Of the mean over the sequence."""

    def __init__(self, row):
        super().__init__()
        width = int(row["embedding"])
        self.words = nn.Embedding(int(row["vocabulary"]), width)
        self.places = nn.Parameter(torch.zeros(1, int(row["sequence"]), width))
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(
                width,
                int(row["heads"]),
                int(row["feedforward"]),
                float(row["dropout"]),
                batch_first=True,
            ),
            int(row["layers"]),
        )
        self.classes = nn.Linear(width, int(row["classes"]))

    def forward(self, words):
        x = self.words(words) + self.places
        x = self.encoder(x)
        x = x.mean(dim=1)
        return self.classes(x)


def build(row):
    return Classifier(row)


def draw(row, count):
    """Data and targets."""
    shape = count, int(row["sequence"])
    return (
        torch.randint(int(row["vocabulary"]), shape),
        torch.randint(int(row["classes"]), (count,)),
    )


def score(output, target):
    """The number of correct ones, whose sum the program keeps."""
    best = torch.max(output, 1)
    (best.indices == target).sum().item()
    return best


def train(row):
    model = build(row).cuda()
    words = draw(row, int(row["batch"]))[0].cuda()
    for _ in range(2):  # a check, and the summary's
        model(words)
    counts = rows.batches(int(row["samples"]), int(row["batch"]))
    training.train(model, (draw(row, count) for count in counts), score)


if __name__ == "__main__":
    rows.main(train)
