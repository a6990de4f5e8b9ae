# SPDX-License-Identifier: MIT
"""Operators whose kernels take random numbers from the device's generator.

Run with evaluate.py's globals. Each function takes the arguments under the
schema's names and returns the results, as in device_only.py; one that writes
its argument writes the numbers there. If it is not known how a kernel
distributes its numbers, or what the generator's state is, it raises a
ValueError.
"""

import ctypes
import math

import torch

BITS, WIDE_BITS, UNIFORM, WIDE_UNIFORM, NORMAL, WIDE_NORMAL = range(6)
MADE = {
    BITS: torch.int64,
    WIDE_BITS: torch.int64,
    UNIFORM: torch.float32,
    WIDE_UNIFORM: torch.float64,
    NORMAL: torch.float32,
    WIDE_NORMAL: torch.float64,
}
OF_DOUBLES = {UNIFORM: WIDE_UNIFORM, NORMAL: WIDE_NORMAL}
MOST_BYTES = (1 << 31) - 1
# The range of integers that are drawn without a limit.
BELOW = {
    torch.bool: 2,
    torch.uint8: 1 << 8,
    torch.int8: 1 << 7,
    torch.int16: 1 << 15,
    torch.int32: 1 << 31,
    torch.int64: 1 << 63,
    torch.float16: (1 << 11) + 1,
    torch.bfloat16: (1 << 8) + 1,
    torch.float32: (1 << 24) + 1,
    torch.float64: (1 << 53) + 1,
}
WIDE = torch.int64, torch.float64
# Types for which randint() took 64 bits if the range requires them.
LONG = torch.int64, torch.float64, torch.float32, torch.bfloat16
# Since then randint() takes 64 bits if 32 bits would have a bias of 5 %.
FIRST_EVEN = 2, 7
# Since then dropout reads 16 bytes at a time.
FIRST_OF_16_BYTES = 2, 7
# Since then FlashAttention leaves its state on the device.
FIRST_RNG_STATE = 2, 7
release = tuple(int(n) for n in torch.__version__.split(".")[:2])
calls.simcuda_random_numbers.restype = ctypes.c_uint64


