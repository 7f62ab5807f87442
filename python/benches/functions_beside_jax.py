"""Times functions of many kinds, exported by JAX, on stablo and on XLA, in one process: outputs are compared, and the best and the
median of calls with arrays that are there already. Above 1, stablo is ahead.

    python functions_beside_jax.py [--only NAME] [--seconds S]    # needs jax, numpy and the package stablo
"""

import argparse
import math
import statistics
import time
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import stablo

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
RANDOM = np.random.default_rng(0)


def f32(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def case(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS[function.__name__] = (function, args)
        return function

    return add


# Loops of tiny ops.


@case(f32(3))
def lorenz_runge_kutta(x):
    def field(v):
        a, b, c = v
        return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def step(_, v):
        h = 0.01
        k1 = field(v)
        k2 = field(v + h / 2 * k1)
        k3 = field(v + h / 2 * k2)
        k4 = field(v + h * k3)
        return v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return lax.fori_loop(0, 1000, step, x * 0.1 + 1)


@case(np.float32(0.3))
def logistic_map(x):
    return lax.fori_loop(0, 10_000, lambda _, x: 3.7 * x * (1 - x), x)


@case(np.float32(2.0))
def newton_root(a):
    return lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-6, lambda s: 0.5 * (s + a / s), a)


@case(np.int32(27))
def collatz(n):
    def step(s):
        n, count = s
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, jnp.int32(0)))[1]


@case(f32(2, 2))
def pendulum_symplectic(x):
    def step(s, _):
        q, p = s
        p = p - 0.01 * jnp.sin(q)
        q = q + 0.01 * p
        return (q, p), q

    return lax.scan(step, (x[0], x[1]), None, length=500)


@case(f32(16), f32(16))
def metropolis(x, key_seed):
    def step(s, i):
        x, seed = s
        seed = seed * jnp.uint32(1664525) + jnp.uint32(1013904223)
        u = (seed >> 8).astype(jnp.float32) / 16777216
        proposal = x + (u - 0.5)
        accept = jnp.exp(jnp.minimum(0.5 * (x * x - proposal * proposal), 0.0)) > jnp.roll(u, 1)
        return (jnp.where(accept, proposal, x), seed), None

    seed = lax.bitcast_convert_type(key_seed, jnp.uint32)
    return lax.scan(step, (x, seed), jnp.arange(500))[0][0]


@case(f32(4, 4), f32(4))
def kalman(a, x):
    transition = jnp.eye(4, dtype=jnp.float32) + 0.01 * a

    def step(s, z):
        mean, cov = s
        mean, cov = transition @ mean, transition @ cov @ transition.T + 0.1 * jnp.eye(4)
        gain = cov[:, 0] / (cov[0, 0] + 1.0)
        return (mean + gain * (z - mean[0]), cov - jnp.outer(gain, cov[0])), mean[0]

    return lax.scan(step, (x, jnp.eye(4, dtype=jnp.float32)), jnp.sin(jnp.arange(100.0)))


@case(f32(8))
def power_series(x):
    return lax.fori_loop(1, 200, lambda i, s: s + x**i / i, jnp.zeros(8, jnp.float32)) * 1e-3


@case(f32(32), f32(32))
def euler_maruyama(x, w):
    def step(i, s):
        return s + 0.01 * (1 - s) + 0.1 * jnp.sin(w * i)

    return lax.fori_loop(0, 500, step, x)


@case(f32(64))
def heat_1d(u):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))

    return lax.fori_loop(0, 500, step, u)


