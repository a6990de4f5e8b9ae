# SPDX-License-Identifier: MIT
"""Operators that only a device has, computed from operators of a processor.

Run with evaluate.py's globals. Each function takes the arguments under the
schema's names and returns the first results; the others are not known.
"""

import ctypes
import math
import zlib

import torch


# ---- dropout ----


def seed_by(tensor):
    """A drawn seed. It is a function of the tensor, which backward gets, too,
    so that backward has the same seed."""
    draw_seed()
    tensor = tensor.contiguous()
    size = tensor.numel() * tensor.element_size()
    return zlib.crc32(ctypes.string_at(tensor.data_ptr(), size))


# ---- convolutions ----


def convolution(
    self, weight, padding, stride, dilation, groups, bias=None, **more
):
    """A convolution, or a transposed one, which has an output_padding."""
    added = more.get("output_padding")
    out = torch.convolution(
        self,
        weight,
        bias,
        stride,
        padding,
        dilation,
        added is not None,
        added or [0] * len(padding),
        groups,
    )
    return (out,)


def depthwise(self, **named):
    return convolution(self, groups=self.shape[1], **named)


def convolution_relu(**named):
    return (convolution(**named)[0].relu(),)


def convolution_add_relu(z, alpha, **named):
    added = z if alpha is None else alpha * z
    return ((convolution(**named)[0] + added).relu(),)


# ---- sampling of images ----


def grid_sampler(self, grid):
    return (torch.grid_sampler_2d(self, grid, 0, 0, True),)


def grid_sampler_backward(self, grid, grad_output):
    return torch.ops.aten.grid_sampler_2d_backward(
        grad_output, self, grid, 0, 0, True, [True, True]
    )


# ---- norms ----


def batch_norm(input, exponential_average_factor, epsilon, training, **tensors):
    return torch.native_batch_norm(
        input,
        training=training,
        momentum=exponential_average_factor,
        eps=epsilon,
        **tensors,
    )


def batch_norm_backward(
    input, grad_output, save_var, epsilon, reserveSpace, **tensors
):
    return torch.ops.aten.native_batch_norm_backward(
        grad_output,
        input,
        save_invstd=save_var,
        train=True,
        eps=epsilon,
        output_mask=[True, True, True],
        **tensors,
    )


def channels(tensor, like):
    """A vector over channels, shaped to broadcast with `like`."""
    return tensor.reshape(1, -1, *[1] * (like.dim() - 2))


def but_channels(tensor):
    return [d for d in range(tensor.dim()) if d != 1]


def centred(input, mean):
    return input.float() - channels(mean, input)


def scale_of(invstd, weight):
    return invstd if weight is None else invstd * weight.float()


def batch_norm_stats(input, eps):
    real = input.float()
    var = real.var(but_channels(real), correction=0)
    return real.mean(but_channels(real)), (var + eps).rsqrt()


def batch_norm_gather(
    mean, invstd, running_mean, running_var, momentum, eps, counts, **more
):
    """The statistics of all processes; each of them has a row."""
    counts = counts.reshape(-1, 1).float()
    total = counts.sum()
    of_all = (mean * counts).sum(0) / total
    var = invstd**-2 - eps + (mean - of_all) ** 2
    var = (var * counts).sum(0)
    if running_mean is not None:
        running_mean.lerp_(of_all.to(running_mean.dtype), momentum)
    if running_var is not None:
        unbiased = var / (total - 1)
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return of_all, (var / total + eps).rsqrt()


def batch_norm_elemt(input, weight, bias, mean, invstd, eps):
    scale = scale_of(invstd, weight)
    out = centred(input, mean) * channels(scale, input)
    if bias is not None:
        out = out + channels(bias.float(), input)
    return (out.to(input.dtype),)


def batch_norm_reduce(
    grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g
):
    grad, dims = grad_out.float(), but_channels(input)
    by_mean = grad.sum(dims)
    by_var = (grad * centred(input, mean)).sum(dims)
    of = weight.dtype if weight is not None else torch.float32
    return by_mean, by_var, (by_var * invstd).to(of), by_mean.to(of)


def batch_norm_elemt_backward(
    grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, count
):
    total = count.sum()
    by_var = channels(invstd**2 * sum_dy_xmu / total, input)
    grad = grad_out.float() - channels(sum_dy / total, input)
    grad = grad - centred(input, mean) * by_var
    scale = scale_of(invstd, weight)
    return ((grad * channels(scale, input)).to(input.dtype),)


def wide(tensor):
    return tensor.float() if is_short(tensor) else tensor


