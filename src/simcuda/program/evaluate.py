# SPDX-License-Identifier: MIT
"""Describes PyTorch's operators, and computes them on the processor.

evaluate.c runs this in a thread of its own. A tensor is passed as its bytes,
its type, its sizes and whether it is on the device; a device is passed as ().
Results are returned as words, with bytes padded to whole words.
"""

import atexit
import builtins
import contextlib
import ctypes
import math
import os
import struct

__builtins__ = builtins

import torch  # noqa: E402

C = torch._C
calls = ctypes.PyDLL(None)
atexit.register(calls.simcuda_evaluate_stop)
# The flags in describe()'s answer, in the order of evaluate_describe().
(
    COMPUTES,
    SILENT,
    WRITES_ANY,
    ASKS_SIZE,
    SCALAR,
    RANDOM,
    DECISIVE,
    CHECK,
    ASSERTS,
    ORDERS,
    DENIES,
    SAMPLES,
    OF_ALL,
    COUNTS,
    SPARSE,
    BY_ELEMENT,
    SCALES,
    COSTLY,
    MULTIPLIES,
    FRESH,
    SUCCEEDS,
    FINDS_ANY,
    EACH,
    AS_READ,
    GIVES_PLACES,
    ONE_NUMBER,
    FIRST_STEP,
    SAVES_REST,
    STANDS_IN,
) = (1 << i for i in range(29))
# The most arguments of an operator: each has a bit in C's masks.
MOST = 26
# Whether unknown values are drawn: --values.
DRAWS = os.environ.get("SIMCUDA_VALUES", "known") not in ("known", "0")
# Collectives report themselves what they write.
SILENT_SPACES = (
    "c10d",
    "_c10d_functional",
    "_c10d_functional_autograd",
    "symm_mem",
)
# In 2.14 and 2.15 PyTorch's operators may call one of these, which launches a
# kernel in Triton or the like, instead of launching their own.
STAND_IN_SPACE = "_native"
# Operators that write more than their schema says, by a part of their names;
# and arguments that are written without the schema saying so.
HIDDEN = "instance_norm", "init_dropout"
RUNNING = "running_mean", "running_var"
# Operators that write an argument without reading it.
FILLS = {
    "_cummax_helper",
    "_cummin_helper",
    "_foreach_copy_",
    "_foreach_zero_",
    "copy_",
    "fill_",
    "zero_",
}
UNIQUE = {
    "_unique",
    "_unique2",
    "unique_consecutive",
    "unique_dim",
    "unique_dim_consecutive",
}
# Operators of these that write one number everywhere, which is often 0.
ONE_NUMBERS = {"fill_", "zero_"}
# Operators that count on the device, read the count, and then allocate.
SIZED = UNIQUE | {"nonzero", "masked_select", "equal", "nms", "_coalesce"}
# Operators whose result only grows, or only shrinks, with each bit that becomes
# 1: a result that is the same with all unknown bits 0 and with all of them 1 is
# known.  Xor is not among them.
LOGICAL = {
    "__and__",
    "__or__",
    "all",
    "any",
    "bitwise_and",
    "bitwise_and_",
    "bitwise_not",
    "bitwise_not_",
    "bitwise_or",
    "bitwise_or_",
    "logical_and",
    "logical_and_",
    "logical_not",
    "logical_not_",
    "logical_or",
    "logical_or_",
}
# Operators that move elements of these arguments, given by number, without
# changing them: an element that is known there is known in the result.
MOVES = {
    "_index_put_impl_": (0, 2),
    "cat": (0,),
    "copy_": (1,),
    "flip": (0,),
    "gather": (0,),
    "index": (0,),
    "index_copy": (0, 3),
    "index_copy_": (0, 3),
    "index_fill": (0, 3),
    "index_fill_": (0, 3),
    "index_put": (0, 2),
    "index_put_": (0, 2),
    "index_select": (0,),
    "masked_fill": (0, 2),
    "masked_fill_": (0, 2),
    "roll": (0,),
    "scatter": (0, 3),
    "scatter_": (0, 3),
    "stack": (0,),
    "take": (0,),
    "tril": (0,),
    "triu": (0,),
    "where": (1, 2),
}
# Operators that divide integers. On a processor, the program is ended if a
# quotient does not fit.
QUOTIENTS = {"div", "floor_divide", "fmod", "remainder"}
QUOTIENTS |= {base + "_" for base in QUOTIENTS}
# Operators that compute integers or booleans, on which programs branch, from
# floating-point numbers: if values are drawn, they are computed for larger
# arguments than others.
DECISIVE_ONES = {
    "argmax",
    "argmin",
    "argsort",
    "bucketize",
    "eq",
    "ge",
    "gt",
    "kthvalue",
    "le",
    "lt",
    "max",
    "median",
    "min",
    "mode",
    "multinomial",
    "ne",
    "nms",
    "nonzero",
    "searchsorted",
    "sort",
    "topk",
}
# Operators that write whether a step is to be skipped, which is seldom true.
CHECKS = {"_amp_foreach_non_finite_check_and_unscale_"}
# Operators whose truths, given or read while they run, are true in a correct
# program: distributions check their parameters with them, and training loops
# their losses.
ASSERTIONS = {
    "_is_all_true",
    "isfinite",
    "normal",
    "normal_",
    "repeat_interleave",
}
# Comparisons whose results a correct program checks with all(), for example
# that boxes end after they begin.
COMPARISONS = {"ge", "gt", "le", "lt"}
# Operators that read whether a library found errors; that is false here.
DENIALS = {"_linalg_check_errors"}
# Operators that read a library's error codes while they run: these are 0 if the
# processor finds no errors.
SUCCESSES = {"_linalg_eigh", "_linalg_svd"}
# Operators of old releases that first read whether probabilities are valid,
# which is true, and then whether all of them are 0, which is false.
SAMPLERS = {"multinomial"}
# Operators on an unknown integer, which reads as 0: their result reads as if it
# followed from 0, so that a loop with n + 1 makes progress.
COUNTING = {"add", "add_", "mul", "mul_", "neg", "rsub", "sub", "sub_"}
# Operators whose result agrees with what was read from an unknown argument: a
# mask and its opposite cannot both select nothing.
CONSISTENT = {"bitwise_not", "logical_not", "nonzero"}
# Operators that return distinct places; for unknown values, the first ones.
PLACES = {"sort", "topk"}
MOST_PLACES = 1 << 17
# Operators on sparse tensors, which are passed and returned as their indices,
# and how these are computed.
OF_INDICES = {"_coalesce": lambda indices: torch.unique(indices, dim=1)}
# Operators that add to beta times their first argument.  If beta is 0 they do
# not read it, and it may be memory that was never written.
SCALING = {
    "addbmm",
    "addbmm_",
    "addmm",
    "addmm_",
    "addmv",
    "addmv_",
    "addr",
    "addr_",
    "baddbmm",
    "baddbmm_",
}
# Operators whose time is the product of their arguments' sizes.
PRODUCTS = {"addmm", "baddbmm", "bmm", "mm"}
# Operators that save all results but the first for backward, in this order.
SAVING_REST = {
    "_batch_norm_with_update",
    "_native_batch_norm_legit",
    "cudnn_batch_norm",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "nll_loss2d_forward",
    "nll_loss_forward",
}
# Operators that branch on the results of other operators while their own
# kernels run. Nothing outside reads what else these write.
DECIDING = {"linalg_matrix_exp"}
# The flags of operators by their names, for C.
CLASSES = (
    (SIZED, ASKS_SIZE),
    (DECISIVE_ONES, DECISIVE),
    (CHECKS, CHECK),
    (ASSERTIONS, ASSERTS),
    (COMPARISONS, ORDERS),
    (DENIALS, DENIES),
    (SUCCESSES, SUCCEEDS),
    (UNIQUE, FINDS_ANY),
    (SAMPLERS, SAMPLES),
    (COUNTING, COUNTS),
    (CONSISTENT, AS_READ),
    (PLACES, GIVES_PLACES),
    (ONE_NUMBERS, ONE_NUMBER),
    (SCALING, SCALES),
    (PRODUCTS, MULTIPLIES),
    (OF_INDICES, SPARSE),
    (SAVING_REST, SAVES_REST),
    ({"_fused_sgd_"}, FIRST_STEP),
    ({"all"}, OF_ALL),
    ({"_local_scalar_dense"}, SCALAR),
)
# Parts of the names of operators that take longer than reading their arguments.
COSTS = (
    "attention",
    "cdist",
    "conv",
    "gru",
    "linalg",
    "lstm",
    "rnn",
    "sort",
    "unique",
)
# Namespaces whose kernels for the processor compute the same as those for CUDA.
COMPUTED_SPACES = "aten", "prims", "torchvision"
# Operators that compute nothing.
NOTHING = {
    "empty",
    "empty_strided",
    "empty_like",
    "new_empty",
    "new_empty_strided",
    "empty_permuted",
    "resize_",
    "set_",
    "record_stream",
    "_local_scalar_dense",
}
KEYS = (
    "CUDA",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
DTYPES = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.float16,
    6: torch.float32,
    7: torch.float64,
    9: torch.complex64,
    10: torch.complex128,
    11: torch.bool,
    15: torch.bfloat16,
}
# Types that not every release has.
for number, dtype in (
    (23, "float8_e5m2"),
    (24, "float8_e4m3fn"),
    (25, "float8_e5m2fnuz"),
    (26, "float8_e4m3fnuz"),
    (27, "uint16"),
    (28, "uint32"),
    (29, "uint64"),
):
    if hasattr(torch, dtype):
        DTYPES[number] = getattr(torch, dtype)
