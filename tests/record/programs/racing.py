# SPDX-License-Identifier: MIT
"""Threads that allocate: at the same time, or while others wait."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, grad):
        return grad * 2


def train():
    x = torch.ones(1 << 16, device="cuda", requires_grad=True)
    Double.apply(x).sum().backward()


def at_once():
    end = time.monotonic() + 1

    def work():
        while time.monotonic() < end:
            train()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_turn():
    with ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            train()
            pool.submit(train).result()


def one_by_one():
    for _ in range(20):
        train()
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()


train()
globals()[sys.argv[1]]()