def is_short(tensor):
    return tensor is not None and tensor.dtype in SHORT


def layer_norm(input, normalized_shape, weight, bias, eps):
    """On a device, the statistics of 16-bit numbers have 32 bits."""
    out, *stats = torch.native_layer_norm(
        wide(input), normalized_shape, wide(weight), wide(bias), eps
    )
    return out.to(input.dtype), *stats


def layer_norm_backward(
    grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
):
    grads = torch.ops.aten.native_layer_norm_backward(
        wide(grad_out),
        wide(input),
        normalized_shape,
        mean,
        rstd,
        wide(weight),
        wide(bias),
        output_mask,
    )
    return [
        g if g is None else g.to(of.dtype)
        for g, of in zip(grads, (input, weight, bias))
    ]


def rms_norm_backward(
    grad_out, input, normalized_shape, rstd, weight, output_mask
):
    grad, normal = grad_out.float(), input.float() * rstd
    scaled = grad if weight is None else grad * weight.float()
    inner = tuple(range(-len(normalized_shape), 0))
    outer = tuple(range(input.dim() - len(normalized_shape)))
    by_input = rstd * (scaled - normal * (scaled * normal).mean(inner, True))
    by_weight = (grad * normal).sum(outer) if outer else grad * normal
    return (
        by_input.to(input.dtype),
        None if weight is None else by_weight.to(weight.dtype),
    )


# ---- softmax of 16-bit numbers, whose results are wider ----


def softmax(function):
    """On a processor, the result has the type of the argument."""

    def computed(self, dim, half_to_float, out=None):
        made = function(self.float() if half_to_float else self, dim, False)
        return (made if out is None else out.resize_(made.shape).copy_(made),)

    return computed


def softmax_backward(function):
    def computed(grad_output, output, dim, input_dtype, **into):
        made = function(grad_output, output, dim, grad_output.dtype)
        made = made.to(DTYPES.get(input_dtype, input_dtype))
        for out in into.values():
            out.resize_(made.shape).copy_(made)
        return (made,)

    return computed


def log_sigmoid_backward(grad_output, self, buffer, grad_input=None):
    """Only a processor receives the buffer that forward kept."""
    made = torch.ops.aten.log_sigmoid_backward(
        grad_output, self, (-self.abs()).exp()
    )
    if grad_input is not None:
        made = grad_input.resize_(made.shape).copy_(made)
    return (made,)


# ---- attention: batch, heads, positions, width ----


# With one of these arguments it is another kind of attention.
OTHER_KINDS = (
    "alibi_slopes",
    "cu_seqlens_k",
    "cu_seqlens_q",
    "cum_seq_k",
    "cum_seq_q",
    "seqlen_k",
    "seqused_k",
    "window_size",
    "window_size_left",
    "window_size_right",
)


def refuse_others(named):
    for name in OTHER_KINDS:
        value = named.get(name)
        is_there = value is not None and (
            value.numel() > 0 if isinstance(value, torch.Tensor) else value >= 0
        )
        if is_there:
            raise ValueError(name)


class Attention:
    def __init__(
        self,
        query,
        key,
        value,
        scale,
        dropout_p,
        bias=None,
        is_causal=False,
        keeps=None,
        **named,
    ):
        refuse_others(named)
        self.type, self.heads = query.dtype, key.shape[1]
        each = query.shape[1] // self.heads
        self.query = query.float()
        self.key = key.float().repeat_interleave(each, 1)
        self.value = value.float().repeat_interleave(each, 1)
        self.scale = scale or 1 / math.sqrt(query.shape[-1])
        scores = self.query @ self.key.mT * self.scale
        if bias is not None and bias.numel():
            scores = scores + bias.float()
        if is_causal:
            if query.shape[2] != key.shape[2]:
                raise ValueError("query and key differ in length")
            later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        self.sums = scores.logsumexp(-1)
        sees_none = (self.sums == -math.inf).unsqueeze(-1)
        self.weights = scores.softmax(-1).masked_fill(sees_none, 0)
        self.kept = 1
        if dropout_p:
            kept = keeps and keeps(scores.shape, dropout_p, named)
            if kept is None:
                drawn = torch.Generator().manual_seed(seed_by(query))
                kept = torch.rand(scores.shape, generator=drawn) >= dropout_p
            self.kept = kept / (1 - dropout_p)

    def forward(self):
        return (self.weights * self.kept @ self.value).to(self.type)

    def backward(self, grad):
        """The gradients of query, key, value and bias."""
        grad = grad.float()
        by_weights = grad @ self.value.mT * self.kept
        mean = (by_weights * self.weights).sum(-1, True)
        by_bias = self.weights * (by_weights - mean)
        by_scores = by_bias * self.scale
        return [
            t.to(self.type)
            for t in (
                by_scores @ self.key,
                self.of_groups(by_scores.mT @ self.query),
                self.of_groups((self.weights * self.kept).mT @ grad),
                by_bias,
            )
        ]

    def of_groups(self, by_head):
        return by_head.unflatten(1, (self.heads, -1)).sum(2)