NUMBERS = {d: n for n, d in DTYPES.items()}
CPU = torch.device("cpu")
# PyTorch 2.1 and 2.2 have no Python names for three keys that follow others.
keys = dict(C.DispatchKey.__members__)
for behind, key in (2, "Conjugate"), (3, "Negative"), (4, "ZeroTensor"):
    keys.setdefault(key, int(C.DispatchKey.Functionalize) + behind)


def bit_of(key):
    """c10::DispatchKeySet has a bit for each functionality, counted from 1."""
    return 1 << int(keys[key]) - 1


conjugated, negated = bit_of("Conjugate"), bit_of("Negative")
not_plain = 0
for key in (
    "Python",
    "FuncTorchBatched",
    "FuncTorchGradWrapper",
    "Functionalize",
    "ZeroTensor",
    "NestedTensor",
    "Quantized",
):
    not_plain |= bit_of(key)
# The program may have set a mode in the meantime that makes other tensors: on a
# device, as with set_default_device(), fake ones, or wrapped ones, as with
# torch.func.
no_function = C.DisableTorchFunction()
no_dispatch = C._DisableTorchDispatch()
no_functorch = C._DisableFuncTorch()
with no_function, no_dispatch, no_functorch:
    rows = torch.empty_strided((3, 7), (7, 1), dtype=torch.int16, device=CPU)
    rows = rows[1:, :5]
