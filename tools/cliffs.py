#!/usr/bin/env python3
"""Ops of every kind, type, size and layout beside XLA's CPU: where stablo is slowest in comparison.

    cliffs.py BIN/stablo [--only PATTERN] [--threads N] [--worst N] [--json FILE]

Needs `pip install jax`. Each case is a function of JAX that is lowered once and runs on both, alone or in a loop of 100 rounds; times are the
best of some runs in memory. `--threads` is for stablo: XLA uses all cores, or the ones that `taskset` leaves both. The table has the cases in which XLA's time is the smallest part of stablo's, and geometric means by family."""

import argparse
import itertools
import json
import math
import pathlib
import re
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

SIZES = (1, 100, 10_000, 1_000_000)
FLOATS = ("float32", "float64", "bfloat16", "float16")
INTEGERS = ("int8", "int32", "int64", "uint32")


class Case:
    """A function and the shapes and types of its arguments; `below` bounds integer arguments, and `value` is that of all floats, if given."""

    def __init__(self, name, function, *arguments, below=100, value=None):
        self.name, self.function, self.arguments, self.below, self.value = name, function, arguments, below, value

    def arrays(self):
        rng = np.random.default_rng(0)
        for shape, dtype in self.arguments:
            dtype = jnp.dtype(dtype)
            if self.value is not None:
                yield np.full(shape, self.value, dtype)
                continue
            if jnp.issubdtype(dtype, jnp.complexfloating):
                yield (rng.uniform(0.1, 0.9, shape) + 1j * rng.uniform(0.1, 0.9, shape)).astype(dtype)
            elif jnp.issubdtype(dtype, jnp.integer):
                yield rng.integers(1, min(self.below, 100 if dtype.itemsize == 1 else self.below), shape).astype(dtype)
            elif dtype == bool:
                yield rng.integers(0, 2, shape).astype(bool)
            else:
                yield np.asarray(rng.uniform(0.1, 0.9, shape)).astype(dtype)


def cases():
    """All cases."""
    unary = {
        "exp": jnp.exp, "log": jnp.log, "log1p": jnp.log1p, "expm1": jnp.expm1, "tanh": jnp.tanh, "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan,
        "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "cbrt": jnp.cbrt, "logistic": lax.logistic, "erf": lax.erf, "erf_inv": lax.erf_inv, "lgamma": lax.lgamma,
        "digamma": lax.digamma, "asin": jnp.arcsin, "atan": jnp.arctan, "asinh": jnp.arcsinh, "floor": jnp.floor, "round": jnp.round, "abs": jnp.abs,
        "sign": jnp.sign, "is_finite": jnp.isfinite, "bessel_i1e": lax.bessel_i1e, "gelu": jax.nn.gelu, "softplus": jax.nn.softplus,
    }  # fmt: skip
    for (name, function), dtype, size in itertools.product(unary.items(), FLOATS, SIZES):
        yield Case(f"unary/{name}/{dtype}/{size}", function, ((size,), dtype))
    binary = {
        "add": jnp.add, "divide": jnp.divide, "power": jnp.power, "atan2": jnp.arctan2, "maximum": jnp.maximum, "remainder": lax.rem, "nextafter": jnp.nextafter,
    }  # fmt: skip
    for (name, function), dtype, size in itertools.product(binary.items(), FLOATS, SIZES):
        if name != "nextafter" or dtype in ("float32", "float64"):
            yield Case(f"binary/{name}/{dtype}/{size}", function, ((size,), dtype), ((size,), dtype))
    integer = {"add": jnp.add, "multiply": jnp.multiply, "divide": lax.div, "remainder": lax.rem, "xor": jnp.bitwise_xor, "shift": lax.shift_right_logical}
    for (name, function), dtype, size in itertools.product(integer.items(), INTEGERS, SIZES):
        yield Case(f"integer/{name}/{dtype}/{size}", function, ((size,), dtype), ((size,), dtype), below=30)
    for name, function in {"popcount": lax.population_count, "clz": lax.clz, "not": jnp.bitwise_not}.items():
        yield Case(f"integer/{name}/int32/1000000", function, ((1_000_000,), "int32"))
    complexes = {"multiply": lambda x: x * x, "divide": lambda x: x / (x + 1), "exp": jnp.exp, "log": jnp.log, "sqrt": jnp.sqrt, "abs": jnp.abs, "tanh": jnp.tanh}
    for (name, function), dtype in itertools.product(complexes.items(), ("complex64", "complex128")):
        yield Case(f"complex/{name}/{dtype}/100000", function, ((100_000,), dtype))
    for power in (2, 3, 0.5, -1, 2.5):
        yield Case(f"power/{power}/1000000", lambda x, p=power: x**p, ((1_000_000,), "float32"))
    for source, target in itertools.permutations((*FLOATS, "int8", "int32", "bool", "float8_e4m3fn"), 2):
        yield Case(f"convert/{source}/{target}", lambda x, t=target: x.astype(t), ((1_000_000,), source))
    yield from reductions()
    yield from movement()
    yield from products()
    yield from others()
    yield from loops()
    yield from inner()
    yield from small()
    yield from in_loops()
    # Numbers that take other ways through functions than most.
    functions = {name: unary[name] for name in ("exp", "log", "log1p", "expm1", "tanh", "sin", "sqrt", "rsqrt", "cbrt", "logistic", "erf", "lgamma", "atan")}
    functions |= {"power": lambda x: x ** jnp.asarray(1.7, x.dtype), "squared": lambda x: x ** jnp.asarray(2.0, x.dtype), "atan2": lambda x: jnp.arctan2(x, x)}
    values = {"zero": 0.0, "one": 1.0, "negative": -1.5, "large": 1e30, "infinite": np.inf, "below": -np.inf, "nan": np.nan, "tiny": 1e-16}
    for (name, function), (label, value), dtype in itertools.product(functions.items(), values.items(), ("float32", "float64", "bfloat16")):
        yield Case(f"values/{name}/{label}/{dtype}", function, ((10_000,), dtype), value=value)
    for name, function in functions.items():
        yield Case(f"values/{name}/subnormal/float32", function, ((10_000,), "float32"), value=1e-40)
        yield Case(f"values/{name}/subnormal/float64", function, ((10_000,), "float64"), value=1e-310)