def swap(*tensors):
    """Exchanges the dimensions of heads and positions."""
    return [t.transpose(1, 2) for t in tensors]


def by_position(query, key, value, **named):
    """For arguments that have positions before heads."""
    return Attention(*swap(query, key, value), **named)


def efficient_of(custom_mask_type, **named):
    return by_position(
        is_causal=custom_mask_type, keeps=efficient_keeps, **named
    )


def efficient(compute_log_sumexp, **named):
    attention = efficient_of(**named)
    sums = attention.sums[..., :0]
    if compute_log_sumexp:
        rest = -attention.sums.shape[-1] % 32
        sums = torch.nn.functional.pad(attention.sums, (0, rest))
    return *swap(attention.forward()), sums


def efficient_backward(grad_out_, **named):
    *by, by_bias = efficient_of(**named).backward(*swap(grad_out_))
    return *swap(*by), by_bias


def flash_of(**named):
    return by_position(keeps=flash_keeps, **named)


def flash(dropout_p, **named):
    attention = flash_of(dropout_p=dropout_p, **named)
    state = rng_state() if dropout_p else None
    return *swap(attention.forward()), attention.sums, state


def flash_backward(grad_out, **named):
    return swap(*flash_of(**named).backward(*swap(grad_out))[:3])


def cudnn_of(attn_bias, **named):
    return Attention(bias=attn_bias, **named)


def cudnn(**named):
    attention = cudnn_of(**named)
    return attention.forward(), attention.sums.unsqueeze(-1)


def cudnn_backward(grad_out, **named):
    return cudnn_of(**named).backward(grad_out)[:3]


# ---- recurrent networks ----


def run_recurrent(input, weight, weight_stride0, hx, cx, named):
    run = (torch.rnn_relu, torch.rnn_tanh, torch.lstm, torch.gru)[named["mode"]]
    drops = named["dropout"] and named["train"]
    rest = (
        hx if cx is None else (hx, cx),
        weight,
        weight_stride0 > 3,
        named["num_layers"],
        named["dropout"] if drops else 0.0,
        bool(drops),
        named["bidirectional"],
    )
    with seeded(seed_by(input) if drops else 0):
        if named["batch_sizes"]:
            return run(input, torch.tensor(named["batch_sizes"]), *rest)
        return run(input, *rest, named["batch_first"])


def recurrent(input, weight, weight_stride0, weight_buf, hx, cx, **named):
    """The reserve space stays unknown, as only the library has it. The weights
    are in their buffer, if there is one."""
    out, *states = run_recurrent(input, weight, weight_stride0, hx, cx, named)
    states += [None] * (2 - len(states))
    return out, *states, None, None if weight_buf is None else KEPT


def recurrent_backward(
    input,
    weight,
    weight_stride0,
    hx,
    cx,
    grad_output,
    grad_hy,
    grad_cy,
    **named,
):
    inputs = [input, hx, *([] if cx is None else [cx]), *weight]
    inputs = [t.detach().requires_grad_() for t in inputs]
    input, hx, *rest = inputs
    cx = None if cx is None else rest.pop(0)
    with torch.enable_grad():
        out = run_recurrent(input, rest, weight_stride0, hx, cx, named)
    given = zip(out, (grad_output, grad_hy, grad_cy))
    out, grads = zip(*(pair for pair in given if pair[1] is not None))
    by_input, by_hx, *by = torch.autograd.grad(
        out, inputs, grads, allow_unused=True
    )
    return by_input, by_hx, None if cx is None else by.pop(0), by


def add_bias(gates, bias):
    return gates if bias is None else gates + bias


def lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias):
    gates = add_bias(input_gates + hidden_gates, input_bias)
    i, f, c, o = add_bias(gates, hidden_bias).chunk(4, 1)
    i, f, c, o = i.sigmoid(), f.sigmoid(), c.tanh(), o.sigmoid()
    cy = f * cx + i * c
    return o * cy.tanh(), cy, torch.cat((i, f, c, o), 1)


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, c, o = workspace.chunk(4, 1)
    by_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    by_cy = by_hy * o * (1 - cy.tanh() ** 2)
    by_cy = by_cy if grad_cy is None else by_cy + grad_cy
    by_gates = torch.cat(
        (
            by_cy * c * i * (1 - i),
            by_cy * cx * f * (1 - f),
            by_cy * i * (1 - c**2),
            by_hy * cy.tanh() * o * (1 - o),
        ),
        1,
    )
    return by_gates, by_cy * f, by_gates.sum(0) if has_bias else None