find_layout = calls.simcuda_find_layout
find_layout.restype = ctypes.c_bool
if not find_layout(
    ctypes.c_void_p(rows._cdata),
    ctypes.c_uint64(rows.data_ptr()),
    32 if C._GLIBCXX_USE_CXX11_ABI else 8,
):
    raise RuntimeError("the layout of tensors is not the known one")
operators = {}
generator = torch.default_generator
new_seed = calls.simcuda_draws_seed
new_seed.restype = ctypes.c_uint64


# Operators with at least this many bytes are computed on several processors.
# With less, OpenMP's other threads would slow the program down, because they
# wait busily.
SHARED_FROM = 1 << 18
set_threads = getattr(calls, "omp_set_num_threads", None)
processors = 1


def begin():
    global processors
    torch.set_grad_enabled(False)
    processors = torch.get_num_threads()


def share(values):
    """Sets the number of threads; it applies only to calls from this thread."""
    tensors = [v for v in flat(values) if isinstance(v, torch.Tensor)]
    size = sum(t.numel() * t.element_size() for t in tensors)
    if set_threads:
        set_threads(processors if size >= SHARED_FROM else 1)


def find(name, overload):
    space, base = name.split("::")
    packet = getattr(getattr(torch.ops, space), base)
    op = getattr(packet, overload or "default")
    arguments = op._schema.arguments
    hidden = () if "backward" in base or "no_training" in base else RUNNING
    writes = [
        i
        for i, a in enumerate(arguments)
        if a.name in hidden
        or (a.alias_info is not None and a.alias_info.is_write)
    ]
    operators[name, overload] = op, arguments, writes
    return op, arguments, writes


def is_view(schema):
    return bool(schema.returns) and all(
        r.alias_info is not None and not r.alias_info.is_write
        for r in schema.returns
    )


def bits(indices):
    return sum(1 << i for i in indices if i < MOST)


def is_each(op, base):
    return (
        torch.Tag.pointwise in op.tags
        and torch.Tag.nondeterministic_seeded not in op.tags
        and not any(base in names for names in (FILLS, LOGICAL, MOVES))
    )


def partly(op, base, overload):
    """The arguments that may be known only in part."""
    if base in LOGICAL or is_each(op, base):
        return range(4)
    return () if "reduce" in overload else MOVES.get(base, ())


