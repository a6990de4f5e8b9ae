# SPDX-License-Identifier: MIT
"""Operators for which a device computes other results than a processor, or
whose results on a device cannot be predicted.

Run with evaluate.py's globals. Each function of DIFFERING takes a processor's
results and the operator's arguments, under the schema's names. It changes the
results in place to those of a device, and returns the results that may still
differ on a device.
"""

import torch


def is_whole(dtype):
    return not dtype.is_floating_point and not dtype.is_complex


# ---- the order of equal elements ----

# Up to this many elements are sorted by a network of comparisons. It exchanges
# equal elements, unless the sort is stable (ATen's SortUtils.cuh).
IN_NETWORK = 32


def ranks(ordered):
    """Numbers the elements of ordered rows; equal elements have the same
    number."""
    a, b = ordered[..., 1:], ordered[..., :-1]
    differ = (a != b) & ~(a.isnan() & b.isnan())
    return torch.nn.functional.pad(differ.long().cumsum(-1), (1, 0))


def network(keys):
    """The order in which the network leaves the elements of each row."""
    rows = keys.reshape(-1, keys.shape[-1])
    free = IN_NETWORK - rows.shape[-1]
    rows = torch.nn.functional.pad(rows, (0, free), value=IN_NETWORK)
    order = torch.arange(IN_NETWORK).repeat(len(rows), 1)
    threads = torch.arange(IN_NETWORK // 2)
    for size in (2, 4, 8, 16, 32):
        falls = (threads & size // 2 != 0) & (size < IN_NETWORK)
        for distance in (16, 8, 4, 2, 1):
            if distance >= size:
                continue
            first = 2 * threads - (threads & distance - 1)
            second = first + distance
            exchanged = (rows[:, first] < rows[:, second]) == falls
            for of in (rows, order):
                a, b = of[:, first], of[:, second]
                of[:, first] = torch.where(exchanged, b, a)
                of[:, second] = torch.where(exchanged, a, b)
    return order[:, : keys.shape[-1]].reshape(keys.shape)


def sort(results, self, dim=-1, stable=None, **more):
    values, places = results
    if stable or not self.dim() or not 1 < self.shape[dim] <= IN_NETWORK:
        return
    ordered, places = values.movedim(dim, -1), places.movedim(dim, -1)
    keys = ranks(ordered)
    if int(keys[..., -1].min()) < self.shape[dim] - 1:
        places.copy_(
            network(keys.new_empty(keys.shape).scatter_(-1, places, keys))
        )


def topk(results, self, k, dim=-1, largest=True, sorted=True, **more):
    """A device takes the elements that precede those equal to the last one,
    then some of the latter, each in their order in memory, and sorts them."""
    if not k or not self.dim():
        return
    rows = self.movedim(dim, -1)
    ordered, places = rows.sort(dim=-1, descending=largest, stable=True)
    places, keys = places[..., :k], ranks(ordered)[..., :k]
    is_last = keys == keys[..., -1:]
    order = (places + is_last * rows.shape[-1]).argsort(-1)
    places, keys = places.gather(-1, order), keys.gather(-1, order)
    if sorted:
        few = k <= IN_NETWORK
        order = network(keys) if few else keys.sort(dim=-1, stable=True)[1]
        places = places.gather(-1, order)
    for result, made in zip(results, (rows.gather(-1, places), places)):
        result.copy_(made.movedim(-1, dim))


def one_of_equals(results, self, dim=None, keepdim=False, **more):
    """The place of an element is in doubt if another one is equal."""
    if dim is None or not self.dim():
        return ()
    found = results[0] if keepdim else results[0].unsqueeze(dim)
    equal = (self == found) | (self.isnan() & found.isnan())
    return results[1:] if (equal.sum(dim) > 1).any() else ()


# ---- several elements written to one place ----


def is_settled(read, written):
    """Whether all that was written can be read back. Otherwise several elements
    were written to one place, and a device may do that in any order."""
    return torch.are_deterministic_algorithms_enabled() or torch.equal(
        read, written.expand(read.shape)
    )


def index_put(results, indices, values, accumulate=False, **more):
    if accumulate:
        is_doubted = may_wrap(values) or depends_on_order(
            results,
            lambda to, of: torch.ops.aten.index_put_(to, indices, of, True),
            values,
        )
        return results if is_doubted else ()
    at = tuple(slice(None) if i is None else i for i in indices)
    is_one = values.numel() <= 1
    return () if is_one or is_settled(results[0][at], values) else results


def scatter(results, dim, index, src=None, reduce=None, **more):
    if src is None or not index.numel():
        return ()
    if reduce is not None:
        return scatter_reduce(results, dim, index, src, reduce)
    read = results[0].gather(dim, index)
    written = src[tuple(slice(n) for n in index.shape)]
    return () if is_settled(read, written) else results


def index_copy(results, dim, index, source, **more):
    if not results[0].dim():
        return ()
    read = results[0].index_select(dim, index.reshape(-1))
    return () if is_settled(read, source) else results


def put(results, index, source, accumulate=False, **more):
    if accumulate:
        return ()
    return () if is_settled(results[0].take(index), source) else results


UP_AND_DOWN = (0, None), (None, 0)


def is_whole_number(values):
    return values == values.round()


def counted(made, add, values):
    """How many values are added to each place."""
    none = torch.zeros_like(made, dtype=torch.float64)
    return add(none, torch.ones_like(values, dtype=torch.float64))


def depends_on_order(results, add, values):
    """Whether the order in which 16-bit numbers are added to one place matters:
    a device rounds each sum, or only the last one. `add` adds values to its
    first argument."""
    made = results[0]
    if made.dtype not in SHORT:
        return False
    wide, none = values.double(), torch.zeros_like(made, dtype=torch.float64)
    often = counted(made, add, values)
    # Each intermediate sum lies between these.
    ends = [made - add(none.clone(), wide.clamp(*to)) for to in UP_AND_DOWN]
    exact = 2 / torch.finfo(made.dtype).eps
    is_exact = is_whole_number(made) & is_whole_number(values).all()
    for end in ends:
        is_exact &= end.abs() < exact
    return not bool((is_exact | (often <= 1)).all())


def reduced(results, add, values, reduce):
    """The same for other reductions: numbers may be multiplied, or averaged."""
    made = results[0]
    if reduce in ("add", "sum"):
        is_doubted = depends_on_order(results, add, values)
    else:
        is_doubted = (
            made.dtype in SHORT
            and reduce not in ("amax", "amin")
            and bool((counted(made, add, values) > 1).any())
        )
    return results if is_doubted else ()


def index_reduce(results, dim, index, source, reduce="add", alpha=1, **more):
    def add(to, of):
        return to.index_add_(dim, index, of)

    values = source if alpha == 1 else source * alpha
    return reduced(results, add, values, reduce)


def scatter_reduce(results, dim, index, src, reduce="sum", **more):
    def add(to, of):
        return to.scatter_add_(dim, index, of)

    return reduced(results, add, src, reduce)


def bag_backward(results, indices, **more):
    is_doubted = results[0].dtype in SHORT and (
        indices.unique().numel() < indices.numel()
    )
    return results if is_doubted else ()


def embedding_backward(results, grad_output, indices, padding_idx, **more):
    def add(to, of):
        return to.index_add_(0, indices.reshape(-1), of.flatten(0, -2))

    grad = grad_output.masked_fill((indices == padding_idx).unsqueeze(-1), 0)
    return results if depends_on_order(results, add, grad) else ()


def may_wrap(added):
    """Whether a sum of small integers may wrap around so that it hides an
    unknown one: 256 bytes of 0 have the same sum as 256 bytes of -1."""
    many = added.numel() >= 1 << 8 * added.element_size()
    return many and is_whole(added.dtype) and added.dtype != torch.bool


def span(tensor):
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.strides_there))
    return tensor.address, tensor.address + (last + 1) * tensor.element_size()


