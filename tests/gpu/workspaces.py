#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workspaces that are told without a GPU, beside those that one showed.

workspaces.py --library libgpupool-simcuda.so --plans build/tests/tools/plans

The simulated cuDNN is asked for workspace and reserve space of each recurrent
network that libraries.jsonl.gz has, and the simulated cuSOLVER for the
workspace of what torch.linalg does with one matrix, or with batches of small
ones.  A network whose parts are not aligned may differ by a few hundred bytes.
So are the work areas of Fourier transforms, of most.  What cuDNN plans for a
convolution without the device is corrected, and is to be what it plans beside
it: for most, and for products of matrices about.
"""

import argparse
import collections
import ctypes
import gzip
import json
import pathlib
import subprocess
import sys

RESULTS = pathlib.Path(__file__).parent / "results"
LIBRARIES = RESULTS / "nvidia-h200" / "libraries.jsonl.gz"
FFTS = RESULTS / "nvidia-h100-80gb-hbm3" / "fft.jsonl.gz"
CONVOLUTIONS = RESULTS / "nvidia-h100-80gb-hbm3" / "convolutions.jsonl.gz"
CELLS = {"RNN": 1, "LSTM": 2, "GRU": 3}
TYPES = {"torch.float32": 0, "torch.float16": 2, "torch.bfloat16": 9}
STANDARD, PERSIST_STATIC = 0, 1
MIB = 1 << 20
# Alignment, and the one network that is not understood.
MOST_BYTES, MOST_ALIGNED, MOST_APART = 304, 40, 1

# Of Fourier transforms in one dimension, and in several, how many agree.
LEAST_ALIKE = {1: 0.95, 2: 0.85, 3: 0.85}
# Of convolutions in clusters, how many agree; of matrix products, how far the
# mean is off.
LEAST_SAME, MOST_MEAN = 0.94, 8 * MIB

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
    """Workspace, the first that is returned, and reserve space."""
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
        """The sizes of the workspaces of a call, in their order."""
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


def rows(path, kind=None):
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if not kind:
                yield row
            elif row[0] == kind:
                yield row[1:]


# ---- comparisons ----


def networks(path, simulated):
    """How many agree with the measurements, except for alignment, and how many
    do not."""
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
    """Those that are freed at once; for lstsq, after those of qr."""
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
        # Batches take other paths except for these.
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


REAL, COMPLEX = {"s": 0, "d": 1, "h": 2}, {"s": 4, "d": 5, "h": 6}


def transform(simulated, kind, precision, sizes, batch):
    there, back = (
        REAL[precision] if letter == "r" else COMPLEX[precision]
        for letter in (kind[0], kind[2])
    )
    plan, work = ctypes.c_int(), ctypes.c_size_t()
    long = ctypes.c_longlong
    simulated.calls.cufftXtMakePlanMany(
        *(plan, len(sizes), (long * len(sizes))(*sizes)),
        *(None, long(1), long(1), there),
        *(None, long(1), long(1), back),
        *(long(batch), ctypes.byref(work), COMPLEX[precision]),
    )
    return work.value


def transforms(path, simulated):
    total, same = collections.Counter(), collections.Counter()
    asked = collections.Counter()
    for kind, precision, sizes, batch, shown in rows(path):
        size = transform(simulated, kind, precision, sizes, batch)
        total[len(sizes)] += 1
        same[len(sizes)] += size == shown
        asked["here"] += size
        asked["there"] += shown
    for rank in sorted(total):
        print(
            f"{total[rank]:,} Fourier transforms of rank {rank}:"
            f" {same[rank]:,} to the byte"
        )
    print(f"{asked['here']:,} bytes together, {asked['there']:,} there")
    return all(same[r] > LEAST_ALIKE[r] * total[r] for r in total)


Convolution = collections.namedtuple(
    "Convolution",
    "direction type is_last images inputs outputs pixels filter pad stride"
    " dilation result kernel without beside",
)
KNOBS = "TILE_SIZE WORKSPACE TILE_CGA_M TILE_CGA_N".split()
ROLES = {
    "forward": ("X", "W", "Y"),
    "backward_data": ("dX", "W", "dY"),
    "backward_filter": ("X", "dW", "dY"),
}


def plan_of(c):
    """In cuDNN's form, as far as it is read."""
    spatial = len(c.pixels)
    dims = (
        [c.images, c.inputs, *c.pixels],
        [c.outputs, c.inputs] + spatial * [c.filter],
        [c.images, c.outputs, *c.result],
    )
    node = {
        "operation": "CUDNN_BACKEND_OPERATION_CONVOLUTION_"
        + c.direction.upper()
        + "_DESCRIPTOR",
        "pad": spatial * [c.pad],
        "stride": spatial * [c.stride],
    }
    tensors = []
    for role, dim in zip(ROLES[c.direction], dims):
        node[role] = role
        tensors.append(
            {
                "name": role,
                "dataType": "CUDNN_DATA_" + c.type,
                "dim": dim,
                "stride": [0, 1 if c.is_last else 2],
            }
        )
    knobs = {
        "CUDNN_KNOB_TYPE_" + knob: value
        for knob, value in zip(KNOBS, c.kernel or ())
    }
    graph = {"tensors": tensors, "nodes": [node]}
    engine = {"knobChoices": knobs}
    return json.dumps({"operationGraph": graph, "engine": engine})


def convolutions(path, tool):
    found = [Convolution(*row) for row in rows(path)]
    lines = "".join(f"{c.without} {plan_of(c)}\n" for c in found)
    answers = subprocess.run(
        [tool], input=lines, capture_output=True, text=True, check=True
    )
    is_right = True
    for is_product in (False, True):
        of = [
            (c, int(answer))
            for c, answer in zip(found, answers.stdout.split())
            if (c.filter == 1 and c.pad == 0 and c.stride == 1) == is_product
        ]
        same = sum(answer == c.beside for c, answer in of)
        before, after = (
            sum(distances) / len(of)
            for distances in (
                [abs(c.without - c.beside) for c, _ in of],
                [abs(answer - c.beside) for c, answer in of],
            )
        )
        print(
            f"{len(of):,} {'products' if is_product else 'convolutions'}:"
            f" {same:,} to the byte, {after / MIB:.2f} MiB away in the mean,"
            f" {before / MIB:.2f} uncorrected"
        )
        is_right &= (
            after < MOST_MEAN if is_product else same > LEAST_SAME * len(of)
        )
    return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--plans", required=True)
    arguments = parser.parse_args()
    simulated = Simulated(arguments.library)
    is_right = [held(LIBRARIES, simulated) for held in (networks, matrices)]
    is_right.append(transforms(FFTS, simulated))
    is_right.append(convolutions(CONVOLUTIONS, arguments.plans))
    sys.exit(not all(is_right))


if __name__ == "__main__":
    main()
