"""Measures the accuracy of a built `stablo` on many points, against referees that share no code with it.

    cargo build --release
    pip install numpy gmpy2 mpmath
    python tools/accuracy.py target/release/stablo --points 10000000
    python tools/accuracy.py target/release/stablo --functions power,atan2 --types c64,c128 --slow 20000

For each function of the table in docs/accuracy.md and each of f16, bf16, f32, f64, complex<f32> and complex<f64>, it runs a program on
the points and prints the number of points, of results that are not the nearest number, and of those that break the bound of the table;
the largest distance in units in the last place; and the worst point. It exits with 1 if a bound is broken.

The points are random bits over all exponents; random numbers of moderate size; numbers within two units in the last place of
constants at which this or any usual implementation may branch, of the ends of the ranges of normal and subnormal numbers, and of
zeros and poles of the functions; and, for functions of two numbers, products of such grids, and powers with results of any exponent.
In f16 and bf16, functions of one number are computed for all of them. `abs` and `sign` of complex numbers have bounds, too.

Referees: the C library's functions of `long double` (64 bits; x86-64 only), by NumPy, where there are some. MPFR, MPC and mpmath, at
a precision at which more makes no difference, settle what those leave open, and compute all other functions, on the first `--slow`
points. Functions of f32 that only these know are also compared with the function of f64 on all points; where the two differ, a
referee decides.

In f32 and complex<f32>, exact values within 2^-26 units of the middle between two numbers may be rounded either way, as the table's
introduction says; these are counted as exceptions.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import gmpy2
import mpmath
import numpy as np
from gmpy2 import mpc, mpfr

STABLEHLO = ("abs atan2 cbrt cosine divide exponential exponential_minus_one log log_plus_one logistic power rsqrt sign sine sqrt "
             "tan tanh").split()
BINARY = ("atan2", "divide", "polygamma", "power", "zeta")
# Numbers of f16 and bf16 are held as f32.
TYPES = {"f16": np.float32, "bf16": np.float32, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
ELEMENTS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "c64": "complex<f32>", "c128": "complex<f64>"}
WIDE = {"f32": "f64", "c64": "c128"}
PARTS = {"c64": "f32", "c128": "f64"}
# Significant bits, exponent of the lowest number, and one beyond the largest exponent.
FORMATS = {"f16": (11, -24, 16), "bf16": (8, -133, 128), "f32": (24, -149, 128), "f64": (53, -1074, 1024)}
# Bounds of functions of complex numbers that are not in the table: of f32 parts and of f64 parts.
COMPLEX_BOUNDS = {"abs": (0, 1), "sign": (0, 1)}

# Constants at which the code branches, or usual algorithms do; their negatives, halves and inverses are added.
CRITICAL = [
    1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 10.25, 16.0, 20.0, 22.0, 25.0, 28.0, 30.0, 40.0, 80.0, 150.0, 300.0, 600.0, 700.0,
    1000.0, 1022.0, 1024.0, 1074.0, 4096.0, 20000.0, 1.5, 2.5, 0.75, 0.3, 0.99, 1e-3, 1e-9, 1e-16, 1e20, 1e30, 1e100, 1e140, 1e250, 1e280, 1e290,
    1e300, 1e306, 2.0**0.5, 2.0**0.5 + 1, 2.0**0.5 - 1, np.pi, np.pi / 2, np.pi / 4, np.pi / 8, 3 * np.pi / 4, 3 * np.pi / 2, 2 * np.pi, 5 * np.pi / 4,
    np.log(2), np.log(2) / 128, 1.5 * np.log(2), np.e, 88.72283905206835, 87.33654475055311, 103.97207708399179, 709.782712893384, 710.4758600739439,
    708.3964185322641, 745.1332191019412, 0.4375, 0.6875, 1.1875, 2.4375, 0.84375, 1.25, 1 / 0.35, 0.67434, 0.41421356, 0.5857864, 0.29289321,
    4.0 / 3, 2.0**20, 2.0**24, 2.0**28, 2.0**40, 2.0**52, 2.0**53, 2.0**63, 1e5, 105414357.85, 105615.0, 355.0, 1.4616321449683622, 0.504083008264455,
    1.573498473162391, 2.610720868444145, 3.635293366436901, 2.457024738220801, 2.747682646727413, 3.143580888349980, 3.955294284858598,
    0.8862269254527580, 0.47693627620446987, (1 - np.exp(-5)) ** 0.5, (1 - np.exp(-16)) ** 0.5, 0.1127296690, 26.5, 27.2262, 26.543, 9.19, 10.05, 3.83,
    5.92, 0.3465735902799726, 1.0397207708399179, 17.32867951, 6051.0, 34.5, 170.6243769, 171.6243769, 2.556e305, 4.085e36,
]


def critical(dtype):
    """Numbers within two units in the last place of critical ones, of both signs."""
    info = np.finfo(dtype)
    base = np.array(CRITICAL)
    with np.errstate(all="ignore"):
        ends = [info.max, info.tiny, info.smallest_subnormal, info.eps, info.eps / 2, float(info.max) ** 0.5, float(info.tiny) ** 0.5]
        numbers = np.concatenate([base, base / 2, 1 / base, 1 - 1 / (base + 2), 1 + 1 / (base + 2), ends, 2 * np.array(ends[1:])])
        numbers = numbers.astype(dtype)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    found = [numbers]
    with np.errstate(all="ignore"):
        for direction in (np.inf, -np.inf):
            step = numbers
            for _ in range(2):
                step = np.nextafter(step, dtype(direction))
                found.append(step)
    numbers = np.concatenate(found)
    return np.unique(np.concatenate([numbers, -numbers]))


def to_bits(numbers, kind):
    """The bits of numbers of a format, which are held in a wider one, as integers of its size."""
    if kind == "f16":
        return numbers.astype(np.float16).view(np.int16)
    if kind == "bf16":
        return (np.ascontiguousarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.int16)
    dtype, integer = (np.float32, np.int32) if kind == "f32" else (np.float64, np.int64)
    return np.ascontiguousarray(numbers, dtype).view(integer)


def from_bits(bits, kind):
    """The numbers of f16 or bf16 with these bits, as f32."""
    bits = bits.view(np.uint16)
    if kind == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow_points(rng, name, count, kind):
    """All finite numbers of f16 or bf16, or pairs of any of them."""
    numbers = from_bits(np.arange(1 << 16, dtype=np.uint16), kind)
    numbers = numbers[np.isfinite(numbers)]
    if name not in BINARY:
        return [numbers]
    points = special_points if name in ("zeta", "polygamma") else power_points if name == "power" else pair_points
    pairs = points(rng, name, count, np.float32) if points is special_points else points(rng, count, np.float32)
    with np.errstate(all="ignore"):
        pairs = [from_bits(to_bits(x, kind), kind) for x in pairs]
    if points is special_points:
        return pairs
    return [np.concatenate([rng.choice(numbers, count), x]) for x in pairs]


def random_bits(rng, count, dtype):
    kind = np.uint32 if dtype == np.float32 else np.uint64
    bits = rng.integers(0, np.iinfo(kind).max, count, dtype=kind, endpoint=True)
    numbers = bits.view(dtype)
    return numbers[np.isfinite(numbers)]


def moderate(rng, count, dtype, low=-40, high=12):
    return (np.exp2(rng.uniform(low, high, count)) * rng.choice([-1, 1], count)).astype(dtype)


def real_points(rng, count, dtype):
    quarter = count // 4
    parts = [critical(dtype), random_bits(rng, quarter, dtype), moderate(rng, quarter, dtype),
             rng.uniform(-4, 4, quarter).astype(dtype), rng.uniform(-120, 120, quarter).astype(dtype)]
    rest = np.concatenate(parts[1:])
    rng.shuffle(rest)
    return np.concatenate([parts[0], rest])


def power_points(rng, count, dtype):
    part = count // 4
    limit = 150 if dtype == np.float32 else 1080
    with np.errstate(all="ignore"):
        near = 2.0 ** -rng.uniform(1, 50, part // 2) * rng.choice([-1, 1], part // 2)
        bases = np.concatenate([rng.uniform(0.65, 1.5, part), 1 + near, np.exp2(rng.uniform(-limit, limit, part // 2))]).astype(dtype)
    with np.errstate(all="ignore"):
        exponents = (rng.uniform(-limit, limit, len(bases)) / np.log2(bases.astype(np.float64))).astype(dtype)
    side = int(part**0.5)
    grid_bases = np.concatenate([rng.uniform(0.5, 2, side // 2), np.exp2(rng.uniform(-30, 30, side - side // 2))]).astype(dtype)
    grid_exponents = np.concatenate([rng.uniform(-300, 300, side // 2), np.arange(side - side // 2) - side // 4]).astype(dtype)
    grid = [g.ravel() for g in np.meshgrid(grid_bases, grid_exponents)]
    few = critical(dtype)
    few = few[rng.integers(0, len(few), (2, part // 2))]
    any_bits = [random_bits(rng, part // 2, dtype) for _ in range(2)]
    size = min(map(len, any_bits))
    return [np.concatenate([a, b, c, d[:size]]) for a, b, c, d in
            zip((bases, exponents), grid, few, any_bits)]


def pair_points(rng, count, dtype):
    third = count // 3
    any_bits = [random_bits(rng, third, dtype) for _ in range(2)]
    size = min(map(len, any_bits))
    few = critical(dtype)
    few = few[rng.integers(0, len(few), (2, third))]
    near = [moderate(rng, third, dtype), None]
    near[1] = (near[0] * np.exp2(rng.uniform(-4, 4, third)) * rng.choice([-1, 1], third)).astype(dtype)
    return [np.concatenate([a[:size], b, c]) for a, b, c in zip(any_bits, few, near)]


def special_points(rng, name, count, dtype):
    half = count // 2
    if name == "zeta":
        s = np.concatenate([1 + np.exp2(rng.uniform(-20, 10, half)), rng.integers(2, 40, half)])
        q = np.concatenate([np.exp2(rng.uniform(-20, 20, half)), rng.uniform(-20, 20, half)])
    else:
        s = np.concatenate([rng.integers(0, 8, half), rng.integers(1, 150, half)])
        q = np.concatenate([rng.uniform(-20, 20, half), np.exp2(rng.uniform(-20, 20, half))])
    return [s.astype(dtype), q.astype(dtype)]


def complex_points(rng, count, dtype):
    """Numbers whose parts are moderate, of any exponent, critical, or near the unit circle, in all pairs."""
    part = np.float32 if dtype == np.complex64 else np.float64
    few = critical(part)

    def parts(n):
        kinds = [moderate(rng, n, part, -6, 6), moderate(rng, n, part), random_bits(rng, 2 * n, part)[:n],
                 few[rng.integers(0, len(few), n)], rng.uniform(-4, 4, n).astype(part)]
        size = min(map(len, kinds))
        kinds = np.stack([k[:size] for k in kinds])
        return kinds[rng.integers(0, len(kinds), size), np.arange(size)]

    re, im = parts(count), parts(count)
    size = min(len(re), len(im))
    z = np.empty(size, dtype)
    z.real, z.imag = re[:size], im[:size]
    angle = rng.uniform(0, 2 * np.pi, size // 10)
    z[: len(angle)] = np.exp(1j * angle) * rng.choice([1, 1 + 1e-9, 1 - 1e-5, 1 + 1e-3], len(angle))
    rng.shuffle(z)
    return z


def complex_pairs(rng, name, count, dtype):
    x, y = complex_points(rng, count, dtype), complex_points(rng, count, dtype)
    size = min(len(x), len(y))
    x, y = x[:size].copy(), y[:size].copy()
    part = np.float32 if dtype == np.complex64 else np.float64
    third = size // 3
    if name == "atan2":
        # Near the cut and far from each other.
        tiny = np.exp2(rng.uniform(-110, 40, third))
        with np.errstate(all="ignore"):
            x[:third] = y[:third] * tiny
            y[third: 2 * third].imag = (x[third: 2 * third].real * (1 + np.exp2(rng.uniform(-50, 0, third)))).astype(part)
        y[third: 2 * third].real = (-x[third: 2 * third].imag).astype(part)
    elif name == "power":
        # Results that are neither infinite nor zero.
        limit = 80 if dtype == np.complex64 else 700
        with np.errstate(all="ignore"):
            goal = rng.uniform(-limit, limit, size) + 1j * np.exp2(rng.uniform(-30, 90, size)) * rng.choice([-1, 1], size)
            exponents = (goal / np.log(x.astype(np.complex128))).astype(dtype)
        y[third:] = exponents[third:]
        x[: third // 2].imag = 0
        y[: third // 2].real = 0
    return [x, y]


def evaluate(program, name, kind, operands):
    """The results of `stablo run`."""
    operands = [np.ascontiguousarray(x) for x in operands]
    dialect = "stablehlo" if name in STABLEHLO else "chlo"
    tensor = f"tensor<{len(operands[0])}x{ELEMENTS[kind]}>"
    names = ["%x", "%y"][: len(operands)]
    result = f"tensor<{len(operands[0])}x{ELEMENTS[PARTS[kind]]}>" if name == "abs" else tensor
    types = f"({tensor}) -> {result}" if name == "abs" else tensor
    if dialect == "chlo":
        types = f"{', '.join([tensor] * len(operands))} -> {tensor}"
    text = (f"func.func @main({', '.join(f'{n}: {tensor}' for n in names)}) -> {result} {{\n"
            f"  %r = {dialect}.{name} {', '.join(names)} : {types}\n  return %r : {result}\n}}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.mlir")
        with open(path, "w") as file:
            file.write(text)
        command = [program, "run", path, "--outputs", folder]
        for i, x in enumerate(operands):
            stored = to_bits(x, kind).view(np.float16 if kind == "f16" else np.uint16) if kind in ("f16", "bf16") else x
            np.save(os.path.join(folder, f"x{i}.npy"), stored)
            command += ["--input", os.path.join(folder, f"x{i}.npy")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = np.load(os.path.join(folder, "output_0.npy"))
        return from_bits(found, kind) if kind in ("f16", "bf16") else found


LONG = np.longdouble
FAST = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2,
    "atanh": np.arctanh, "cbrt": np.cbrt, "cosh": np.cosh, "cosine": np.cos, "divide": np.divide, "exponential": np.exp,
    "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p, "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "power": np.power, "rsqrt": lambda x: 1 / np.sqrt(x), "sine": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
}


def erf_inv(y):
    if not abs(y) < 1:
        return mpfr("nan") if abs(y) != 1 else mpfr("inf") * y
    size = abs(y)
    if size == 0:
        return y
    distance = 1 - size
    x = mpfr(float(mpmath.erfinv(float(size)))) if float(distance) > 1e-15 else gmpy2.sqrt(-gmpy2.log(distance * 2))
    scale = 2 / gmpy2.sqrt(gmpy2.const_pi())
    for _ in range(12):
        error = distance - gmpy2.erfc(x) if size > 0.5 else gmpy2.erf(x) - size
        step = error / (scale * gmpy2.exp(-x * x))
        x -= step / (1 + x * step)
        if step == 0 or abs(step / x) < mpfr(2) ** -(gmpy2.get_context().precision // 2 + 10):
            break
    return x if y > 0 else -x


def by_mpmath(function):
    def call(*operands):
        with mpmath.workprec(gmpy2.get_context().precision):
            try:
                result = function(*[mpmath.mpf(x) for x in operands])
            except (ValueError, ZeroDivisionError):
                return mpfr("nan")
            if isinstance(result, mpmath.mpc):
                return mpfr("nan") if result.imag else mpfr(mpmath.nstr(result.real, 100))
            sign, man, exp, _ = result._mpf_ if mpmath.isfinite(result) else (0, 0, 0, 0)
            if not mpmath.isfinite(result):
                return mpfr(str(result).replace("+", ""))
            return gmpy2.mul_2exp(mpfr(int(man)), int(exp)) * (-1 if sign else 1) if exp >= 0 else (
                gmpy2.div_2exp(mpfr(int(man)), -int(exp)) * (-1 if sign else 1))
    return call


def complex_angle(y, x):
    i = mpc(0, 1)
    return -i * gmpy2.log((x + i * y) / gmpy2.sqrt(x * x + y * y))


def complex_logistic(z):
    """By parts: MPC divides by exact sums of squares, which may have billions of digits."""
    power = gmpy2.exp(-z)
    if gmpy2.is_infinite(power.real) or gmpy2.is_infinite(power.imag):
        return mpc(0)
    real, imag = 1 + power.real, power.imag
    norm = real * real + imag * imag
    return mpc(real / norm, -imag / norm)


def times_i(z):
    return mpc(-z.imag, z.real)


def over_i(z):
    return mpc(z.imag, -z.real)


PRECISE = {
    "acos": gmpy2.acos, "acosh": gmpy2.acosh, "asin": gmpy2.asin, "asinh": gmpy2.asinh, "atan": gmpy2.atan, "atan2": gmpy2.atan2,
    "atanh": gmpy2.atanh, "cbrt": gmpy2.cbrt, "cosh": gmpy2.cosh, "cosine": gmpy2.cos, "digamma": gmpy2.digamma,
    "divide": lambda x, y: x / y, "erf": gmpy2.erf, "erfc": gmpy2.erfc, "erf_inv": erf_inv, "exponential": gmpy2.exp,
    "exponential_minus_one": gmpy2.expm1, "lgamma": lambda x: gmpy2.lgamma(x)[0], "log": gmpy2.log, "log_plus_one": gmpy2.log1p,
    "logistic": lambda x: 1 / (1 + gmpy2.exp(-x)), "power": lambda x, y: x**y,
    # IEEE 754 has negative infinity for negative zero, unlike MPFR.
    "rsqrt": lambda x: gmpy2.rec_sqrt(x) if x else 1 / x,
    "sine": gmpy2.sin, "sinh": gmpy2.sinh, "sqrt": gmpy2.sqrt, "tan": gmpy2.tan, "tanh": gmpy2.tanh,
    "bessel_i1e": by_mpmath(lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x))),
    "zeta": by_mpmath(lambda s, q: mpmath.zeta(s, q)),
    "polygamma": by_mpmath(lambda n, x: mpmath.psi(int(n), x)),
}
COMPLEX = {
    "abs": lambda z: gmpy2.sqrt(z.real * z.real + z.imag * z.imag),
    "sign": lambda z: z / gmpy2.sqrt(z.real * z.real + z.imag * z.imag) if z else z,
    "atan2": complex_angle, "cbrt": lambda z: gmpy2.exp(gmpy2.log(z) / 3), "exponential_minus_one": lambda z: gmpy2.exp(z) - 1,
    "log_plus_one": lambda z: gmpy2.log(1 + z), "logistic": complex_logistic, "power": lambda x, y: gmpy2.exp(y * gmpy2.log(x)), "rsqrt": lambda z: 1 / gmpy2.sqrt(z),
}
# Functions of complex numbers that MPC computes, each part correctly rounded.
BY_MPC = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "cosine", "exponential", "log", "sine", "sinh", "sqrt", "tan", "tanh")


def rounded(x, part):
    """The number of a format nearest to an mpfr, and its distance from the middle between two numbers, in units."""
    precision, lowest, top = FORMATS[part]
    if gmpy2.is_nan(x) or gmpy2.is_infinite(x) or x == 0:
        return float(x), 0.5
    exponent = gmpy2.get_exp(x)
    unit = max(exponent - precision, lowest)
    scaled = gmpy2.mul_2exp(x, -unit) if unit < 0 else gmpy2.div_2exp(x, unit)
    whole = gmpy2.rint_floor(scaled)
    rest = scaled - whole
    whole = int(whole)
    up = rest > 0.5 or (rest == 0.5 and whole & 1)
    whole += up
    middle = float(abs(rest - 0.5))
    if gmpy2.is_zero(x) or abs(whole).bit_length() + unit > top:
        return float("inf") * (1 if x > 0 else -1), middle
    value = float(gmpy2.mul_2exp(mpfr(whole), unit) if unit >= 0 else gmpy2.div_2exp(mpfr(whole), -unit))
    return (value if value or x > 0 else -0.0), middle


def settle(name, kind, point):
    """The nearest number, or the nearest parts, and the distances from the middle; None if the referee has no answer."""
    is_complex = kind in PARTS
    part = PARTS.get(kind, kind)
    function = COMPLEX.get(name) or PRECISE[name] if is_complex else PRECISE[name]
    before = None
    if is_complex and name not in BY_MPC:
        # So much that nothing that matters is rounded away in sums of squares.
        exponents = [0] + [int(np.frexp(p)[1]) for x in point for p in (float(x.real), float(x.imag)) if p]
        start = 300 + 3 * (max(exponents) - min(exponents))
        ladder = (start, start + 150, 2 * start + 1000)
    else:
        ladder = (120, 240, 2500, 5000)
    for precision in ladder:
        with gmpy2.context(gmpy2.get_context(), precision=precision, emax=1 << 30, emin=-(1 << 30)):
            operands = [mpc(complex(x)) if is_complex else mpfr(float(x)) for x in point]
            try:
                result = function(*operands)
            except (ValueError, ZeroDivisionError, OverflowError):
                return None
            parts = [result.real, result.imag] if is_complex and name != "abs" else [result]
            # At these poles, CHLO has NaN or an infinity of a sign of its own; it has no zeta function below 1.
            if name in ("digamma", "polygamma", "zeta") and (any(map(gmpy2.is_infinite, parts)) or name == "zeta" and operands[0] <= 1):
                return None
            now = [rounded(p, part) for p in parts]
        values = [v for v, _ in now]
        if is_complex and name in BY_MPC or name in ("sqrt",):
            return now
        if before is not None and all(a == b or (a != a and b != b) for a, b in zip(values, before)):
            return now
        before = values
    return now


def steps(x, y, kind):
    """The number of steps between numbers of one format, and 2^63 if one is infinite or NaN and the other is not."""
    order = []
    for v in (x, y):
        bits = to_bits(v, kind)
        largest = np.iinfo(bits.dtype).max
        bits = bits.astype(np.int64)
        order.append(np.where(bits < 0, -(bits & largest), bits))
    distance = np.abs(order[0].astype(np.float64) - order[1].astype(np.float64))
    small = np.abs(order[0] - order[1])
    distance = np.where(distance < 2**52, small, distance)
    odd = ~(np.isfinite(x) & np.isfinite(y))
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(odd, np.where(same, 0, 2.0**63), distance)


class Tally:
    def __init__(self, bound, of_larger, kind):
        self.bound, self.of_larger, self.part = bound, of_larger, PARTS.get(kind, kind)
        # How near to the middle between two numbers a value may be rounded to either.
        self.excused = {"f32": 2.0**-26, "f64": 2.0**-40}.get(self.part, 0.0)
        self.points = self.inexact = self.broken = self.exceptions = 0
        self.worst, self.where = 0.0, ""

    def add(self, actual, settled, point):
        """One result whose nearest numbers are known."""
        parts = [actual.real, actual.imag] if np.iscomplexobj(actual) else [actual]
        # With the sign of a zero ignored.
        size = max([abs(v) for v, _ in settled] + ([1.0] if len(parts) == 1 else []))
        worst, excused = 0.0, False
        for found, (value, middle) in zip(parts, settled):
            distance = float(steps(np.array([found]), np.array([value]), self.part)[0])
            if self.of_larger and distance and np.isfinite(found) and np.isfinite(value):
                eps = 2.0 ** (1 - FORMATS[self.part][0])
                distance = abs(float(found) - value) / (eps * size) if size else distance
            if distance == 1 and middle < self.excused:
                excused = True
                continue
            worst = max(worst, distance)
        self.exceptions += excused
        self.inexact += worst > 0
        self.broken += worst > self.bound
        if worst > self.worst:
            self.worst = worst
            self.where = f"{' '.join(map(repr, (p.item() for p in point)))} -> {actual.item()!r}, not {settled_text(settled)}"


def settled_text(settled):
    return " ".join(repr(v) for v, _ in settled)


def measure(program, name, kind, bound, of_larger, points, slow, seed):
    rng = np.random.default_rng(seed)
    dtype = TYPES[kind]
    is_complex = kind in PARTS
    fast = name in FAST and not is_complex
    cross = kind in WIDE and not fast
    count = points if fast or cross else slow
    if kind in ("f16", "bf16"):
        fast, operands = False, narrow_points(rng, name, slow, kind)
    elif is_complex:
        operands = complex_pairs(rng, name, count, dtype) if name in BINARY else [complex_points(rng, count, dtype)]
    elif name == "power":
        operands = power_points(rng, count, dtype)
    elif name in ("zeta", "polygamma"):
        operands = special_points(rng, name, count, dtype)
    elif name in BINARY:
        operands = pair_points(rng, count, dtype)
    else:
        operands = [real_points(rng, count, dtype)]
    finite = np.logical_and.reduce([np.isfinite(x.real) & np.isfinite(x.imag) for x in operands])
    operands = [x[finite] for x in operands]
    actual = evaluate(program, name, kind, operands)
    tally = Tally(bound, of_larger, kind)
    tally.points = len(actual)
    if fast:
        with np.errstate(all="ignore"):
            wide = FAST[name](*[x.astype(LONG) for x in operands])
            nearest = wide.astype(dtype)
            distance = steps(actual, nearest, kind)
            error = np.abs((actual.astype(LONG) - wide) / np.spacing(np.abs(nearest)).astype(LONG)).astype(np.float64)
        # Those in question: all that differ, the worst first.
        wrong = np.flatnonzero(distance > 0)
        tally.inexact += max(0, len(wrong) - slow)
        order = np.lexsort((-error[wrong], -distance[wrong]))
        check = wrong[order[:slow]]
    elif cross:
        wide = evaluate(program, name, WIDE[kind], [x.astype(TYPES[WIDE[kind]]) for x in operands])
        with np.errstate(all="ignore"):
            nearest = wide.astype(actual.dtype)
        part = PARTS.get(kind, kind)
        wrong = steps(actual.real, nearest.real, part) > 0
        if np.iscomplexobj(actual):
            wrong |= steps(actual.imag, nearest.imag, part) > 0
        wrong = np.flatnonzero(wrong)
        some = rng.permutation(len(actual))[:slow]
        check = np.unique(np.concatenate([wrong[:slow], some]))
    else:
        check = np.arange(len(actual)) if kind in ("f16", "bf16") and name != "bessel_i1e" else np.arange(len(actual))[:slow] if is_complex or name in BINARY else np.unique(
            np.concatenate([np.arange(min(len(actual), slow // 3)), rng.permutation(len(actual))[:slow]]))
    for i in check:
        point = [x[i] for x in operands]
        settled = settle(name, kind, point)
        if settled is None or any(v != v for v, _ in settled):
            continue
        tally.add(actual[i], settled, point)
    return tally, len(check)


def bounds(path):
    """The table of docs/accuracy.md: function to the bounds of f32, f64 and complex numbers."""
    rows = {}
    with open(path) as file:
        for line in file:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) == 4 and re.fullmatch(r"\d+\*?", cells[1]):
                rows[cells[0]] = cells[1:]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--functions")
    parser.add_argument("--types", default="f16,bf16,f32,f64,c64,c128")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--slow", type=int, default=20_000, help="points for referees of any precision")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    table = bounds(os.path.join(os.path.dirname(__file__), "..", "docs", "accuracy.md"))
    failed = False
    print("| function | type | points | settled | not nearest | exceptions | beyond the bound | worst ulp | worst point |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.functions.split(",") if options.functions else [*table, *COMPLEX_BOUNDS]:
        for kind in options.types.split(","):
            if name in COMPLEX_BOUNDS:
                cell = str(COMPLEX_BOUNDS[name][kind == "c128"]) if kind in PARTS else "-"
            else:
                cell = table[name][{"f64": 1, "c64": 2, "c128": 2}.get(kind, 0)]
            if cell == "-":
                continue
            # Complex numbers with f32 parts are those with f64 parts, rounded.
            single = kind == "c64"
            bound = 0 if single and not cell.endswith("*") else int(cell.rstrip("*"))
            tally, settled = measure(options.program, name, kind, bound, cell.endswith("*"), options.points,
                                     options.slow if name not in ("zeta", "polygamma", "bessel_i1e") else options.slow // 10, options.seed)
            failed |= tally.broken > 0
            print(f"| {name} | {kind} | {tally.points} | {settled} | {tally.inexact} | {tally.exceptions} | {tally.broken} | {tally.worst:.3g} | {tally.where} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