def places(tensor):
    """The address of each element."""
    at = torch.tensor(tensor.address)
    for n, stride in zip(tensor.shape, tensor.strides_there):
        step = stride * tensor.element_size()
        at = at.unsqueeze(-1) + torch.arange(n) * step
    return at


def is_folded(tensor):
    """Whether elements share memory, as is possible with as_strided()."""
    reach = 1
    for stride, n in sorted(zip(tensor.strides_there, tensor.shape)):
        if n > 1 and stride < reach:
            return places(tensor).unique().numel() < tensor.numel()
        reach += (n - 1) * stride
    return False


# Operators that compute each element from elements at other places.
ACROSS = SCALING | PRODUCTS | {"masked_scatter_", "mv", "searchsorted"}


def is_in_the_way(written, other, is_across):
    """Whether something that is read is written at another place."""
    a, b = span(written), span(other)
    if b[1] <= a[0] or a[1] <= b[0]:
        return False
    if (
        not is_across
        and written.shape == other.shape
        and written.address == other.address
        and written.strides_there == other.strides_there
    ):
        return False
    return bool(torch.isin(places(other), places(written)).any())


def is_any_in_the_way(values, writes, base):
    """Whether arguments overlap such that the order of reads and writes, which
    is different on a device, matters."""
    tensors = [
        (i, v)
        for i, v in enumerate(values)
        if isinstance(v, torch.Tensor) and v.is_on_device and v.numel()
    ]
    for i, written in tensors:
        if i not in writes:
            continue
        if base not in ONE_NUMBERS and is_folded(written):
            return True
        for j, v in tensors:
            is_across = base in ACROSS and not (j == 0 and base in SCALING)
            if j != i and is_in_the_way(written, v, is_across):
                return True
    return False