def reductions():
    """Sums and other folds, cumulative ones, windows, and orders."""
    folds = {"sum": jnp.sum, "max": jnp.max, "prod": jnp.prod, "mean": jnp.mean, "var": jnp.var, "argmax": jnp.argmax, "logsumexp": jax.nn.logsumexp}
    shapes = {(1_000_000,): (None,), (1000, 1000): (0, 1), (100_000, 8): (0, 1), (8, 100_000): (0, 1), (100, 10, 1000): (0, 1, 2), (32, 16, 16, 16): ((0, 1, 2),)}
    for (name, function), (shape, axes) in itertools.product(folds.items(), shapes.items()):
        for axis in axes:
            if name != "argmax" or not isinstance(axis, tuple):
                yield Case(f"reduce/{name}/{shape}/{axis}", lambda x, f=function, a=axis: f(x, axis=a), (shape, "float32"))
    for dtype in ("float64", "bfloat16", "float16", "int32", "int8"):
        yield Case(f"reduce/sum/{dtype}", lambda x: x.sum(1), ((1000, 1000), dtype))
    yield Case("reduce/any", lambda x: x.any(1), ((1000, 1000), "bool"))
    for name, function in {"cumsum": jnp.cumsum, "cumprod": jnp.cumprod, "cummax": lambda x, axis: lax.cummax(x, axis=axis)}.items():
        for axis in (0, 1):
            yield Case(f"cumulative/{name}/{axis}", lambda x, f=function, a=axis: f(x, axis=a), ((1000, 1000), "float32"))
    for size, stride in ((2, 2), (3, 1), (3, 2)):
        for layout, dims in {"last": (1, size, size, 1), "first": (1, 1, size, size)}.items():
            strides = tuple(stride if d > 1 else 1 for d in dims)
            pool = lambda x, d=dims, s=strides: lax.reduce_window(x, -jnp.inf, lax.max, d, s, "SAME")
            shape = (4, 56, 56, 64) if layout == "last" else (4, 64, 56, 56)
            yield Case(f"window/max/{size}/{stride}/{layout}", pool, (shape, "float32"))
            gradient = jax.grad(lambda x, p=pool: p(x).sum())
            yield Case(f"window/max_gradient/{size}/{stride}/{layout}", gradient, (shape, "float32"))
            mean = lambda x, d=dims, s=strides: lax.reduce_window(x, 0.0, lax.add, d, s, "SAME")
            yield Case(f"window/sum/{size}/{stride}/{layout}", mean, (shape, "float32"))
    for size in (100, 10_000, 1_000_000):
        yield Case(f"order/sort/{size}", jnp.sort, ((size,), "float32"))
        yield Case(f"order/argsort/{size}", jnp.argsort, ((size,), "float32"))
    yield Case("order/sort_rows", lambda x: jnp.sort(x, axis=1), ((1000, 100), "float32"))
    yield Case("order/sort_columns", lambda x: jnp.sort(x, axis=0), ((1000, 100), "float32"))
    yield Case("order/top_k", lambda x: lax.top_k(x, 10), ((100, 10_000), "float32"))
    yield Case("order/median", jnp.median, ((100_000,), "float32"))


