#!/usr/bin/env python3
"""Ops of every kind, type, size and layout beside XLA's CPU: where stablo is slowest in comparison.

    cliffs.py BIN/stablo [--only SUBSTRING] [--threads N] [--worst N] [--json FILE]

Needs `pip install jax`. Each case is a function of JAX that is lowered once and runs on both, alone or in a loop of 100 rounds; times are the
best of some runs in memory. `--threads` is for stablo: XLA uses all cores. The table has the cases in which XLA's time is the smallest part of stablo's, and geometric means by family."""

import argparse
import itertools
import json
import math
import pathlib
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
    """A function and the shapes and types of its arguments; `below` bounds integer arguments."""

    def __init__(self, name, function, *arguments, below=100):
        self.name, self.function, self.arguments, self.below = name, function, arguments, below

    def arrays(self):
        rng = np.random.default_rng(0)
        for shape, dtype in self.arguments:
            dtype = jnp.dtype(dtype)
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


def best_of_xla(compiled, arrays):
    """The best time of a run on XLA, in milliseconds."""
    arrays = [jax.device_put(a) for a in arrays]
    best, spent = math.inf, 0.0
    jax.block_until_ready(compiled(*arrays))
    while spent < 0.1:
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
    return min(first, run(max(3, min(1000, int(100 / max(first, 1e-3))))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stablo")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, refused = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for case in cases():
            if options.only not in case.name:
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