@case(f32(32, 32))
def game_of_life(x):
    def step(_, alive):
        grid = alive.astype(jnp.int32)
        count = sum(jnp.roll(grid, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - grid
        return (count == 3) | (alive & (count == 2))

    return lax.fori_loop(0, 50, step, x > 0.5)


@case(f32(10, 10), f32(10))
def conjugate_gradient(a, b):
    matrix = a @ a.T + 10 * jnp.eye(10, dtype=jnp.float32)

    def step(_, s):
        x, r, p, rs = s
        ap = matrix @ p
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rs * p, new

    return lax.fori_loop(0, 10, step, (jnp.zeros(10, jnp.float32), b, b, b @ b))[0]


@case(f32(50))
def moving_average(x):
    return lax.scan(lambda s, x: (0.9 * s + 0.1 * x, s), jnp.float32(0), x)[1]


# Training steps and networks.


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


MLP = [(f32(32, 64) * 0.1, f32(64)), (f32(64, 64) * 0.1, f32(64)), (f32(64, 10) * 0.1, f32(10))]


@case(MLP, f32(32, 32), f32(32, 10))
def mlp_gradient(params, x, y):
    return jax.grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(params)


@case(MLP, f32(32, 32), f32(32, 10))
def mlp_adam_steps(params, x, y):
    loss = lambda p: jnp.mean((mlp(p, x) - y) ** 2)  # noqa: E731

    def step(i, s):
        p, m, v = s
        g = jax.grad(loss)(p)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return p, m, v

    zeros = jax.tree.map(jnp.zeros_like, params)
    return lax.fori_loop(0, 10, step, (params, zeros, zeros))[0]


@case(f32(20, 8, 16), f32(16, 128) * 0.1, f32(32, 128) * 0.1)
def lstm(xs, wx, wh):
    def step(s, x):
        h, c = s
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((8, 32), jnp.float32)
    return lax.scan(step, (zero, zero), xs)[1]


@case(f32(50, 24), f32(24, 72) * 0.1, f32(24, 72) * 0.1)
def gru(xs, wx, wh):
    def step(h, x):
        a, b = x @ wx, h @ wh
        r, z = jax.nn.sigmoid(a[:24] + b[:24]), jax.nn.sigmoid(a[24:48] + b[24:48])
        n = jnp.tanh(a[48:] + r * b[48:])
        return (1 - z) * n + z * h, h

    return lax.scan(step, jnp.zeros(24, jnp.float32), xs)


@case(f32(4, 32, 64), f32(64, 192) * 0.1, f32(64, 64) * 0.1)
def attention(x, qkv, out):
    q, k, v = jnp.split((x @ qkv).reshape(4, 32, 3, 4, 16), 3, axis=2)
    q, k, v = (jnp.squeeze(t, 2) for t in (q, k, v))
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(4, 32, 64) @ out + x


@case(f32(64, 256))
def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@case(f32(128, 1000))
def log_softmax(x):
    return jax.nn.log_softmax(x)


@case(f32(8, 28, 28, 1), f32(3, 3, 1, 16), f32(3, 3, 16, 32))
def small_cnn(x, a, b):
    dims = ("NHWC", "HWIO", "NHWC")
    x = jax.nn.relu(lax.conv_general_dilated(x, a, (2, 2), "SAME", dimension_numbers=dims))
    x = jax.nn.relu(lax.conv_general_dilated(x, b, (2, 2), "SAME", dimension_numbers=dims))
    return x.mean((1, 2))


@case(f32(8, 28, 28, 1), f32(3, 3, 1, 16), f32(3, 3, 16, 32))
def small_cnn_gradient(x, a, b):
    return jax.grad(lambda a, b: small_cnn(x, a, b).sum(), argnums=(0, 1))(a, b)


@case(f32(1, 16, 16, 8), f32(3, 3, 8, 8) * 0.1)
def diffusion_steps(x, w):
    dims = ("NHWC", "HWIO", "NHWC")

    def step(i, x):
        noise = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dims))
        return 0.99 * x - 0.1 * noise

    return lax.fori_loop(0, 20, step, x)


# Sorting, searching, indexing.


@case(f32(10_000))
def sort_1d(x):
    return jnp.sort(x)


@case(f32(64, 100))
def argsort_rows(x):
    return jnp.argsort(x, axis=1)


@case(f32(100, 50))
def top_k(x):
    return lax.top_k(x, 5)


@case(f32(1000), f32(200))
def search_sorted(x, y):
    return jnp.searchsorted(jnp.sort(x), y)


@case(f32(5000))
def median_and_quantiles(x):
    return jnp.median(x), jnp.quantile(x, jnp.array([0.1, 0.9]))


@case(f32(10_000))
def cumulative_sum(x):
    return jnp.cumsum(x)


@case(f32(1000, 16), RANDOM.integers(0, 1000, 500))
def embedding(table, indices):
    return table[indices].sum(0)


@case(f32(2000, 8), RANDOM.integers(0, 100, 2000))
def segment_sum(x, segments):
    return jax.ops.segment_sum(x, segments, num_segments=100)


@case(f32(3000), RANDOM.integers(0, 500, 3000), RANDOM.integers(0, 500, 3000), f32(500))
def sparse_matrix_vector(values, rows, columns, x):
    return jnp.zeros(500, jnp.float32).at[rows].add(values * x[columns])


@case(RANDOM.integers(0, 256, 20_000))
def histogram(x):
    return jnp.bincount(x, length=256)


@case(f32(2000))
def unique_counts(x):
    return jnp.unique(jnp.round(x * 10), size=100, return_counts=True)


# Numbers.


@case(f32(64, 1024))
def fft_rows(x):
    return jnp.abs(jnp.fft.rfft(x))


@case(f32(64, 64))
def fft_2d(x):
    return jnp.fft.ifft2(jnp.fft.fft2(x) * 2).real


@case(f32(4096), f32(4096))
def convolve_by_fft(x, y):
    return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(y))


@case(f32(32, 32))
def cholesky_solve(a):
    matrix = a @ a.T + 32 * jnp.eye(32, dtype=jnp.float32)
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(matrix), a)