def overlap(values, writes):
    """Whether a tensor of a list is written that overlaps with another one."""
    if not any(isinstance(values[i], list) for i in writes):
        return False
    lists = [v for v in values if isinstance(v, list)]
    written = {id(t) for i in writes for t in flat([values[i]])}
    spans = sorted(
        (*span(t), i, id(t) in written)
        for tensors in lists
        for i, t in enumerate(tensors)
        if isinstance(t, torch.Tensor) and t.numel() and t.is_on_device
    )
    return any(
        b[0] < a[1] and a[2] != b[2] and (a[3] or b[3])
        for a, b in zip(spans, spans[1:])
    )


# ---- conversions ----

SHORT = torch.float16, torch.bfloat16


def has_room(of, src):
    """Whether all numbers fit the type. The result for others depends on the
    machine. Bytes are converted from wide integers."""
    if not src.is_floating_point() or not is_whole(of) or of == torch.bool:
        return True
    limits = torch.iinfo(torch.int64 if of == torch.uint8 else of)
    wide = src.double()
    fits = (wide > limits.min - 1.0) | (wide == limits.min)
    fits &= (wide < limits.max + 1.0) & (wide.trunc() <= limits.max)
    return bool(fits.all())


def copy(results, self, src, **more):
    return () if has_room(self.dtype, src) else results


def converted(results, self, **more):
    return () if has_room(results[0].dtype, self) else results


def copy_each(results, self, src, **more):
    for to, of in zip(self, src):
        yield from copy((to,), to, of)


def cumsum(results, self, **more):
    """A device adds 16-bit numbers without widening them, in an order of its
    own."""
    made = results[0]
    if made.dtype not in SHORT:
        return converted(results, self)
    exact = 1 / torch.finfo(made.dtype).eps
    real = made.float()
    is_exact = (real == real.round()) & (real.abs() <= exact)
    return () if is_exact.all() else results


# ---- arithmetic ----


