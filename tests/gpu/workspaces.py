#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workspaces that are told without a GPU, beside those that one showed.

workspaces.py --library libgpupool-simcuda.so [results/GPU/libraries.jsonl.gz]

The simulated cuDNN is asked for workspace and reserve space of each recurrent
network that libraries.jsonl.gz has, and the simulated cuSOLVER for the
workspace of what torch.linalg does with one matrix, or with batches of small
ones.  A network whose parts are not aligned may differ by a few hundred bytes.
"""

import argparse
import collections
import ctypes
import gzip
import json
import pathlib
import sys

RESULTS = pathlib.Path(__file__).parent / "results/nvidia-h200"
CELLS = {"RNN": 1, "LSTM": 2, "GRU": 3}
TYPES = {"torch.float32": 0, "torch.float16": 2, "torch.bfloat16": 9}
STANDARD, PERSIST_STATIC = 0, 1
# Alignment, and the one network that is not understood.
MOST_BYTES, MOST_ALIGNED, MOST_APART = 304, 40, 1

Network = collections.namedtuple(
    "Network",
    "cell type inputs hidden layers both_ways steps batch is_training",
)


def algorithm(network):
    """As PyTorch chooses it on devices from sm_80 on (RNN.cpp, get_algo)."""
    is_for_one_kernel = (
        network.type == "torch.float16"
        and network.layers == 1
        and not network.both_ways
        and network.hidden <= 1024
        and network.hidden % 128 == 0
        and network.inputs % 128 == 0
        and network.batch % 8 == 0
        and network.batch <= 128
        and network.cell != "GRU"
        and (
            network.cell == "LSTM" or network.batch < 96 or network.hidden < 896
        )
    )
    return PERSIST_STATIC if is_for_one_kernel else STANDARD


def measured(network, forward):
    """Workspace, the first that is given back, and reserve space."""
    freed = [size for kind, size in forward if kind == "c"]
    taken = [size for kind, size in forward if kind == "a"]
    return freed[0], taken[-1] if network.is_training else 0


class Simulated:
    """The simulated libraries, asked as PyTorch asks."""

    def __init__(self, library):
        self.calls = ctypes.CDLL(library)
        self.rnn = self.make("cudnnCreateRNNDescriptor")
        self.data = self.make("cudnnCreateRNNDataDescriptor")

    def make(self, function):
        made = ctypes.c_void_p()
        getattr(self.calls, function)(ctypes.byref(made))
        return made

    def network(self, of):
        work, reserve = ctypes.c_size_t(), ctypes.c_size_t()
        self.calls.cudnnSetRNNDescriptor_v8(
            *(self.rnn, algorithm(of), CELLS[of.cell], 2),
            *(int(of.both_ways), 0, TYPES[of.type], 0, 0),
            *(of.inputs, of.hidden, of.hidden, of.layers, None, 0),
        )
        self.calls.cudnnSetRNNDataDescriptor(
            *(self.data, TYPES[of.type], 0, of.steps, of.batch),
            *(of.inputs, None, None),
        )
        self.calls.cudnnGetRNNTempSpaceSizes(
            *(None, self.rnn, int(of.is_training), self.data),
            *(ctypes.byref(work), ctypes.byref(reserve)),
        )
        return work.value, reserve.value

    def solver(self, name, before, after=()):
        size = ctypes.c_size_t()
        function = getattr(self.calls, f"cusolverDn{name}_bufferSize")
        function(None, *before, ctypes.byref(size), *after)
        return size.value

    def matrices(self, what, n, is_double, batch):
        """Bytes of the workspaces of one call, in their order."""
        host = ctypes.byref(ctypes.c_size_t())
        element, letter = (8, "D") if is_double else (4, "S")
        order, many = ctypes.c_int64(n), ctypes.c_int64(batch)
        square = (order, is_double, None, order)
        own = {
            "cholesky": (("Xpotrf", (None, 0, *square, is_double), (host,)),),
            "lu_factor": (("getrf", (n, n, None, n)),),
            "qr": (
                (
                    "Xgeqrf",
                    (None, order, *square, is_double, None, is_double),
                    (host,),
                ),
                ("orgqr", (n, n, n, None, n, None)),
            ),
            "lstsq": (("ormqr", (0, 0, n, n, n, None, n, None, None, n)),),
            "svd": (
                (
                    "gesvdj",
                    (0, 0, n, n, None, n, None, None, n, None, n),
                    (None,),
                ),
            ),
            "eigh": (
                (
                    "Xsyevd",
                    (None, 0, 0, *square, is_double, None, is_double),
                    (host,),
                ),
            ),
        }
        if what == "eigh" and batch > 1 and n <= 32:
            name, before, after = own[what][0]
            return [self.solver("XsyevBatched", before, (host, many))]
        if what == "eigh" and not is_double and 32 <= n <= 512:
            before = (0, 0, n, None, n, None)
            return [element * self.solver("Ssyevj", before, (None,))]
        return [
            self.solver(name, *rest)
            if name[0] == "X"
            else element * self.solver(letter + name, *rest)
            for name, *rest in own[what]
        ]


def rows(path, kind):
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row[0] == kind:
                yield row[1:]


# ---- what is held against what ----


def networks(path, simulated):
    """How many are as measured, but for alignment, and not."""
    total = aligned = apart = 0
    for what, forward, _ in rows(path, "rnn"):
        network = Network(*what)
        asked, shown = simulated.network(network), measured(network, forward)
        distance = max(abs(a - b) for a, b in zip(asked, shown))
        total += 1
        aligned += 0 < distance <= MOST_BYTES
        apart += distance > MOST_BYTES
        if distance > MOST_BYTES:
            print(f"{network}: {asked} here, {shown} there")
    print(
        f"{total:,} networks: {total - aligned - apart:,} to the byte, "
        f"{aligned} but for {MOST_BYTES} bytes, {apart} otherwise"
    )
    return total and aligned <= MOST_ALIGNED and apart <= MOST_APART


def workspaces_of(what, requests):
    """Those that are given back at once; of lstsq, behind those of qr."""
    found = [
        size
        for (kind, size), after in zip(requests, requests[1:])
        if kind == "a" and after == ["c", size]
    ]
    return found[1:] if what == "lstsq" else found


def matrices(path, simulated):
    total = apart = 0
    kept = "cholesky lu_factor qr lstsq svd eigh".split()
    for what, dtype, n, batch, requests in rows(path, "linalg"):
        # Batches go other ways but for these.
        if what not in kept or batch > 1 and (what != "eigh" or n > 32):
            continue
        is_double = dtype == "torch.float64"
        asked = simulated.matrices(what, n, is_double, batch)
        shown = workspaces_of(what, requests)[: len(asked)]
        total += 1
        if asked != shown:
            apart += 1
            print(f"{what} {dtype} {n} {batch}: {asked} here, {shown} there")
    print(f"{total:,} matrices: {total - apart:,} to the byte")
    return total and not apart


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument(
        "results", nargs="?", default=RESULTS / "libraries.jsonl.gz"
    )
    arguments = parser.parse_args()
    simulated = Simulated(arguments.library)
    is_right = [
        held(arguments.results, simulated) for held in (networks, matrices)
    ]
    sys.exit(not all(is_right))


if __name__ == "__main__":
    main()