def describe(name, overload):
    op, arguments, writes = find(name, overload)
    space, base = name.split("::")
    flags = 0
    if space in SILENT_SPACES:
        flags |= SILENT
    if space == STAND_IN_SPACE:
        flags |= STANDS_IN
    full = name + "." + overload if overload else name
    has_kernel = base in OF_INDICES or any(
        C._dispatch_has_kernel_for_dispatch_key(full, k) for k in KEYS
    )
    is_random = torch.Tag.nondeterministic_seeded in op.tags
    is_ours = base in FROM_GENERATOR or base in INSTEAD
    if (
        space in COMPUTED_SPACES
        and has_kernel
        and (DRAWS or not is_random or is_ours)
        and not is_view(op._schema)
        and base not in NOTHING
    ):
        flags |= COMPUTES
    if is_random:
        flags |= RANDOM
    if torch.Tag.pointwise in op.tags or base in DECIDING:
        flags |= BY_ELEMENT
    if is_each(op, base):
        flags |= EACH
    for names, flag in CLASSES:
        if base in names:
            flags |= flag
    if is_random or any(c in base for c in COSTS):
        flags |= COSTLY
    returns = op._schema.returns
    if returns and all(r.alias_info is None for r in returns):
        flags |= FRESH
    if space not in COMPUTED_SPACES or any(h in base for h in HIDDEN):
        flags |= WRITES_ANY
    fills = base in FILLS or base in FROM_GENERATOR
    unread = [i for i in writes if arguments[i].is_out or fills]
    if_known = []
    if base in INSTEAD:
        unread += [i for i, a in enumerate(arguments) if a.name in UNREAD]
        if_known += [i for i, a in enumerate(arguments) if a.name in STATE]
    if len(arguments) > MOST:
        flags = (flags | WRITES_ANY) & ~COMPUTES
    return struct.pack(
        "8q",
        flags,
        bits(writes),
        bits(unread),
        bits(if_known),
        bits(partly(op, base, overload)),
        bits(asserted(base, arguments)),
        len(arguments),
        len(returns),
    )


def make(value):
    if isinstance(value, list):
        return [make(v) for v in value]
    if not isinstance(value, tuple):
        return value
    if not value:
        return CPU
    data, dtype, sizes, is_on_device, strides, address, *views = value
    is_read = data is not None
    if data is None or not len(data):
        made = torch.empty(sizes, dtype=DTYPES[dtype], device=CPU)
    else:
        made = torch.frombuffer(data, dtype=DTYPES[dtype]).reshape(sizes)
    is_conjugated, is_negated = views
    if is_conjugated:
        made = made.conj()
    if is_negated:
        made = torch._neg_view(made)
    made.strides_there, made.address = strides, address
    made.is_on_device = is_on_device
    made.is_read = is_read
    return made


def is_number(value, dtype):
    """Whether the value is a tensor with a single number that is not on the
    device."""
    return isinstance(value, tuple) and value[1:4] == (
        NUMBERS[dtype],
        (),
        False,
    )


def narrow_to(dtype, number):
    limits = torch.iinfo(dtype)
    fits = limits.min <= int(number) <= limits.max
    return number.to(dtype) if fits else number


def narrow(values, made):
    """A number of the program is passed as a double or a long. It determines
    the type of the result only if the other tensors are not floating-point
    numbers, or are booleans."""
    tensors = [
        (v, m) for v, m in zip(values, made) if isinstance(m, torch.Tensor)
    ]
    beside = [m for v, m in tensors if not is_number(v, torch.float64)]
    real = [t for t in beside if t.is_floating_point()]
    if beside and not any(t.dim() or t.dtype != torch.float32 for t in real):
        made = [
            m.float() if is_number(v, torch.float64) else m
            for v, m in zip(values, made)
        ]
    beside = [m for v, m in tensors if not is_number(v, torch.int64)]
    whole = {t.dtype for t in beside if t.dtype != torch.bool}
    if len(whole) != 1 or not is_whole(*whole) or any(t.dim() for t in beside):
        return made
    return [
        narrow_to(*whole, m) if is_number(v, torch.int64) else m
        for v, m in zip(values, made)
    ]


def is_short_scalar(value):
    return (
        isinstance(value, torch.Tensor)
        and not value.dim()
        and value.dtype in SHORT
    )


def lift(values, made):
    """With a number of the program, a 16-bit tensor without dimensions gives a
    16-bit result. To get this, the tensor is given a dimension."""
    tensors = [
        (v, m) for v, m in zip(values, made) if isinstance(m, torch.Tensor)
    ]
    beside = [m for v, m in tensors if not is_number(v, torch.float64)]
    if len(beside) == len(tensors) or not all(map(is_short_scalar, beside)):
        return made
    lifted = list(made)
    for i, m in enumerate(made):
        if is_short_scalar(m):
            lifted[i] = m.reshape(1)
            lifted[i].is_on_device = m.is_on_device
    return lifted