class Numbers(ctypes.Structure):
    """A struct random_numbers."""

    _fields_ = [
        ("kind", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("neighbours", ctypes.c_uint64),
        ("is_alone", ctypes.c_bool),
        ("is_one", ctypes.c_bool),
        ("thread", ctypes.c_uint64),
        ("range", ctypes.c_uint64),
    ]


class Generator(ctypes.Structure):
    """A struct generator."""

    _fields_ = [
        ("is_known", ctypes.c_bool),
        ("seed", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
    ]


class Weights(ctypes.Structure):
    """A struct flash_weights."""

    _fields_ = [
        ("matrices", ctypes.c_uint64),
        ("queries", ctypes.c_uint64),
        ("keys", ctypes.c_uint64),
    ]


def generator_now():
    """The generator's state before the operator."""
    state = Generator()
    calls.simcuda_generator(ctypes.byref(state))
    return state


def take(state, made, **wish):
    """Fills `made` in the order in which a kernel counts elements. Returns how
    often each thread drew four numbers."""
    return calls.simcuda_random_numbers(
        ctypes.byref(state),
        ctypes.byref(Numbers(count=made.numel(), **wish)),
        ctypes.c_void_p(made.data_ptr()),
    )


def draw(kind, count, neighbours=0, is_alone=False, below=1, state=None):
    """Draws numbers from the generator and advances the state."""
    state = generator_now() if state is None else state
    if not state.is_known:
        raise ValueError("the state of the generator is unknown")
    made = torch.empty(count, dtype=MADE[kind])
    state.offset += 4 * take(
        state,
        made,
        kind=kind,
        neighbours=neighbours,
        is_alone=is_alone,
        range=below,
    )
    return made


def draw_for(tensor, kind, below=1, state=None):
    """Draws for a tensor. A larger one takes several launches, and fails."""
    if tensor.is_complex():
        raise ValueError("complex numbers are not drawn")
    if tensor.numel() * tensor.element_size() > MOST_BYTES:
        raise ValueError("too many numbers for one launch")
    if kind in OF_DOUBLES and tensor.dtype == torch.float64:
        kind = OF_DOUBLES[kind]
    return draw(kind, tensor.numel(), below=below, state=state)


def is_dense(tensor):
    """Whether the elements are adjacent in memory, in any order."""
    next_one = 1
    for stride, size in sorted(zip(tensor.strides_there, tensor.shape)):
        if size > 1 and stride != next_one:
            return False
        next_one = stride * size if size > 1 else next_one
    return True


def by_memory(tensor, made):
    """Permutes the dimensions by their strides, as at::TensorIterator does."""
    strides = tensor.strides_there
    order = sorted(range(tensor.dim()), key=lambda d: -strides[d])
    back = sorted(range(tensor.dim()), key=lambda d: order[d])
    return made.reshape([tensor.shape[d] for d in order]).permute(back)


def write(tensor, made):
    return (tensor.copy_(by_memory(tensor, made)),)


def uniform(self, **named):
    low = torch.tensor(named["from"], dtype=self.dtype)
    high = torch.tensor(named["to"], dtype=self.dtype)
    made = draw_for(self, UNIFORM)
    values = made.double() * (high - low).double() + low.double()
    values = values.to(made.dtype).to(self.dtype)
    return write(self, torch.where(values == high, low, values))


def normal(self, mean, std, **more):
    made = draw_for(self, NORMAL)
    return write(self, (made.double() * std + mean).to(made.dtype))


def normal_around(mean, std, **more):
    """Draws into a new tensor of the shape that mean and std broadcast to."""
    of = mean if isinstance(mean, torch.Tensor) else std
    made = torch.empty((mean + std).shape, dtype=of.dtype)
    made.strides_there = made.stride()
    return ((normal(made, 0, 1)[0] * std + mean).to(of.dtype),)


def exponential(self, lambd, **more):
    made = draw_for(self, UNIFORM)
    least = torch.finfo(made.dtype).eps / 2
    logarithm = torch.where(made >= 1 - least, -least, made.log())
    return write(self, -1 / lambd * logarithm)


def any_integers(self):
    kind = WIDE_BITS if self.dtype in WIDE else BITS
    return write(self, draw_for(self, kind, BELOW[self.dtype]))


def integers(self, state=None, **named):
    if "to" not in named:
        return any_integers(self)
    low, high = named.get("from", 0), named["to"]
    if high is None:
        raise ValueError("there is no upper bound")
    below = high - low
    if release >= FIRST_EVEN:
        is_wide = below >= 1 << 28
    else:
        is_wide = below >= 1 << 32 and self.dtype in LONG
    kind = WIDE_BITS if is_wide else BITS
    return write(self, draw_for(self, kind, below, state) + low)


def bernoulli(self, p, **more):
    if not isinstance(p, torch.Tensor):
        made = draw_for(self, UNIFORM)
        return write(self, made < torch.tensor(p, dtype=made.dtype))
    if self.strides_there != self.stride():
        raise ValueError("the tensor has other strides on the device")
    if self.dtype == torch.float64:
        raise ValueError("float64 is not drawn")
    made = draw(UNIFORM, self.numel(), neighbours=4, is_alone=True)
    return (self.copy_(made.reshape(self.shape) <= p.float()),)


def at_once(tensor):
    """The number of adjacent elements that dropout processes at a time:
    at::native's vector size. 0: elements are not processed side by side."""
    if not is_dense(tensor):
        return 0
    most = 4
    if release >= FIRST_OF_16_BYTES:
        most = min(16 // tensor.element_size(), 8)
    elements = tensor.address // tensor.element_size()
    count = math.gcd(most, tensor.numel(), elements)
    return count if count > 1 else 0


def dropout(input, p, truth):
    """Keeps elements with probability p."""
    neighbours = at_once(input)
    real = input.double() if input.dtype == torch.float64 else input.float()
    p = torch.tensor(p, dtype=real.dtype)
    mask = draw(UNIFORM, input.numel(), neighbours).to(p.dtype) < p
    mask = by_memory(input, mask) if neighbours else mask.reshape(input.shape)
    return (real * mask * (1 / p)).to(input.dtype), mask.to(truth)


def native_dropout(input, p, train):
    if train is False:
        return input, torch.ones_like(input, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(input), torch.zeros_like(input).bool()
    return dropout(input, 1 - p, torch.bool)


def fused_dropout(self, p, **more):
    return dropout(self, p, torch.uint8)


# ---- permutations ----


def bits_of_keys(n):
    """The number of bits with which all keys differ in nine of ten cases."""
    return math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9))))