@case(f32(64, 64), f32(64))
def linear_solve(a, b):
    return jnp.linalg.solve(a + 8 * jnp.eye(64, dtype=jnp.float32), b)


@case(f32(24, 24))
def eigenvalues_symmetric(a):
    return jnp.linalg.eigvalsh(a + a.T)


@case(f32(48, 16))
def qr_decomposition(a):
    return jnp.abs(jnp.linalg.qr(a)[1])


@case(f32(256, 3), f32(256))
def n_body_forces(x, m):
    d = x[:, None] - x[None]
    r2 = (d * d).sum(-1) + 0.01
    return -(m[None, :, None] * d / (r2 * jnp.sqrt(r2))[..., None]).sum(1)


@case(f32(300, 2), f32(10, 2))
def k_means(x, centers):
    def step(_, c):
        nearest = jnp.argmin(((x[:, None] - c[None]) ** 2).sum(-1), axis=1)
        member = jax.nn.one_hot(nearest, 10)
        return (member.T @ x) / (member.sum(0)[:, None] + 1e-6)

    return lax.fori_loop(0, 10, step, centers)


@case(f32(100_000))
def black_scholes(s):
    s = jnp.abs(s) + 50
    d1 = (jnp.log(s / 50) + 0.07) / 0.3
    cdf = lambda x: 0.5 * (1 + lax.erf(x / math.sqrt(2)))  # noqa: E731
    return s * cdf(d1) - 50 * jnp.exp(-0.05) * cdf(d1 - 0.3)


@case(f32(200_000))
def polynomial(x):
    return jnp.polyval(jnp.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25]), x)


@case(f32(200_000))
def trigonometry(x):
    return jnp.sin(x) * jnp.cos(2 * x) + jnp.arctan2(x, 1 + x * x)


@case(f32(512, 512), f32(512, 512))
def matrix_product(a, b):
    return a @ b


@case(f32(1024, 1024), f32(1024))
def matrix_vector(a, x):
    return a @ x


@case(f32(1000, 1000))
def transpose_and_reduce(x):
    return (x.T + x).sum(0), x.max(1)


@case(np.uint32(7))
def random_normal(seed):
    return jax.random.normal(jax.random.key(seed), (50_000,))


@case(f32(128, 128))
def mandelbrot(x):
    c = x + 0.3j * x.T

    def step(_, s):
        z, count = s
        z = jnp.where(jnp.abs(z) < 2, z * z + c, z)
        return z, count + (jnp.abs(z) < 2)

    return lax.fori_loop(0, 20, step, (c * 0, jnp.zeros((128, 128), jnp.int32)))[1]


@case(f32(64, 32), f32(32, 64))
def sinkhorn(x, y):
    kernel = jnp.exp(-jnp.abs(x @ y))

    def step(_, s):
        u, v = s
        u = 1 / (kernel @ v)
        return u, 1 / (kernel.T @ u)

    one = jnp.ones(64, jnp.float32)
    return lax.fori_loop(0, 50, step, (one, one))


def times(work: Callable[[], Any], seconds: float) -> list[float]:
    work()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    ratios: list[tuple[float, float]] = []
    for name, (function, args) in FUNCTIONS.items():
        if options.only not in name:
            continue
        on_device = jax.tree.map(jnp.asarray, args)
        jitted = jax.jit(function).lower(*on_device).compile()
        program = stablo.parse(jax.jit(function).lower(*on_device).as_text())
        flat = [np.asarray(x) for x in jax.tree.leaves(on_device)]
        # Arguments that nothing uses are not the program's.
        kept = sorted(jitted._executable._kept_var_idx)
        flat = [flat[i] for i in kept]
        expected = jax.tree.leaves(jitted(*on_device))
        results = program.run(*flat)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        close = all(
            np.allclose(np.asarray(e), r, rtol=2e-2, atol=2e-3, equal_nan=True) for e, r in zip(expected, results)
        )
        theirs = times(lambda: jax.block_until_ready(jitted(*on_device)), options.seconds)
        ours = times(lambda: program.run(*flat), options.seconds)
        best, median = min(theirs) / min(ours), statistics.median(theirs) / statistics.median(ours)
        ratios.append((best, median))
        print(f"{name:24} XLA {min(theirs) * 1e6:10.1f} us  stablo {min(ours) * 1e6:10.1f} us  best {best:6.2f}x  median {median:6.2f}x"
              f"{'' if close else '  OUTPUTS DIFFER'}", flush=True)  # fmt: skip
    for label, column in (("best", 0), ("median", 1)):
        mean = math.exp(statistics.mean(math.log(pair[column]) for pair in ratios))
        print(f"{len(ratios)} functions: {mean:.2f}x by {label} (geometric mean)")


if __name__ == "__main__":
    main()