# A result that is an argument, which the operator returns unchanged.
KEPT = object()


def pack(results, into, doubted=()):
    for r in results:
        if isinstance(r, torch.Tensor):
            kind = 6 if any(r is d for d in doubted) else 4
            r = r.resolve_conj().resolve_neg().contiguous()
            size = r.numel() * r.element_size()
            into.append(
                struct.pack(
                    "%dq" % (3 + r.dim()),
                    kind,
                    NUMBERS[r.dtype],
                    r.dim(),
                    *r.shape,
                )
            )
            into.append(ctypes.string_at(r.data_ptr(), size) if size else b"")
            into.append(bytes(-size % 8))
        elif isinstance(r, bool):
            into.append(struct.pack("2q", 3, r))
        elif isinstance(r, int):
            into.append(struct.pack("2q", 1, r))
        elif isinstance(r, float):
            into.append(struct.pack("qd", 2, r))
        elif r is KEPT:
            into.append(struct.pack("2q", 5, 0))
        else:
            into.append(struct.pack("2q", 0, 0))


def flat(values):
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from flat(v)
        else:
            yield v


# Drawn values may not be valid probabilities: makes them valid.
PROBABILITIES = {
    "aten::bernoulli": lambda x: x.clamp(0, 1),
    "aten::multinomial": lambda x: x.abs(),
}


def draw_seed():
    if not DRAWS:
        raise ValueError("values are not drawn")
    return new_seed()


@contextlib.contextmanager
def seeded(seed):
    """Leaves the program's generator unchanged."""
    state = generator.get_state()
    generator.manual_seed(seed)
    try:
        yield
    finally:
        generator.set_state(state)


def compute(op, arguments, values):
    positional = [v for v, a in zip(values, arguments) if not a.kwarg_only]
    named = {a.name: v for v, a in zip(values, arguments) if a.kwarg_only}
    if torch.Tag.nondeterministic_seeded not in op.tags:
        return op(*positional, **named)
    with seeded(draw_seed()):
        return op(*positional, **named)


def overflows(dividend, divisor, *more):
    dividend, divisor = torch.as_tensor(dividend), torch.as_tensor(divisor)
    if not dividend.dtype.is_signed or not is_whole(dividend.dtype):
        return False
    least = torch.iinfo(dividend.dtype).min
    return bool(dividend.eq(least).any() and divisor.eq(-1).any())


def first_places(self, dim, k=None, **more):
    """The places that topk() and sort() return if their argument is unknown."""
    sizes = list(self.shape)
    if k is not None and sizes:
        sizes[dim] = k
    if math.prod(sizes) > MOST_PLACES:
        raise ValueError("too many elements")
    places = torch.ones(sizes, dtype=torch.long)
    return None, places.cumsum(dim) - 1


def run(name, overload, values):
    op, arguments, writes = operators[name, overload]
    made = [make(v) for v in values]
    narrowed = made if writes else narrow(values, made)
    values = made if writes else lift(values, narrowed)
    is_lifted = values is not narrowed
    share(values)
    base = name.split("::")[1]
    if base in QUOTIENTS and overflows(*values):
        raise ValueError("a quotient does not fit")
    if DRAWS and name in PROBABILITIES:
        values[0] = PROBABILITIES[name](values[0])
    named = {a.name: v for v, a in zip(values, arguments)}
    differs = DIFFERING.get(base)
    if base in OF_INDICES:
        returned = OF_INDICES[base](*values)
    elif base in PLACES and not writes and not values[0].is_read:
        returned, differs = first_places(**named), None
    elif base in INSTEAD:
        returned = list(INSTEAD[base](**named))
        returned += [None] * (len(op._schema.returns) - len(returned))
    elif base in FROM_GENERATOR:
        try:
            returned = FROM_GENERATOR[base](**named)
        except ValueError:
            # How the device computes this is not known.
            returned = compute(op, arguments, values)
    else:
        returned = compute(op, arguments, values)
    results = [] if returned is None else list(flat([returned]))
    doubted = list(differs(results, **named) or ()) if differs else []
    if is_lifted:
        results = [r.reshape(()) for r in results]
    results += flat(values[i] for i in writes)
    if writes and (
        overlap(values, writes) or is_any_in_the_way(values, writes, base)
    ):
        doubted += results
    into = [struct.pack("q", len(results))]
    pack(results, into, doubted)
    return b"".join(into)