def lots(keys):
    """Where runs of equal keys begin, and how many keys follow each first."""
    found = {}
    begin = last = -1
    for place in (keys[1:] == keys[:-1]).nonzero().flatten().tolist():
        begin = begin if place == last + 1 and found else place
        found[begin] = found.get(begin, 0) + 1
        last = place
    return found


def shuffle_alike(order, keys, state):
    """Shuffles each run of equal keys with the thread of its first key."""
    for begin, rest in lots(keys).items():
        numbers = torch.empty(rest, dtype=MADE[BITS])
        wish = {"kind": BITS, "range": 1 << 32, "is_one": True}
        take(state, numbers, thread=begin, **wish)
        for last, number in zip(range(rest, 0, -1), numbers.tolist()):
            places = torch.tensor([last, number % (last + 1)]) + begin
            order[places] = order[places.flip(0)]


def permutation(n, out=None, **more):
    """Sorts random keys with as many bits as needed."""
    if out is None:
        raise ValueError("only the overload with out has a kernel")
    bits = bits_of_keys(n) if n else 0
    keys = torch.empty(n, dtype=torch.int32 if bits <= 32 else torch.int64)
    keys.strides_there = keys.stride()
    limits = torch.iinfo(keys.dtype)
    state = generator_now()
    named = {"from": limits.min, "to": limits.max}
    keys = integers(keys, state, **named)[0].long()
    if bits != 32:
        keys &= (1 << bits) - 1
    keys, order = keys.sort(stable=True)
    shuffle_alike(order, keys, state)
    return (out.copy_(order),)


# ---- dropout in attention ----


def generator_of(named):
    """The device's generator; for backward, its state before forward."""
    if "rng_state" in named:
        tensors = [named["rng_state"]]
    elif "philox_seed" in named:
        tensors = [named["philox_seed"], named["philox_offset"]]
    else:
        return generator_now()
    state = Generator(is_known=all(t.is_read for t in tensors))
    if state.is_known:
        numbers = torch.cat([t.flatten() for t in tensors]).tolist()
        state.seed, state.offset = numbers
    return state


def efficient_keeps(shape, p, named):
    """The numbers of a single thread, one after the other (kernel_forward.h of
    ATen's mem_eff_attention). None: they are not known."""
    state = generator_of(named)
    if not state.is_known:
        return None
    made = torch.empty(shape)
    take(state, made, kind=UNIFORM, is_one=True)
    return made > torch.tensor(p)


def flash_keeps(shape, p, named):
    state = generator_of(named)
    if not state.is_known:
        return None
    made = torch.empty(shape, dtype=torch.uint8)
    calls.simcuda_flash_numbers(
        ctypes.byref(state),
        ctypes.byref(Weights(shape[0] * shape[1], *shape[2:])),
        ctypes.c_void_p(made.data_ptr()),
    )
    return made <= math.floor((1 - torch.tensor(p)).item() * 255)


def rng_state():
    """The state in the form in which FlashAttention leaves it on the device, if
    it does."""
    state = generator_now()
    if release < FIRST_RNG_STATE or not state.is_known:
        return None
    return torch.tensor([state.seed, state.offset], dtype=torch.uint64)


FROM_GENERATOR = {
    "_fused_dropout": fused_dropout,
    "bernoulli_": bernoulli,
    "exponential_": exponential,
    "native_dropout": native_dropout,
    "normal": normal_around,
    "normal_": normal,
    "random_": integers,
    "randperm": permutation,
    "uniform_": uniform,
}