def gru_cell(input_gates, hidden_gates, hx, input_bias, hidden_bias):
    ir, ii, new = add_bias(input_gates, input_bias).chunk(3, 1)
    hr, hi, hidden = add_bias(hidden_gates, hidden_bias).chunk(3, 1)
    r, i = (ir + hr).sigmoid(), (ii + hi).sigmoid()
    new = (new + r * hidden).tanh()
    return new + i * (hx - new), torch.cat((r, i, new, hx, hidden), 1)


def gru_cell_backward(grad_hy, workspace, has_bias):
    r, i, new, hx, hidden = workspace.chunk(5, 1)
    by_i = grad_hy * (hx - new) * i * (1 - i)
    by_new = grad_hy * (1 - i) * (1 - new**2)
    by_r = by_new * hidden * r * (1 - r)
    by_input = torch.cat((by_r, by_i, by_new), 1)
    by_hidden = torch.cat((by_r, by_i, by_new * r), 1)
    by_bias = [t.sum(0) if has_bias else None for t in (by_input, by_hidden)]
    return by_input, by_hidden, grad_hy * i, *by_bias


# ---- histograms ----


def histc(self, bins=100, min=0, max=0, out=None):
    """On a processor, this exists for floating-point numbers only."""
    if self.is_floating_point():
        return (torch.histc(self, bins, min, max),)
    values, least, most = self.reshape(-1).long(), int(min), int(max)
    if least == most and values.numel():
        least, most = int(values.min()), int(values.max())
    if least == most:
        least, most = least - 1, most + 1
    values = values[(values >= least) & (values <= most)] - least
    places = (values * bins // (most - least)).clamp(max=bins - 1)
    return (torch.bincount(places, minlength=bins).to(self.dtype),)


# ---- the tables ----

INSTEAD = {
    "_conv_depthwise2d": depthwise,
    "_cudnn_attention_backward": cudnn_backward,
    "_cudnn_attention_forward": cudnn,
    "_cudnn_rnn": recurrent,
    "_cudnn_rnn_backward": recurrent_backward,
    "_efficient_attention_backward": efficient_backward,
    "_efficient_attention_forward": efficient,
    "_flash_attention_backward": flash_backward,
    "_flash_attention_forward": flash,
    "_fused_rms_norm_backward": rms_norm_backward,
    "_log_softmax": softmax(torch._log_softmax),
    "_log_softmax_backward_data": softmax_backward(
        torch._log_softmax_backward_data
    ),
    "_scaled_dot_product_cudnn_attention": cudnn,
    "_scaled_dot_product_cudnn_attention_backward": cudnn_backward,
    "_softmax": softmax(torch._softmax),
    "_softmax_backward_data": softmax_backward(torch._softmax_backward_data),
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "batch_norm_backward_elemt": batch_norm_elemt_backward,
    "batch_norm_backward_reduce": batch_norm_reduce,
    "batch_norm_elemt": batch_norm_elemt,
    "batch_norm_gather_stats_with_counts": batch_norm_gather,
    "batch_norm_stats": batch_norm_stats,
    "conv_depthwise3d": depthwise,
    "cudnn_batch_norm": batch_norm,
    "cudnn_batch_norm_backward": batch_norm_backward,
    "cudnn_convolution": convolution,
    "cudnn_convolution_add_relu": convolution_add_relu,
    "cudnn_convolution_relu": convolution_relu,
    "cudnn_convolution_transpose": convolution,
    "cudnn_grid_sampler": grid_sampler,
    "cudnn_grid_sampler_backward": grid_sampler_backward,
    "histc": histc,
    "log_sigmoid_backward": log_sigmoid_backward,
    "native_layer_norm": layer_norm,
    "native_layer_norm_backward": layer_norm_backward,
}
# Arguments that determine what is dropped.
STATE = {"philox_offset", "philox_seed", "rng_state"}
# Arguments that are not read: the state from which a library drew what it
# dropped, which is drawn here instead, and buffers that a library keeps for
# itself.
UNREAD = {
    "buffer",
    "dropout_state",
    "reserve",
    "reserveSpace",
    "unused",
    "weight_buf",
}