def wide_of(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def quotient(self, other, mode=None):
    """If the divisor is a number on the host, a device multiplies by its
    inverse."""
    made = torch.div(self, other, rounding_mode=mode)
    on_device = getattr(other, "is_on_device", False)
    if on_device or other.numel() > 1 or not made.is_floating_point():
        return made
    if mode == "floor":
        return made
    wide = wide_of(made.dtype)
    product = self.to(made.dtype).to(wide) * (1 / other.to(wide))
    return (product if mode is None else product.trunc()).to(made.dtype)


def divide(self, other, rounding_mode=None, out=None):
    made = quotient(self, other, rounding_mode)
    return (made if out is None else out.resize_(made.shape).copy_(made),)


def divide_by(self, other, rounding_mode=None):
    return (self.copy_(quotient(self, other, rounding_mode)),)


def mean(results, self, dim=None, keepdim=False, **more):
    """A device multiplies the sum by a factor."""
    made = results[0]
    if not made.is_floating_point() or not made.numel():
        return
    wide = wide_of(made.dtype)
    total = self.sum(dim or None, keepdim, dtype=wide)
    factor = torch.tensor(made.numel(), dtype=wide) / self.numel()
    made.copy_((total * factor).reshape(made.shape))


def line(start, step, count):
    """Start plus multiples of step, each computed with a single rounding."""
    start, step = (torch.tensor(n, dtype=torch.float32) for n in (start, step))
    places = torch.arange(count, dtype=torch.float64)
    return (start.double() + step.double() * places).float()


def arange(results, start=0, step=1, **more):
    made = results[0]
    if made.is_floating_point() and made.dtype != torch.float64:
        made.copy_(line(start, step, made.numel()))


def linspace(results, start, end, **more):
    made = results[0]
    count = made.numel()
    is_plain = made.dtype == torch.float32 or is_whole(made.dtype)
    if isinstance(start, torch.Tensor) or isinstance(end, torch.Tensor):
        return
    if count < 2 or not is_plain:
        return
    start, end = (torch.tensor(n).to(made.dtype).float() for n in (start, end))
    step = float((end - start) / (count - 1))
    half = count // 2
    back = line(float(end), -step, count - half).flip(0)
    made.copy_(torch.cat([line(float(start), step, half), back]))


def whole_powers(results, **more):
    """Whether the result has integers: a power may be exactly a whole number,
    or just below it."""
    return results if is_whole(results[0].dtype) else ()


def to_real(results, self, dim, last_dim_size, **more):
    """If the argument is not the transform of real numbers, a device's result
    differs."""
    last, others = dim[-1], list(dim[:-1])
    for place in {0, last_dim_size // 2} if last_dim_size % 2 == 0 else {0}:
        plane = self.narrow(last, place, 1)
        other = plane.flip(others).conj()
        if others:
            other = other.roll([1] * len(others), others)
        if (plane - other).abs().max() > 1e-4 * self.abs().max():
            return results
    return ()


# ---- the tables ----


def vectors(*which):
    """The sign of these vectors is arbitrary."""
    return lambda results, **more: [results[i] for i in which]


DIFFERING = {
    "_embedding_bag_dense_backward": bag_backward,
    "_fft_c2r": to_real,
    "_foreach_copy_": copy_each,
    "_index_put_impl_": index_put,
    "_linalg_eigh": vectors(1),
    "_linalg_svd": vectors(0, 2),
    "arange": arange,
    "copy_": copy,
    "cumprod": converted,
    "cumprod_": converted,
    "cumsum": cumsum,
    "cumsum_": cumsum,
    "embedding_dense_backward": embedding_backward,
    "index_add": index_reduce,
    "index_add_": index_reduce,
    "index_copy": index_copy,
    "index_copy_": index_copy,
    "index_put": index_put,
    "index_put_": index_put,
    "index_reduce": index_reduce,
    "index_reduce_": index_reduce,
    "kthvalue": one_of_equals,
    "linalg_eig": vectors(1),
    "linspace": linspace,
    "logspace": whole_powers,
    "mean": mean,
    "median": one_of_equals,
    "mode": lambda results, **more: results,
    "nanmedian": one_of_equals,
    "nansum": converted,
    "prod": converted,
    "put": put,
    "put_": put,
    "range": arange,
    "scatter": scatter,
    "scatter_": scatter,
    "scatter_add": scatter_reduce,
    "scatter_add_": scatter_reduce,
    "scatter_reduce": scatter_reduce,
    "scatter_reduce_": scatter_reduce,
    "sort": sort,
    "sum": converted,
    "topk": topk,
}
INSTEAD.update({"div": divide, "div_": divide_by})