def movement():
    """Movement of data: whole, in parts, and by indices."""
    square = ((1000, 1000), "float32")
    for name, function, *arguments in (
        ("transpose", lambda x: x.T, square),
        ("transpose_021", lambda x: x.transpose(0, 2, 1), ((100, 100, 100), "float32")),
        ("transpose_210", lambda x: x.transpose(2, 1, 0), ((100, 100, 100), "float32")),
        ("transpose_0213", lambda x: x.transpose(0, 2, 1, 3), ((8, 128, 12, 64), "float32")),
        ("transpose_int8", lambda x: x.T, ((1000, 1000), "int8")),
        ("reverse", lambda x: x[:, ::-1], square),
        ("stride", lambda x: x[::2, ::3], square),
        ("pad", lambda x: jnp.pad(x, 3), square),
        ("pad_interior", lambda x: lax.pad(x, jnp.float32(0), ((0, 0, 1), (0, 0, 1))), square),
        ("broadcast_rows", lambda x: jnp.broadcast_to(x[None], (1000, 1000)) + 0, ((1000,), "float32")),
        ("broadcast_columns", lambda x: jnp.broadcast_to(x[:, None], (1000, 1000)) + 0, ((1000,), "float32")),
        ("concatenate_0", lambda x: jnp.concatenate((x, x)), square),
        ("concatenate_1", lambda x: jnp.concatenate((x, x), 1), square),
        ("stack_last", lambda x: jnp.stack((x, x), -1), square),
        ("roll", lambda x: jnp.roll(x, 7, 1), square),
        ("tile", lambda x: jnp.tile(x, (1, 3)), square),
        ("repeat", lambda x: jnp.repeat(x, 3, 1), square),
        ("triangle", jnp.tril, square),
        ("diagonal", jnp.diag, square),
        ("where", lambda x: jnp.where(x > 0.5, x, 0), square),
        ("iota", lambda x: jnp.arange(1_000_000) + x, ((), "int64")),
        ("one_hot", lambda i: jax.nn.one_hot(i, 1000), ((1000,), "int32")),
    ):
        yield Case(f"movement/{name}", function, *arguments)
    for size in (1000, 1_000_000):
        array, indices = ((size,), "float32"), ((size,), "int32")
        yield Case(f"indices/gather/{size}", lambda x, i: x[i], array, indices, below=size)
        yield Case(f"indices/scatter_add/{size}", lambda x, i: x.at[i].add(1.0), array, indices, below=size)
        yield Case(f"indices/scatter_set/{size}", lambda x, i: x.at[i].set(1.0), array, indices, below=size)
        yield Case(f"indices/scatter_max/{size}", lambda x, i: x.at[i].max(0.5), array, indices, below=size)
    rows, indices = ((10_000, 64), "float32"), ((4096,), "int32")
    yield Case("indices/gather_rows", lambda x, i: x[i], rows, indices, below=10_000)
    yield Case("indices/gather_columns", lambda x, i: x[:, i], ((64, 10_000), "float32"), indices, below=10_000)
    yield Case("indices/scatter_add_rows", lambda x, i: x.at[i].add(1.0), rows, indices, below=10_000)
    yield Case("indices/segment_sum", lambda x, i: jax.ops.segment_sum(x[:4096], i, 100), rows, indices)
    yield Case("indices/take_along", lambda x, i: jnp.take_along_axis(x, i, 1), ((1000, 100), "float32"), ((1000, 10), "int32"))
    yield Case("indices/dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i), (500, 500)), ((1000, 1000), "float32"), ((), "int32"))
    yield Case("indices/update_slice", lambda x, i: lax.dynamic_update_slice(x, x[:10], (i, i)), ((1000, 1000), "float32"), ((), "int32"))
    yield Case("indices/searchsorted", lambda x, y: jnp.searchsorted(jnp.sort(x), y), ((10_000,), "float32"), ((10_000,), "float32"))


def products():
    """Products of matrices, convolutions, transforms and decompositions."""
    for m, k, n in ((64, 64, 64), (512, 512, 512), (1, 1024, 1024), (1024, 1024, 1), (1000, 3, 1000), (3, 1000, 3), (128, 768, 3072), (33, 65, 129)):
        for a, b in itertools.product("nt", repeat=2):
            left, right = ((m, k) if a == "n" else (k, m)), ((k, n) if b == "n" else (n, k))
            function = lambda x, y, a=a, b=b: (x if a == "n" else x.T) @ (y if b == "n" else y.T)
            yield Case(f"dot/{m}x{k}x{n}/{a}{b}", function, (left, "float32"), (right, "float32"))
    for dtype in ("float64", "bfloat16", "float16", "int32", "int8", "complex64"):
        yield Case(f"dot/256/{dtype}", lambda x, y: lax.dot(x, y), ((256, 256), dtype), ((256, 256), dtype))
    for count, m, k, n in ((64, 24, 24, 8), (512, 3, 3, 3), (512, 4, 4, 1), (96, 64, 64, 64), (96, 1, 64, 128), (32, 128, 64, 128), (1000, 8, 8, 8)):
        yield Case(f"batched/{count}x{m}x{k}x{n}", jnp.matmul, ((count, m, k), "float32"), ((count, k, n), "float32"))
        yield Case(f"batched_t/{count}x{m}x{k}x{n}", lambda x, y: jnp.einsum("bmk,bnk->bmn", x, y), ((count, m, k), "float32"), ((count, n, k), "float32"))
    yield Case("attention/prefill", lambda q, k: jnp.einsum("bthd,bshd->bhts", q, k), ((4, 128, 8, 64), "float32"), ((4, 128, 8, 64), "float32"))
    yield Case("attention/decode", lambda q, k: jnp.einsum("bhd,bshd->bhs", q, k), ((4, 8, 64), "float32"), ((4, 512, 8, 64), "float32"))
    for layout, (size, features, outputs, taps, stride, groups) in itertools.product(("NHWC", "NCHW"), (
        (56, 64, 64, 3, 1, 1), (7, 512, 512, 3, 1, 1), (224, 3, 64, 7, 2, 1), (56, 144, 144, 3, 1, 144), (28, 128, 256, 1, 1, 1), (28, 128, 128, 3, 2, 4), (16, 3, 16, 3, 1, 1),
    )):  # fmt: skip
        image = (1, size, size, features) if layout == "NHWC" else (1, features, size, size)
        kernel = (taps, taps, features // groups, outputs) if layout == "NHWC" else (outputs, features // groups, taps, taps)
        numbers = (layout, "HWIO" if layout == "NHWC" else "OIHW", layout)
        convolve = lambda x, k, n=numbers, s=stride, g=groups: lax.conv_general_dilated(x, k, (s, s), "SAME", dimension_numbers=n, feature_group_count=g)
        name = f"{layout}/{size}x{features}x{outputs}/{taps}/{stride}/{groups}"
        yield Case(f"convolution/{name}", convolve, (image, "float32"), (kernel, "float32"))
        for number, side in enumerate(("input", "kernel")):
            gradient = jax.grad(lambda x, k, c=convolve: c(x, k).sum(), argnums=number)
            yield Case(f"convolution_gradient/{side}/{name}", gradient, (image, "float32"), (kernel, "float32"))
    yield Case("convolution/1d", lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), ((8, 1000, 64), "float32"), ((5, 64, 64), "float32"))
    yield Case("convolution/3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), ((1, 16, 16, 16, 32), "float32"), ((3, 3, 3, 32, 32), "float32"))
    yield Case("convolution/transposed", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), ((1, 28, 28, 64), "float32"), ((4, 4, 64, 32), "float32"))
    yield Case("convolution/dilated", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")), ((1, 56, 56, 64), "float32"), ((3, 3, 64, 64), "float32"))


def others():
    """Transforms, decompositions and random numbers."""
    for size in (64, 1000, 65_536):
        yield Case(f"fft/{size}", jnp.fft.fft, ((64, size) if size < 65_536 else (size,), "complex64"))
    yield Case("fft/2d", jnp.fft.fft2, ((256, 256), "complex64"))
    yield Case("fft/real", jnp.fft.rfft, ((64, 1024), "float32"))
    spd = lambda x: x @ x.T + 9 * jnp.eye(x.shape[0], dtype=x.dtype)
    for size in (8, 200):
        yield Case(f"linalg/cholesky/{size}", lambda x: jnp.linalg.cholesky(spd(x)), ((size, size), "float32"))
        yield Case(f"linalg/solve/{size}", lambda x: jnp.linalg.solve(spd(x), x), ((size, size), "float32"))
        yield Case(f"linalg/qr/{size}", lambda x: jnp.linalg.qr(x), ((size, size), "float32"))
        yield Case(f"linalg/eigh/{size}", lambda x: jnp.linalg.eigh(spd(x)), ((size, size), "float32"))
        yield Case(f"linalg/svd/{size}", lambda x: jnp.linalg.svd(x), ((size, size), "float32"))
    yield Case("linalg/cholesky_batched", lambda x: jnp.linalg.cholesky(jnp.einsum("bij,bkj->bik", x, x) + 9 * jnp.eye(8)), ((100, 8, 8), "float32"))
    for name, function in {"uniform": jax.random.uniform, "normal": jax.random.normal, "bits": jax.random.bits}.items():
        yield Case(f"random/{name}", lambda k, f=function: f(jax.random.wrap_key_data(k), (1_000_000,)), ((2,), "uint32"))
    yield Case("random/permutation", lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 10_000), ((2,), "uint32"))
    yield Case("random/categorical", lambda k, x: jax.random.categorical(jax.random.wrap_key_data(k), x), ((2,), "uint32"), ((100, 1000), "float32"))


def loops():
    """Loops of 100 rounds over small and large values."""
    bodies = {
        "tanh": lambda x: jnp.tanh(x) + 0.1, "sum": lambda x: x + x.sum() * 1e-9, "roll": lambda x: jnp.roll(x, 1), "sort": jnp.sort, "cumsum": lambda x: jnp.cumsum(x) * 1e-3,
        "gather": lambda x: x[jnp.arange(x.shape[0])[::-1]] + 0.1, "update": lambda x: x.at[3].set(x[2] + 1), "where": lambda x: jnp.where(x > 0.5, x * 0.9, x + 0.1),
        "dot": lambda x: jnp.outer(x[:8], x[:8]).sum() * 1e-9 + x, "argmax": lambda x: x.at[jnp.argmax(x)].add(-0.1), "stencil": lambda x: 0.5 * x + 0.25 * (jnp.roll(x, 1) + jnp.roll(x, -1)),
        "cond": lambda x: lax.cond(x[0] > 0.5, lambda y: y * 0.9, lambda y: y + 0.1, x),
    }  # fmt: skip
    for (name, body), size in itertools.product(bodies.items(), (16, 1000, 100_000)):
        yield Case(f"loop/{name}/{size}", lambda x, b=body: lax.fori_loop(0, 100, lambda _, y: b(y), x), ((size,), "float32"))
    for hidden in (8, 128):
        scan = lambda x, w, h: lax.scan(lambda h, x: (lambda n: (n, n))(jnp.tanh(x + h @ w)), h, x)[1]
        yield Case(f"loop/scan/{hidden}", scan, ((100, 4, hidden), "float32"), ((hidden, hidden), "float32"), ((4, hidden), "float32"))


def inner():
    """Arrays whose inner dimension is small, in every operation that has an order of loops, and other types than f32."""
    for k in (2, 3, 5, 7, 17, 33):
        n = 500_000 // k
        rows = ((n, k), "float32")
        for name, function, *arguments in (
            ("sum", lambda x: x.sum(1), rows),
            ("max", lambda x: x.max(1), rows),
            ("sum_0", lambda x: x.sum(0), rows),
            ("max_0", lambda x: x.max(0), rows),
            ("argmax", lambda x: x.argmax(1), rows),
            ("argmax_0", lambda x: x.argmax(0), rows),
            ("norm", lambda x: jnp.sqrt((x * x).sum(1)), rows),
            ("normalize", lambda x: x / jnp.sqrt((x * x).sum(1, keepdims=True)), rows),
            ("softmax", lambda x: jax.nn.softmax(x, 1), rows),
            ("logsumexp_0", lambda x: jax.nn.logsumexp(x, 0), rows),
            ("cumsum", lambda x: jnp.cumsum(x, 1), rows),
            ("cumsum_0", lambda x: jnp.cumsum(x, 0), rows),
            ("cummax_0", lambda x: lax.cummax(x, axis=0), rows),
            ("sort", lambda x: jnp.sort(x, 1), rows),
            ("argsort", lambda x: jnp.argsort(x, 1), rows),
            ("top_k", lambda x: lax.top_k(x, 2), rows),
            ("transpose", lambda x: x.T + 0, rows),
            ("transpose_back", lambda x: x.T + 0, ((k, n), "float32")),
            ("transpose_102", lambda x: x.transpose(1, 0, 2), ((1000, n // 1000, k), "float32")),
            ("transpose_021", lambda x: x.transpose(0, 2, 1), ((n // 100, 100, k), "float32")),
            ("transpose_021_back", lambda x: x.transpose(0, 2, 1), ((n // 100, k, 100), "float32")),
            ("add_transposed", lambda x, y: x.T + y, ((k, n), "float32"), rows),
            ("scale_rows", lambda x, y: x * y[:, None], rows, ((n,), "float32")),
            ("scale_columns", lambda x, y: x * y[None], rows, ((k,), "float32")),
            ("outer", lambda x, y: x[:, :, None] * y[:, None, :], ((n // k, k), "float32"), ((n // k, k), "float32")),
            ("tanh_scaled", lambda x, y: jnp.tanh(x) * y[:, None] + y[:k], rows, ((n,), "float32")),
            ("concatenate", lambda x: jnp.concatenate((x, x + 1), 1), rows),
            ("stack", lambda x: jnp.stack([x[:, i] * 2 for i in range(k)], 1), rows),
            ("column", lambda x: x[:, k // 2] + 0, rows),
            ("slice", lambda x: x[:, 1:] + 0, rows),
            ("reverse", lambda x: x[:, ::-1], rows),
            ("roll", lambda x: jnp.roll(x, 1, 1), rows),
            ("pad", lambda x: jnp.pad(x, ((0, 0), (1, 1))), rows),
            ("pad_interior", lambda x: lax.pad(x, jnp.float32(0), ((0, 0, 0), (0, 0, 1))), rows),
            ("repeat", lambda x: jnp.repeat(x, 3, 1), rows),
            ("broadcast", lambda x: jnp.broadcast_to(x[:, None], (n, k)) + 0, ((n,), "float32")),
            ("gather", lambda x, i: x[i], rows, ((n // 4,), "int32")),
            ("gather_columns", lambda x, i: x[:, i], rows, ((k,), "int32")),
            ("take_along", lambda x, i: jnp.take_along_axis(x, i, 1), rows, ((n, 1), "int32")),
            ("scatter_add", lambda x, i, y: x.at[i].add(y), rows, ((n // 4,), "int32"), ((n // 4, k), "float32")),
            ("scatter_set", lambda x, i, y: x.at[i].set(y), rows, ((n // 4,), "int32"), ((n // 4, k), "float32")),
            ("update_column", lambda x, y: x.at[:, k // 2].set(y), rows, ((n,), "float32")),
            ("one_hot", lambda i: jax.nn.one_hot(i, k), ((n,), "int32")),
            ("cross_entropy", lambda x, i: -jnp.take_along_axis(jax.nn.log_softmax(x, 1), i[:, None], 1).mean(), rows, ((n,), "int32")),
            ("product", lambda x, y: x @ y, rows, ((k, k), "float32")),
            ("product_t", lambda x, y: x.T @ y, rows, rows),
            ("batched", jnp.matmul, ((n // k // 4, k, k), "float32"), ((n // k // 4, k, k), "float32")),
            ("batched_vector", lambda x, y: jnp.einsum("bij,bj->bi", x, y), ((n // k, k, k), "float32"), ((n // k, k), "float32")),
            ("batched_f64", jnp.matmul, ((n // k // 4, k, k), "float64"), ((n // k // 4, k, k), "float64")),
            ("distances", lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1), ((500, k), "float32"), ((500, k), "float32")),
            ("covariance", lambda x: jnp.cov(x.T), ((n // 10, k), "float32")),
            ("window_sum", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 1), "SAME"), rows),
            ("window_max_0", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 1), (1, 1), "SAME"), rows),
            ("fft", jnp.fft.fft, ((n // 4, k), "complex64")),
            ("pairs", lambda x: x[:, 0] * x[:, 1] - x[:, 1] * x[:, -1], rows),
        ):
            below = {"gather": n, "scatter_add": n, "scatter_set": n}.get(name, k)
            yield Case(f"inner/{name}/{k}", function, *arguments, below=max(below, 2))
    for dtype in ("float64", "bfloat16", "float16", "int8", "int32", "int64", "bool", "complex64"):
        n, k = 100_000, 5
        rows, square = ((n, k), dtype), ((700, 700), dtype)
        ordered = dtype != "complex64"
        for name, function, *arguments in (
            ("sum", lambda x: x.sum(1), rows),
            ("sum_0", lambda x: x.sum(0), rows),
            ("sum_rows", lambda x: x.sum(1), square),
            ("sum_columns", lambda x: x.sum(0), square),
            ("sum_all", lambda x: x.sum(), square),
            *((
                ("max", lambda x: x.max(1), rows),
                ("max_all", lambda x: x.max(), square),
                ("max_columns", lambda x: x.max(0), square),
                ("argmax", lambda x: x.argmax(1), rows),
                ("argmax_rows", lambda x: x.argmax(1), square),
                ("argmax_columns", lambda x: x.argmax(0), square),
                ("sort_rows", lambda x: jnp.sort(x, 1), square),
                ("sort_columns", lambda x: jnp.sort(x, 0), square),
                ("sort", lambda x: jnp.sort(x, 1), rows),
                ("cummax", lambda x: lax.cummax(x, axis=0), square),
                ("clamp", lambda x: jnp.clip(x, x[0, 0], x[1, 1]), square),
            ) if ordered and dtype != "bool" else ()),
            *((
                ("cumsum", lambda x: jnp.cumsum(x, 1), square),
                ("cumsum_0", lambda x: jnp.cumsum(x, 0), square),
                ("window_sum", lambda x: lax.reduce_window(x, x[0, 0] * 0, lax.add, (3, 3), (1, 1), "SAME"), square),
                ("product", lambda x: lax.dot(x[:300, :300], x[:300, :300]), square),
                ("convolution", lambda x: lax.conv_general_dilated(x[None, None, :100, :100], x[:9, :9].reshape(9, 1, 3, 3), (1, 1), "SAME"), square),
                ("scale_rows", lambda x: x * x[:, :1], square),
                ("power", lambda x: lax.integer_pow(x, 3), square),
            ) if dtype != "bool" else ()),
            *((("prod_rows", lambda x: x.prod(1), square),) if dtype != "bool" else (("all", lambda x: x.all(1), square), ("any_0", lambda x: x.any(0), square), ("any_5", lambda x: x.any(1), rows))),
            ("transpose", lambda x: x.T, square),
            ("transpose_rows", lambda x: x.T, rows),
            ("concatenate", lambda x: jnp.concatenate((x, x), 1), rows),
            ("pad", lambda x: jnp.pad(x, 1), square),
            ("pad_interior", lambda x: lax.pad(x, x[0, 0], ((0, 0, 1), (0, 0, 1))), square),
            ("reverse", lambda x: x[:, ::-1], square),
            ("stride", lambda x: x[::2, ::3], square),
            ("roll", lambda x: jnp.roll(x, 3, 1), square),
            ("where", lambda x: jnp.where(x == x[:, :1], x, x[:1]), square),
            ("equal", lambda x: x == x[::-1], square),
            ("broadcast", lambda x: jnp.broadcast_to(x[:, :1], (700, 700)), square),
            ("tril", jnp.tril, square),
            ("gather", lambda x, i: x.reshape(-1)[i], square, ((100_000,), "int32")),
            ("scatter_set", lambda x, i: x.reshape(-1).at[i].set(x[0, 0]), square, ((100_000,), "int32")),
            ("gather_rows", lambda x, i: x[i % 700], square, ((1000,), "int32")),
            ("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i), (300, 300)), square, ((), "int32")),
            ("update_slice", lambda x, i: lax.dynamic_update_slice(x, x[:10, :10], (i, i)), square, ((), "int32")),
            ("as_f32", lambda x: x.real.astype("float32"), square),
        ):
            yield Case(f"type/{name}/{dtype}", function, *arguments, below=100_000 if name in ("gather", "scatter_set") else 100)
    for dtype in ("complex64", "complex128"):
        for name, function in {"real": jnp.real, "conj": jnp.conj, "angle": jnp.angle, "power": lambda x: x**x, "sin": jnp.sin, "log1p": jnp.log1p, "rsqrt": lax.rsqrt, "sum": jnp.sum, "prod_rows": lambda x: x.reshape(-1, 10).prod(1)}.items():
            yield Case(f"complex/{name}/{dtype}/100000", function, ((100_000,), dtype))
    for size, dtype in itertools.product((7, 12, 45, 60, 97, 100, 101, 128, 360, 1021, 4096), ("complex64", "complex128")):
        yield Case(f"fft/{size}/{dtype}", jnp.fft.fft, ((100_000 // size, size), dtype))
    for name, function, *arguments in (
        ("irfft", lambda x: jnp.fft.irfft(x), ((64, 513), "complex64")),
        ("columns", lambda x: jnp.fft.fft(x, axis=0), ((256, 256), "complex64")),
        ("3d", jnp.fft.fftn, ((32, 32, 32), "complex64")),
        ("real_2d", jnp.fft.rfft2, ((256, 256), "float32")),
        ("real_f64", jnp.fft.rfft, ((64, 1000), "float64")),
    ):
        yield Case(f"fft/{name}", function, *arguments)


def small():
    """Many small problems, windows and convolutions of unusual shapes, and ops that programs use rarely."""
    for k, dtype in itertools.product((2, 3, 4, 6, 16), ("float32", "float64")):
        matrices, vectors = ((1000, k, k), dtype), ((1000, k), dtype)
        spd = lambda x: jnp.einsum("bij,bkj->bik", x, x) + 9 * jnp.eye(x.shape[1], dtype=x.dtype)
        for name, function, *arguments in (
            ("inverse", lambda x: jnp.linalg.inv(spd(x)), matrices),
            ("determinant", lambda x: jnp.linalg.det(spd(x)), matrices),
            ("solve", lambda x, y: jnp.linalg.solve(spd(x), y[..., None]), matrices, vectors),
            ("cholesky", lambda x: jnp.linalg.cholesky(spd(x)), matrices),
            ("triangular", lambda x, y: lax.linalg.triangular_solve(spd(x), y[..., None], left_side=True, lower=True), matrices, vectors),
            ("qr", lambda x: jnp.linalg.qr(x), matrices),
            ("eigh", lambda x: jnp.linalg.eigh(spd(x)), matrices),
            ("svd", lambda x: jnp.linalg.svd(x), matrices),
        ):
            yield Case(f"batch/{name}/{k}/{dtype}", function, *arguments)
    for size, dtype in itertools.product((50, 100, 300, 600), ("float32", "float64")):
        spd = lambda x: x @ x.T + 9 * jnp.eye(x.shape[0], dtype=x.dtype)
        matrix = ((size, size), dtype)
        yield Case(f"linalg/cholesky/{size}/{dtype}", lambda x: jnp.linalg.cholesky(spd(x)), matrix)
        yield Case(f"linalg/triangular/{size}/{dtype}", lambda x: lax.linalg.triangular_solve(x, x, left_side=True, lower=True), matrix)
        yield Case(f"linalg/triangular_right/{size}/{dtype}", lambda x: lax.linalg.triangular_solve(x, x, left_side=False, lower=False), matrix)
        yield Case(f"linalg/triangular_vector/{size}/{dtype}", lambda x: lax.linalg.triangular_solve(x, x[:, :1], left_side=True, lower=True), matrix)
        yield Case(f"linalg/solve/{size}/{dtype}", lambda x: jnp.linalg.solve(spd(x), x), matrix)
        yield Case(f"linalg/lu/{size}/{dtype}", lambda x: jax.scipy.linalg.lu_factor(x)[0], matrix)
        yield Case(f"linalg/qr/{size}/{dtype}", lambda x: jnp.linalg.qr(x), matrix)
        if size <= 300:
            yield Case(f"linalg/eigh/{size}/{dtype}", lambda x: jnp.linalg.eigh(spd(x)), matrix)
            yield Case(f"linalg/svd/{size}/{dtype}", lambda x: jnp.linalg.svd(x), matrix)
            yield Case(f"linalg/eig/{size}/{dtype}", lambda x: jnp.linalg.eig(x), matrix)
    for name, function, *arguments in (
        ("1d_one", lambda x, k: jnp.convolve(x, k, "same"), ((100_000,), "float32"), ((17,), "float32")),
        ("1d_long", lambda x, k: jnp.convolve(x, k, "same"), ((10_000,), "float32"), ((1000,), "float32")),
        ("1d_depthwise", lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=65), ((4, 1000, 65), "float32"), ((5, 1, 65), "float32")),
        ("causal", lambda x, k: lax.conv_general_dilated(x, k, (1,), ((3, 0),), dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=64), ((4, 1000, 64), "float32"), ((4, 1, 64), "float32")),
        ("images_small", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((64, 3, 8, 8), "float32"), ((5, 3, 3, 3), "float32")),
        ("one_channel", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((1, 1, 500, 500), "float32"), ((1, 1, 5, 5), "float32")),
        ("mnist", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((64, 28, 28, 1), "float32"), ((3, 3, 1, 32), "float32")),
        ("strided_kernel", lambda x, k: lax.conv_general_dilated(x, k, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")), ((4, 64, 64, 3), "float32"), ((4, 4, 3, 96), "float32")),
        ("odd", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((2, 17, 33, 31), "float32"), ((7, 17, 3, 5), "float32")),
        ("batch_groups", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", batch_group_count=4), ((8, 8, 16, 16), "float32"), ((16, 8, 3, 3), "float32")),
        ("depthwise_multiplied", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=16), ((1, 56, 56, 16), "float32"), ((3, 3, 1, 48), "float32")),
        ("f64", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((1, 16, 32, 32), "float64"), ((16, 16, 3, 3), "float64")),
        ("bf16", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((1, 16, 32, 32), "bfloat16"), ((16, 16, 3, 3), "bfloat16")),
        ("int32", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((1, 16, 32, 32), "int32"), ((16, 16, 3, 3), "int32")),
        ("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME"), ((1, 8, 32, 32), "float32")),
    ):
        yield Case(f"convolution/{name}", function, *arguments)
    line, plane = ((100_000,), "float32"), ((300, 300), "float32")
    window = lambda initial, fold, dims, strides=None, **more: lambda x: lax.reduce_window(x, initial, fold, dims, strides or (1,) * len(dims), "SAME", **more)
    for name, function, *arguments in (
        ("max_1d", window(-jnp.inf, lax.max, (5,)), line),
        ("max_1d_long", window(-jnp.inf, lax.max, (101,)), line),
        ("sum_1d_long", window(0.0, lax.add, (101,)), line),
        ("sum_1d_strided", window(0.0, lax.add, (7,), (7,)), line),
        ("min_rows", window(jnp.inf, lax.min, (5, 1)), plane),
        ("product", window(1.0, lax.mul, (3, 3)), plane),
        ("sum_7", window(0.0, lax.add, (7, 7)), plane),
        ("max_11", window(-jnp.inf, lax.max, (11, 11)), plane),
        ("dilated", window(0.0, lax.add, (3, 3), window_dilation=(2, 2)), plane),
        ("holes", window(0.0, lax.add, (3, 3), base_dilation=(2, 2)), plane),
        ("3d", window(-jnp.inf, lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1)), ((2, 16, 16, 16, 17), "float32")),
        ("and", window(True, lax.bitwise_and, (3, 3)), ((300, 300), "bool")),
        ("int32", window(jnp.int32(0), lax.add, (3, 3)), ((300, 300), "int32")),
        ("gradient_1d", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3,), (2,), "SAME").sum()), line),
        ("gradient_overlapping", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME").sum()), plane),
        ("sum_gradient", jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (3, 3), (2, 2), "SAME") ** 2).sum()), plane),
    ):
        yield Case(f"window/{name}", function, *arguments)
    for name, function, *arguments in (
        ("fold", lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * 0.5, (1,)), plane),
        ("fold_0", lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * 0.5, (0,)), plane),
        ("two", lambda x: lax.reduce((x, x * 2), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (1,)), plane),
        ("xor", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_xor, (1,)), ((300, 300), "int32")),
        ("middle", lambda x: x.sum(1), ((100, 30, 17), "float32")),
        ("middle_max", lambda x: x.max(1), ((100, 30, 17), "float32")),
        ("outer_and_inner", lambda x: x.sum((0, 2)), ((100, 30, 17), "float32")),
        ("outer_and_inner_4d", lambda x: x.sum((0, 2, 3)), ((8, 16, 28, 28), "float32")),
        ("inner_two", lambda x: x.sum((2, 3)), ((8, 160, 7, 7), "float32")),
        ("inner_two_max", lambda x: x.max((2, 3)), ((8, 160, 7, 7), "float32")),
        ("means", lambda x: x - x.mean((1, 2), keepdims=True), ((8, 28, 28, 17), "float32")),
        ("median_rows", lambda x: jnp.median(x, 1), plane),
        ("quantile", lambda x: jnp.quantile(x, 0.3, axis=0), plane),
        ("unique_counts", lambda x: jnp.bincount(x, length=100), ((100_000,), "int32")),
        ("histogram", lambda x: jnp.histogram(x, 20, (0, 1))[0], line),
        ("interpolate", lambda x, y: jnp.interp(x, jnp.linspace(0, 1, 1000), y), line, ((1000,), "float32")),
        ("polynomial", lambda x: jnp.polyval(jnp.arange(10.0, dtype="float32"), x), line),
        ("lexsort", lambda x, y: jnp.lexsort((x, y)), line, line),
        ("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=1), line, line),
        ("sort_two_keys", lambda x, y: lax.sort((x, y), num_keys=2), ((100_000,), "int32"), line),
        ("sort_descending", lambda x: -jnp.sort(-x), line),
        ("sort_int32", jnp.sort, ((100_000,), "int32")),
        ("sort_f64", jnp.sort, ((100_000,), "float64")),
        ("sort_bf16", jnp.sort, ((100_000,), "bfloat16")),
        ("top_1", lambda x: lax.top_k(x, 1), plane),
        ("top_100", lambda x: lax.top_k(x, 100), line),
        ("bits", lambda x: lax.bitcast_convert_type(x, "int32"), line),
        ("bits_narrow", lambda x: lax.bitcast_convert_type(x, "int8"), line),
        ("reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), line),
        ("round_away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), line),
        ("many_concatenated", lambda x: jnp.concatenate([x[i] * i for i in range(100)]), ((100, 100), "float32")),
        ("many_stacked", lambda x: jnp.stack([x[i] * i for i in range(100)], 1), ((100, 100), "float32")),
        ("many_parts", lambda x: sum(jnp.split(x, 30, 1)), plane),
        ("block", lambda x: jnp.block([[x, x * 2], [x * 3, x]]), plane),
        ("kronecker", lambda x, y: jnp.kron(x, y), ((30, 30), "float32"), ((17, 17), "float32")),
        ("meshgrid", lambda x: jnp.stack(jnp.meshgrid(x, x), -1), ((300,), "float32")),
        ("toeplitz", lambda x: x[jnp.abs(jnp.arange(300)[:, None] - jnp.arange(300)[None])], ((300,), "float32")),
        ("gather_windows", lambda x: x[jnp.arange(99_000)[:, None] + jnp.arange(7)[None]], line),
        ("gather_points", lambda x, i: x[i[:, 0], i[:, 1]], plane, ((10_000, 2), "int32")),
        ("scatter_points", lambda x, i: x.at[i[:, 0], i[:, 1]].add(1), plane, ((10_000, 2), "int32")),
        ("gather_slices", lambda x, i: jax.vmap(lambda j: lax.dynamic_slice(x, (j,), (10,)))(i), line, ((5000,), "int32")),
        ("update_slices", lambda x, i: jax.vmap(lambda r, j: lax.dynamic_update_slice(r, r[:3], (j,)))(x, i), plane, ((300,), "int32")),
        ("resize", lambda x: jax.image.resize(x, (500, 500), "bilinear"), plane),
        ("resize_nearest", lambda x: jax.image.resize(x, (600, 600), "nearest"), plane),
        ("pixel_shuffle", lambda x: x.reshape(1, 32, 32, 3, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 64, 64, 3), ((1, 32, 32, 12), "float32")),
        ("patches", lambda x: x.reshape(1, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, 196, 768), ((1, 224, 224, 3), "float32")),
        ("layer_norm", lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5), ((300, 768), "float32")),
        ("batch_norm", lambda x: (x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5), ((8, 28, 28, 64), "float32")),
        ("batch_norm_first", lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / jnp.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5), ((8, 64, 28, 28), "float32")),
        ("attention", lambda q, k, v: jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k), -1), v), *[((2, 65, 4, 32), "float32")] * 3),
        ("associative_scan", lambda a, b: lax.associative_scan(lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), (a, b))[1], ((10_000, 8), "float32"), ((10_000, 8), "float32")),
        ("rng_bits", lambda k: lax.rng_bit_generator(k, (100_000,))[1], ((4,), "uint32")),
        ("randint", lambda k: jax.random.randint(jax.random.wrap_key_data(k), (100_000,), 0, 10), ((2,), "uint32")),
        ("gumbel", lambda k: jax.random.gumbel(jax.random.wrap_key_data(k), (100_000,)), ((2,), "uint32")),
        ("exponential", lambda k: jax.random.exponential(jax.random.wrap_key_data(k), (100_000,)), ((2,), "uint32")),
        ("gamma", lambda k: jax.random.gamma(jax.random.wrap_key_data(k), 2.0, (1000,)), ((2,), "uint32")),
        ("categories", lambda x: jax.nn.softmax(x * 3).cumsum(1).argmax(1), plane),
        ("igamma", lambda x: lax.igamma(x, x + 1), ((10_000,), "float32")),
        ("betainc", lambda x: jax.scipy.special.betainc(x, x, x), ((10_000,), "float32")),
        ("bessel_j1", lambda x: jax.scipy.special.i0(x), line),
        ("zeta", lambda x: jax.scipy.special.zeta(x + 2, x), ((10_000,), "float32")),
        ("polygamma", lambda x: jax.scipy.special.polygamma(1, x), ((10_000,), "float32")),
    ):
        yield Case(f"rare/{name}", function, *arguments)


def in_loops():
    """Elementwise functions, and small programs, in loops."""
    functions = {
        "exp": jnp.exp, "log": jnp.log, "sin": jnp.sin, "sqrt": jnp.sqrt, "logistic": lax.logistic, "divide": lambda x: 1 / (x + 1), "power": lambda x: x**1.3, "erf": lax.erf,
        "atan2": lambda x: jnp.arctan2(x, x + 1), "remainder": lambda x: lax.rem(x, x * 0.3 + 0.1), "floor": lambda x: x - jnp.floor(x * 3) / 3, "softmax": jax.nn.softmax, "max": lambda x: x / x.max(),
        "reverse": lambda x: x[::-1] * 0.9, "cumsum": lambda x: jnp.cumsum(x) / x.shape[0], "norm": lambda x: x / jnp.sqrt((x * x).sum()),
    }  # fmt: skip
    for (name, function), dtype, size in itertools.product(functions.items(), ("float32", "float64", "bfloat16"), (16, 1000, 50_000)):
        rounds = 20 if size == 50_000 else 100
        yield Case(f"looped/{name}/{dtype}/{size}", lambda x, f=function, r=rounds: lax.fori_loop(0, r, lambda _, y: f(y) * 0.5 + 0.25, x), ((size,), dtype))
    integers = {"add": lambda x: x * 3 + 1, "divide": lambda x: x // 3 + 7, "remainder": lambda x: (x * 5 + 1) % 97, "shift": lambda x: (x >> 1) ^ (x << 3), "sort": jnp.sort}
    for (name, function), dtype, size in itertools.product(integers.items(), ("int32", "int64", "int8"), (16, 1000)):
        yield Case(f"looped/{name}/{dtype}/{size}", lambda x, f=function: lax.fori_loop(0, 100, lambda _, y: f(y), x), ((size,), dtype))
    fori = lambda body, rounds=100: lambda *x: lax.fori_loop(0, rounds, lambda i, s: body(i, *s), x)
    body3 = lambda i, p, v: (p + 0.01 * v, v - 0.01 * (lambda d: (d / (1e-2 + (d * d).sum(-1, keepdims=True)) ** 1.5).sum(1))(p[:, None] - p[None]))
    cross = lambda a, b: jnp.stack((a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2], a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), -1)
    for name, function, *arguments in (
        ("count", lambda x: lax.while_loop(lambda s: s[0] < 1000, lambda s: (s[0] + 1, s[1] * 0.99 + 0.1), (0, x)), ((), "float32")),
        ("collatz", lambda x: lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (x + 26, 0)), ((), "int32")),
        ("newton", fori(lambda i, x: (x - (x**3 - 2) / (3 * x**2 + 0.1),)), ((16,), "float64")),
        ("bodies", fori(body3), ((3, 3), "float32"), ((3, 3), "float32")),
        ("bodies_50", fori(body3), ((50, 3), "float32"), ((50, 3), "float32")),
        ("cross", fori(lambda i, a, b: (cross(a, b) * 0.5 + a, b - a * 0.1)), ((16, 9, 3), "float32"), ((16, 9, 3), "float32")),
        ("rotate", fori(lambda i, r, w: (jnp.einsum("bij,bjk->bik", r, w) * 0.3, w)), ((16, 3, 3), "float32"), ((16, 3, 3), "float32")),
        ("matrix", fori(lambda i, x, w: (jnp.tanh(w @ x) + 0.1, w)), ((17,), "float32"), ((17, 17), "float32")),
        ("slices", fori(lambda i, x, y: (x, y.at[i].set(x[i] * 2 + y[i]))), ((100, 33), "float32"), ((100, 33), "float32")),
        ("columns", fori(lambda i, x, y: (x, y.at[:, i].set(x[:, i] * 2 + y[:, i]))), ((33, 100), "float32"), ((33, 100), "float32")),
        ("elements", fori(lambda i, x: (x.at[i + 1].set(x[i] * 0.5 + x[i + 1]),)), ((200,), "float32")),
        ("elements_large", fori(lambda i, x: (x.at[i + 1].set(x[i] * 0.5 + x[i + 1]),)), ((200_000,), "float32")),
        ("gather", fori(lambda i, x, n: (x[n] * 0.9 + 0.1, n)), ((1000,), "float32"), ((1000,), "int32")),
        ("gather_rows", fori(lambda i, x, n: (x[n] * 0.9 + 0.1, n)), ((99, 5), "float32"), ((99,), "int32")),
        ("scatter", fori(lambda i, x, n: (x.at[n].add(x) * 0.5, n)), ((1000,), "float32"), ((1000,), "int32")),
        ("scatter_rows", fori(lambda i, x, n: (x.at[n].add(x) * 0.5, n)), ((99, 5), "float32"), ((99,), "int32")),
        ("argsort", fori(lambda i, x: (x[jnp.argsort(x)] * 0.9 + 0.01 * x,)), ((100,), "float32")),
        ("stencil_2d", fori(lambda i, x: (0.2 * (x + jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1)),)), ((65, 65), "float32")),
        ("stencil_padded", fori(lambda i, x: (0.25 * sum(jnp.pad(x, 1)[a : a + 65, b : b + 65] for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))),)), ((65, 65), "float32")),
        ("convolution", fori(lambda i, x, k: (lax.conv_general_dilated(x, k, (1, 1), "SAME") * 0.1, k)), ((1, 1, 65, 65), "float32"), ((1, 1, 3, 3), "float32")),
        ("transpose", fori(lambda i, x: (x.T * 0.5 + 0.1 * x,)), ((65, 65), "float32")),
        ("transpose_3", fori(lambda i, x: (x.transpose(0, 2, 1) @ x * 0.1,)), ((16, 3, 3), "float32")),
        ("cholesky", fori(lambda i, x: (jnp.linalg.cholesky(x @ x.T + 3 * jnp.eye(5, dtype="float32")),)), ((5, 5), "float32")),
        ("solve", fori(lambda i, x: (jnp.linalg.solve(x + 3 * jnp.eye(5, dtype="float32"), x),)), ((5, 5), "float32")),
        ("switch", fori(lambda i, x: (lax.switch(i % 4, [lambda y: y + 1, lambda y: y * 0.5, lambda y: y[::-1], jnp.tanh], x),)), ((100,), "float32")),
        ("nested", fori(lambda i, x: (lax.fori_loop(0, 10, lambda j, y: y * 0.9 + 0.01 * j, x),)), ((10,), "float32")),
        ("random", fori(lambda i, k: (jax.random.bits(jax.random.wrap_key_data(k), (2,), "uint32"),)), ((2,), "uint32")),
        ("normal", lambda k: lax.scan(lambda k, _: (lambda a: (jax.random.key_data(a[0]), jax.random.normal(a[1], (10,))))(jax.random.split(jax.random.wrap_key_data(k))), k, None, length=100)[1], ((2,), "uint32")),
        ("fft", fori(lambda i, x: (jnp.fft.ifft(jnp.fft.fft(x) * 0.9),)), ((64,), "complex64")),
        ("complex", fori(lambda i, z, c: (z * z * 0.3 + c, c)), ((1000,), "complex64"), ((1000,), "complex64")),
        ("mandelbrot", fori(lambda i, x, y, c: (x * x - y * y + 0.1, 2 * x * y * 0.3, c + (x * x + y * y < 4).astype("int32"))), ((100, 100), "float32"), ((100, 100), "float32"), ((100, 100), "int32")),
        ("bool", fori(lambda i, x: (jnp.roll(x, 1) ^ (x | jnp.roll(x, -1)),)), ((1000,), "bool")),
        ("life", lambda x: lax.fori_loop(0, 100, lambda i, x: (lambda n: ((n == 3) | ((x == 1) & (n == 2))).astype("int8"))(sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - x), x), ((64, 64), "int8")),
        ("top_k", fori(lambda i, x: (x.at[lax.top_k(x, 3)[1]].multiply(0.5),)), ((100,), "float32")),
        ("pool", fori(lambda i, x: (lax.reduce_window(x, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME") * 0.9,)), ((33, 33), "float32")),
        ("concatenate", fori(lambda i, x: (jnp.concatenate((x[1:], x[:1] * 0.9)),)), ((1000,), "float32")),
        ("queue", fori(lambda i, x: (jnp.concatenate((x[1:], x[:1].mean(0, keepdims=True) * 0.9)),)), ((30, 65), "float32")),
        ("gru", lambda x, w, h: lax.scan(lambda h, x: (lambda z, n: ((1 - z) * n + z * h, h))(jax.nn.sigmoid(x @ w), jnp.tanh(h @ w)), h, x)[1], ((100, 1, 33), "float32"), ((33, 33), "float32"), ((1, 33), "float32")),
    ):
        yield Case(f"looped/{name}", function, *arguments, below=90 if name in ("gather_rows", "scatter_rows") else 1000)


def best_of_xla(compiled, arrays):
    """The best time of a run on XLA, in milliseconds."""
    arrays = [jax.device_put(a) for a in arrays]
    best, spent = math.inf, 0.0
    jax.block_until_ready(compiled(*arrays))
    while spent < 0.06:
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arrays))
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + max(took, 1e-4)
    return best * 1e3


def best_of_stablo(stablo, text, arrays, threads, folder):
    """The best time of a run on stablo, in milliseconds."""
    program, timings = folder / "case.mlir", folder / "timings.json"
    program.write_text(text)
    inputs = []
    for number, array in enumerate(arrays):
        file = folder / f"{number}.npy"
        # NumPy has no files of the small floats of ml_dtypes.
        np.save(file, array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" else array)
        inputs += ["--input", str(file)]

    def run(repeat):
        command = [stablo, "run", program, *inputs, "--outputs", folder / "outputs", "--threads", str(threads), "--timings", timings, "--repeat", str(repeat)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
        return min(json.loads(timings.read_text())["execute_ms"])

    first = run(3)
    return min(first, run(max(3, min(1000, int(60 / max(first, 1e-3))))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stablo")
    parser.add_argument("--only", default="", help="a regular expression that names of cases match from their beginning")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, refused = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for case in cases():
            if not re.match(options.only, case.name):
                continue
            arrays = list(case.arrays())
            try:
                lowered = jax.jit(case.function, keep_unused=True).lower(*arrays)
                compiled = lowered.compile()
            except Exception as error:
                refused.append((case.name, "XLA", str(error).splitlines()[0]))
                continue
            xla = best_of_xla(compiled, arrays)
            try:
                own = best_of_stablo(options.stablo, lowered.as_text(), arrays, options.threads, folder)
            except subprocess.SubprocessError as error:
                why = getattr(error, "stderr", None) or str(error).encode()
                refused.append((case.name, "stablo", (why.decode().splitlines() or ["no message"])[0]))
                continue
            rows.append((xla / own, case.name, xla, own))
    rows.sort()
    print(f"{len(rows)} cases; XLA's time / stablo's, the least first")
    for ratio, name, xla, own in rows[: options.worst]:
        print(f"{ratio:8.2f}  {name:52} {xla * 1e3:12.1f} us {own * 1e3:12.1f} us")
    families = {}
    for ratio, name, *_ in rows:
        families.setdefault(name.split("/")[0], []).append(math.log(ratio))
    print("\ngeometric means by family, and the number of cases below 1")
    for name, logs in sorted(families.items()):
        print(f"{math.exp(sum(logs) / len(logs)):8.2f}  {name:24} {sum(log < 0 for log in logs):4} of {len(logs)}")
    for name, who, why in refused:
        print(f"refused by {who}: {name}: {why}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps([{"case": n, "xla_ms": x, "stablo_ms": o} for _, n, x, o in rows], indent=1))


if __name__ == "__main__":
    main()
